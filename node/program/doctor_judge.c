/* From what was measured to sentences; see doctor.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codec/msg.h"
#include "node/program/doctor.h"

/* Bytes that a node takes per parameter, trainer and library together, at
 * least, and usually: parameters, gradient, two moments of Adam, what is kept
 * of the centre and on its way. An estimate. */
#define MEMORY_LEAST 32
#define MEMORY_USUAL 48

#define CLOCK_CLOSE SECOND
#define TRIP_LONG (20 * MILLISECOND)
#define RATE_SHARE 0.5   /* of the card's speed, less is a warning */
#define SLOW_RATE 1.25e6 /* bytes a second; 10 Mbit/s */
#define LOSS_NOTED 0.001
/* Behind each packet that is lost several come before it comes again. */
#define ASTRAY_NOTED 0.005
/* Of those that filled no queue, fewer tell. */
enum { SEGMENTS_CALM = 100, CALM_NOTED = 2 };
enum { LOST_NOTED = 3, ASTRAY_FEW = 10, USUAL_PACKET = 1500 };

static struct finding *find(struct doctor_report *report,
                            enum doctor_check check, enum doctor_level level,
                            const char *advice)
{
    struct finding *finding;

    if (report->count == DOCTOR_FINDINGS)
        report->count--;
    finding = &report->list[report->count++];
    *finding = (struct finding){.check = check, .level = level};
    (void)snprintf(finding->advice, sizeof finding->advice, "%s", advice);
    return finding;
}

static void FORMAT(2, 3) say(struct finding *finding, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, list);
    va_end(list);
}

static void fails(struct finding *finding, enum status status)
{
    finding->level = DOCTOR_BAD;
    finding->status = status;
}

static void print_bytes(double bytes, char *out, size_t size)
{
    struct text text;

    text_init(&text, out, size);
    text_add_bytes(&text, bytes);
}

/* ---- the way to the hub ---- */

static bool is_of_name(enum net_hindrance hindrance)
{
    return hindrance == HINDRANCE_NAME || hindrance == HINDRANCE_LOOK_UP ||
           hindrance == HINDRANCE_RESOLVER;
}

static bool is_of_key(enum net_hindrance hindrance)
{
    return hindrance == HINDRANCE_WANTS_KEY ||
           hindrance == HINDRANCE_HAS_NO_KEY ||
           hindrance == HINDRANCE_UNPROVED ||
           hindrance == HINDRANCE_REFUSES_KEY ||
           hindrance == HINDRANCE_BANS_KEY;
}

static const char *advice_of(enum net_hindrance hindrance)
{
    static const struct {
        const char *advice;
    } of[] = {
#define HINDRANCE(NAME, words, advice) {advice},
#include "net/hindrances.def"
#undef HINDRANCE
    };

    return of[hindrance].advice;
}

/* What keeps this PC from its hub, in the words of the node. */
static void say_trouble(struct finding *finding,
                        const struct net_trouble *trouble)
{
    fails(finding,
          is_of_key(trouble->hindrance) ? STATUS_REFUSED : STATUS_UNAVAILABLE);
    net_trouble_print(trouble, false, finding->text, sizeof finding->text);
}

static void FORMAT(2, 3) add(struct finding *finding, const char *format, ...)
{
    size_t length = strlen(finding->text);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(finding->text + length, sizeof finding->text - length,
                    format, list);
    va_end(list);
}

static void say_place(struct finding *finding, const struct doctor_facts *facts)
{
    say(finding, "a hub listens at %s%.100s%s:%u", endpoint_opens(facts->host),
        facts->host, endpoint_closes(facts->host), facts->port);
    if (facts->places > 1)
        add(finding, "; of its %u addresses %.60s answers", facts->places,
            facts->place);
}

static void judge_way(const struct doctor_facts *facts,
                      struct doctor_report *report)
{
    enum net_hindrance hindrance = facts->trouble.hindrance;
    bool named = !is_of_name(hindrance), there = named && is_of_key(hindrance);
    struct finding *finding =
        find(report, CHECK_NAME, DOCTOR_OK, named ? "" : advice_of(hindrance));

    if (named)
        say(finding, "%.100s is known", facts->host);
    else
        say_trouble(finding, &facts->trouble);
    if (!named)
        return;
    there |= facts->reached;
    finding =
        find(report, CHECK_PORT, DOCTOR_OK, there ? "" : advice_of(hindrance));
    if (facts->farewell[0] && !facts->answered) {
        fails(finding, STATUS_CONFIG);
        say(finding, "%.160s", facts->farewell);
    } else if (there)
        say_place(finding, facts);
    else
        say_trouble(finding, &facts->trouble);
    if (!there && facts->places > 1)
        add(finding, "; so it is at none of its %u addresses", facts->places);
    if (!there && facts->looks_like[0])
        add(finding, "; it looks like %s", facts->looks_like);
}

static void judge_key(const struct doctor_facts *facts,
                      struct doctor_report *report)
{
    struct finding *finding = find(report, CHECK_KEY, DOCTOR_OK, "");

    if (facts->key == DOCTOR_NO_KEY &&
        facts->trouble.hindrance == HINDRANCE_REFUSES_KEY) {
        fails(finding, STATUS_REFUSED);
        say(finding, "the hub is the right one; this PC has no key of its own "
                     "yet");
        (void)snprintf(finding->advice, sizeof finding->advice,
                       "start starswitch-node with it once: it says what the "
                       "hub's operator has to do");
    } else if (is_of_key(facts->trouble.hindrance)) {
        (void)snprintf(finding->advice, sizeof finding->advice, "%s",
                       advice_of(facts->trouble.hindrance));
        say_trouble(finding, &facts->trouble);
    } else if (facts->key == DOCTOR_KEYLESS) {
        say(finding, "the hub needs none: nothing is encrypted");
    } else if (facts->key == DOCTOR_OWN_KEY) {
        say(finding, "the hub lets this PC in");
    } else {
        finding->level = DOCTOR_WARN;
        say(finding, "the key for nodes is good; this PC has not enrolled "
                     "yet");
        (void)snprintf(finding->advice, sizeof finding->advice,
                       "start starswitch-node with it once, then ask again");
    }
}

static void judge_protocol(const struct doctor_facts *facts,
                           struct doctor_report *report)
{
    struct finding *finding = find(report, CHECK_PROTOCOL, DOCTOR_OK, "");
    const char *advice = "install the same version on both";

    if (!facts->answered) {
        fails(finding, STATUS_VERSION);
        say(finding,
            "the hub does not understand the question: it is of an "
            "older version, or speaks another protocol than %d",
            PROTOCOL_MAX);
    } else if (facts->protocol_min > PROTOCOL_MAX ||
               facts->protocol_max < PROTOCOL_MIN) {
        fails(finding, STATUS_VERSION);
        say(finding, "the hub speaks %u to %u, this node %d to %d",
            facts->protocol_min, facts->protocol_max, PROTOCOL_MIN,
            PROTOCOL_MAX);
    } else {
        say(finding, "hub and node speak %u",
            facts->protocol_max < PROTOCOL_MAX ? facts->protocol_max
                                               : (unsigned)PROTOCOL_MAX);
        return;
    }
    (void)snprintf(finding->advice, sizeof finding->advice, "%s", advice);
}

static void say_cut(struct finding *finding, const struct doctor_facts *facts)
{
    char carried[32];

    fails(finding, STATUS_UNAVAILABLE);
    print_bytes((double)facts->cut_after, carried, sizeof carried);
    say(finding,
        "a connection to port %u for data %s after %s, while the hub takes "
        "another one",
        facts->port + 1, facts->cut_silently ? "fell silent" : "was cut",
        carried);
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "a firewall or NAT between cuts long connections: it is to "
                   "leave those to ports %u and %u alone",
                   facts->port, facts->port + 1);
}

static void judge_second(const struct doctor_facts *facts,
                         struct doctor_report *report)
{
    struct finding *finding;

    if (facts->second.hindrance == HINDRANCE_NONE && !facts->second_there)
        return;
    finding = find(report, CHECK_SECOND, DOCTOR_OK, "");
    if (facts->cut) {
        say_cut(finding, facts);
        return;
    }
    if (facts->second_there) {
        say(finding, "port %u for data is there", facts->port + 1);
        return;
    }
    say_trouble(finding, &facts->second);
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "let port %u through the firewall, too: a hub has two",
                   facts->port + 1);
}

/* ---- clock and link ---- */

static void print_time(nanos time, char *out, size_t size)
{
    double seconds = (double)time / (double)SECOND;

    if (seconds < 0)
        seconds = -seconds;
    if (seconds < 0.9995e-3)
        (void)snprintf(out, size, "%.0f us", seconds * 1e6);
    else if (seconds < 0.9995)
        (void)snprintf(out, size, "%.3g ms", seconds * 1e3);
    else if (seconds < 120)
        (void)snprintf(out, size, "%.3g s", seconds);
    else if (seconds < 7200)
        (void)snprintf(out, size, "%.0f min", seconds / 60);
    else
        (void)snprintf(out, size, "%.1f h", seconds / 3600);
}

static void judge_clock(const struct doctor_facts *facts,
                        struct doctor_report *report)
{
    struct finding *finding;
    char time[32];

    if (!facts->clock_known)
        return;
    finding = find(report, CHECK_CLOCK, DOCTOR_OK, "");
    print_time(facts->clock_ahead, time, sizeof time);
    if (facts->clock_ahead < CLOCK_CLOSE && facts->clock_ahead > -CLOCK_CLOSE) {
        say(finding, "within %s of the hub's", time);
        return;
    }
    finding->level = DOCTOR_WARN;
    say(finding,
        "%s %s the hub's: training does not mind, but logs do not match and "
        "keys end at another time than was said",
        time, facts->clock_ahead > 0 ? "behind" : "ahead of");
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "timedatectl set-ntp true, on the PC whose clock is wrong");
}

static void judge_trip(const struct doctor_facts *facts,
                       struct doctor_report *report)
{
    struct finding *finding;
    char usual[32], longest[32];

    if (!facts->trips)
        return;
    finding = find(report, CHECK_TRIP, DOCTOR_OK, "");
    print_time(facts->trip_usual, usual, sizeof usual);
    print_time(facts->trip_longest, longest, sizeof longest);
    say(finding, "%s; the longest of %u took %s", usual, facts->trips, longest);
    if (facts->trip_usual <= TRIP_LONG)
        return;
    finding->level = DOCTOR_WARN;
    (void)snprintf(finding->advice, sizeof finding->advice, "%s",
                   facts->wireless
                       ? "a cable is faster than wireless"
                       : "far away, or a link that is busy: results come "
                         "that much later, so leave --delay at auto");
}

static void print_rate(double rate, char *out, size_t size)
{
    double bits = rate * 8;

    if (bits < 1e6)
        (void)snprintf(out, size, "%.3g kbit/s", bits / 1e3);
    else if (bits < 1e9)
        (void)snprintf(out, size, "%.3g Mbit/s", bits / 1e6);
    else
        (void)snprintf(out, size, "%.3g Gbit/s", bits / 1e9);
}

static void judge_rate(const struct doctor_facts *facts,
                       enum doctor_check check, double rate, bool at_least,
                       struct doctor_report *report)
{
    struct finding *finding;
    char measured[48], card[32];
    bool below = facts->card_rate > 0 && rate < RATE_SHARE * facts->card_rate;
    int words = at_least ? snprintf(measured, sizeof measured, "at least ") : 0;

    if (!(rate > 0))
        return;
    finding = find(report, check, DOCTOR_OK, "");
    print_rate(rate, measured + words, sizeof measured - (size_t)words);
    print_rate(facts->card_rate, card, sizeof card);
    if (facts->card_rate > 0)
        say(finding, "%s; the card (%s) says %s", measured, facts->card, card);
    else if (facts->loopback)
        say(finding, "%s, within this PC", measured);
    else
        say(finding, "%s; what the card%s%s can do is not known", measured,
            facts->card[0] ? " " : "", facts->card);
    /* A fast card is not filled by a test of a tenth of a second. */
    if (below && rate < 110e6)
        finding->level = DOCTOR_WARN;
    if (rate < SLOW_RATE)
        finding->level = DOCTOR_WARN;
    if (finding->level == DOCTOR_OK)
        return;
    (void)snprintf(
        finding->advice, sizeof finding->advice, "%s",
        below ? "a poor cable or an old switch port? try others; or somebody "
                "uses the link, or limits it; else plan for what is measured"
              : "with so slow a link leave --every and --delay at auto");
}

static void not_measured(struct doctor_report *report, enum doctor_check check,
                         enum status status, const char *words,
                         const char *advice)
{
    struct finding *finding = find(report, check, DOCTOR_WARN, advice);

    finding->status = status;
    say(finding, "not measured: %s", words);
}

/* The hub has given no bytes to measure with. */
static void judge_nothing(const struct doctor_facts *facts,
                          struct doctor_report *report)
{
    const char *words = "the hub did not answer to the end",
               *advice = "ask again in a minute", *same = "as rate up";

    if (facts->key == DOCTOR_ENROLMENT) {
        words = "the hub gives bytes to measure with only to who has enrolled";
        advice = "start starswitch-node with this key file once, and then ask "
                 "again";
    } else if (facts->cut) {
        words = "the connection did not last";
        advice = "see second port";
    } else if (facts->budget_spent) {
        words = "others have tested their links, and the hub bounds that";
    }
    not_measured(report, CHECK_UP, STATUS_AGAIN, words, advice);
    not_measured(report, CHECK_DOWN, STATUS_AGAIN, same, advice);
    not_measured(report, CHECK_LOSS, STATUS_AGAIN, same, advice);
}

static void judge_hole(const struct doctor_facts *facts,
                       struct doctor_report *report)
{
    struct finding *finding =
        find(report, facts->stalled_up ? CHECK_UP : CHECK_DOWN, DOCTOR_BAD,
             "a link between lets only packets of less than 576 bytes through "
             "and does not say so: look for a firewall, or a VPN's MTU");

    fails(finding, STATUS_UNAVAILABLE);
    say(finding, "short messages %s the hub, long ones do not",
        facts->stalled_up ? "reach" : "come from");
    if (!facts->longest)
        return;
    add(finding, ": packets of up to %u bytes go through", facts->longest);
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "a link between lets no longer ones through and does not "
                   "say so: ip link set dev CARD mtu %u on both PCs",
                   facts->longest);
}

static void judge_no_rate(const struct doctor_facts *facts,
                          struct doctor_report *report)
{
    if (facts->stalled_up || facts->stalled_down)
        judge_hole(facts, report);
    else if (facts->second_there && !(facts->up > 0))
        judge_nothing(facts, report);
}

static bool is_noted(uint64_t count, uint64_t all, uint64_t least, double share)
{
    return count >= least && (double)count >= share * (double)all;
}

/* A hub of protocol 3 does not tell what it sent again: what comes behind a gap
 * is more. */
static bool is_lossy(const struct doctor_facts *facts)
{
    const struct tcp_facts *tcp = &facts->tcp;

    return is_noted(tcp->resent, tcp->sent, LOST_NOTED, LOSS_NOTED) ||
           (facts->hub_sent ? is_noted(facts->hub_resent, facts->hub_sent,
                                       LOST_NOTED, LOSS_NOTED)
                            : is_noted(tcp->astray, tcp->received, ASTRAY_FEW,
                                       ASTRAY_NOTED));
}

/* Whether none to speak of was lost by who filled no queue. */
static bool is_of_queue(const struct doctor_facts *facts)
{
    return facts->calm_sent >= SEGMENTS_CALM &&
           facts->calm_hub_sent >= SEGMENTS_CALM &&
           !is_noted(facts->calm_resent, facts->calm_sent, CALM_NOTED,
                     LOSS_NOTED) &&
           !is_noted(facts->calm_hub_resent, facts->calm_hub_sent, CALM_NOTED,
                     LOSS_NOTED);
}

static void add_calm(struct finding *finding, const struct doctor_facts *facts)
{
    unsigned long long lost = facts->calm_resent + facts->calm_hub_resent,
                       all = facts->calm_sent + facts->calm_hub_sent;

    add(finding,
        "; below the link's rate %llu of %llu: a queue on the way is short, "
        "the cable is well",
        lost, all);
}

static void say_losses(struct finding *finding,
                       const struct doctor_facts *facts)
{
    const struct tcp_facts *tcp = &facts->tcp;
    bool told = facts->hub_sent > 0;
    uint64_t lost = told ? facts->hub_resent : tcp->astray,
             all = told ? facts->hub_sent : tcp->received;

    say(finding,
        "to the hub %llu of %llu packets were sent again (%.2g %%), from it "
        "%llu of %llu%s (%.2g %%)",
        (unsigned long long)tcp->resent, (unsigned long long)tcp->sent,
        100 * (double)tcp->resent / (double)tcp->sent, (unsigned long long)lost,
        (unsigned long long)all, told ? "" : " came behind a gap",
        100 * (double)lost / (double)all);
}

static void warn_of_losses(struct finding *finding,
                           const struct doctor_facts *facts)
{
    finding->level = DOCTOR_WARN;
    (void)snprintf(finding->advice, sizeof finding->advice, "%s",
                   facts->wireless
                       ? "a cable loses less than wireless"
                       : "a healthy cable loses none: try another cable and "
                         "another port of the switch, and look at ethtool -S");
}

static void judge_loss(const struct doctor_facts *facts,
                       struct doctor_report *report)
{
    const struct tcp_facts *tcp = &facts->tcp;
    struct finding *finding;

    if (!(facts->up > 0))
        return;
    if (!tcp->known || tcp->sent < SEGMENTS_TELLING ||
        tcp->received < SEGMENTS_TELLING) {
        not_measured(report, CHECK_LOSS, STATUS_OK,
                     tcp->known ? "too few packets went to tell"
                                : "this system does not count packets",
                     "a link that loses packets has rates below the card's, "
                     "too");
        return;
    }
    finding = find(report, CHECK_LOSS, DOCTOR_OK, "");
    say_losses(finding, facts);
    if (is_lossy(facts) && is_of_queue(facts))
        add_calm(finding, facts);
    else if (is_lossy(facts))
        warn_of_losses(finding, facts);
}

static void judge_mtu(const struct doctor_facts *facts,
                      struct doctor_report *report)
{
    const struct tcp_facts *tcp = &facts->tcp;
    unsigned least =
        tcp->path && tcp->path < tcp->packet ? tcp->path : tcp->packet;
    struct finding *finding;

    if (!tcp->known || !least || facts->stalled_up || facts->stalled_down)
        return;
    finding = find(report, CHECK_MTU, DOCTOR_OK, "");
    say(finding, "packets of %u bytes go through", least);
    if (least >= USUAL_PACKET)
        return;
    finding->level = DOCTOR_WARN;
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "1500 is usual: fine behind a VPN or DSL; in one room look "
                   "for a card with another MTU: ip link");
}

/* ---- this PC ---- */

static void judge_power(const struct doctor_facts *facts,
                        struct doctor_report *report)
{
    struct finding *finding = find(report, CHECK_POWER, DOCTOR_OK, "");

    if (facts->on_battery) {
        finding->level = DOCTOR_WARN;
        say(finding, "this PC runs on its battery");
        (void)snprintf(finding->advice, sizeof finding->advice,
                       "plug it in: processors are slower on a battery");
    } else if (facts->saving) {
        finding->level = DOCTOR_WARN;
        say(finding, "%u of %u cores save power", facts->saving,
            facts->governed);
        (void)snprintf(finding->advice, sizeof finding->advice,
                       "cpupower frequency-set -g performance");
    } else if (facts->governed) {
        say(finding, "no core saves power");
    } else {
        say(finding, "nothing here governs the processor's clock (a virtual "
                     "machine?)");
    }
}

static void judge_cores(const struct doctor_facts *facts,
                        struct doctor_report *report)
{
    struct finding *finding = find(report, CHECK_CORES, DOCTOR_OK, "");

    say(finding,
        "%u core%s; %.1f threads at a time wanted one in the last minute",
        facts->cores, facts->cores == 1 ? "" : "s", facts->load);
    if (facts->load < 0.5 * facts->cores)
        return;
    finding->level = DOCTOR_WARN;
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "other programs run here, and the node shares with them: "
                   "top shows which");
}

static void judge_memory(const struct doctor_facts *facts,
                         struct doctor_report *report)
{
    struct finding *finding = find(report, CHECK_MEMORY, DOCTOR_OK, "");
    double usual = (double)facts->elements * MEMORY_USUAL;
    char has[32], needs[32];
    const char *limit = facts->memory_limited ? ", a limit of its group," : "";

    print_bytes((double)facts->memory, has, sizeof has);
    print_bytes(usual, needs, sizeof needs);
    if (!facts->elements) {
        say(finding, "%s%s are free; for which model is not said", has, limit);
        (void)snprintf(finding->advice, sizeof finding->advice,
                       "say --params N, or ask while the run goes on");
        return;
    }
    say(finding, "%s%s are free; %s of %llu parameters takes about %s", has,
        limit, facts->elements_of_run ? "the run's model" : "a model",
        (unsigned long long)facts->elements, needs);
    if ((double)facts->memory < (double)facts->elements * MEMORY_LEAST)
        fails(finding, STATUS_NO_MEMORY);
    else if ((double)facts->memory < usual)
        finding->level = DOCTOR_WARN;
    if (finding->level != DOCTOR_OK)
        (void)snprintf(finding->advice, sizeof finding->advice,
                       "a smaller model, or a PC with more memory");
}

static void judge_disk(const struct doctor_facts *facts,
                       struct doctor_report *report)
{
    double needed = (double)facts->elements * sizeof(float);
    struct finding *finding;
    char has[32], needs[32];

    if (!facts->folder[0])
        return;
    finding = find(report, CHECK_DISK, DOCTOR_OK, "");
    print_bytes((double)facts->disk, has, sizeof has);
    print_bytes(needed, needs, sizeof needs);
    say(finding, "%s are free in %s", has, facts->folder);
    if (!facts->elements || (double)facts->disk > 2 * needed)
        return;
    finding->level = DOCTOR_WARN;
    (void)snprintf(finding->advice, sizeof finding->advice,
                   "--save writes %s beside what was there: make room", needs);
}

void doctor_judge(const struct doctor_facts *facts,
                  struct doctor_report *report)
{
    judge_way(facts, report);
    if (facts->reached || is_of_key(facts->trouble.hindrance))
        judge_key(facts, report);
    if (facts->reached && !facts->farewell[0])
        judge_protocol(facts, report);
    judge_second(facts, report);
    judge_clock(facts, report);
    judge_trip(facts, report);
    judge_rate(facts, CHECK_UP, facts->up, facts->up_at_least, report);
    judge_rate(facts, CHECK_DOWN, facts->down, facts->down_at_least, report);
    judge_no_rate(facts, report);
    judge_loss(facts, report);
    judge_mtu(facts, report);
    judge_power(facts, report);
    judge_cores(facts, report);
    judge_memory(facts, report);
    judge_disk(facts, report);
}

enum status doctor_status(const struct doctor_report *report)
{
    for (unsigned i = 0; i < report->count; i++)
        if (report->list[i].level == DOCTOR_BAD)
            return report->list[i].status;
    for (unsigned i = 0; i < report->count; i++)
        if (report->list[i].status != STATUS_OK)
            return report->list[i].status;
    return STATUS_OK;
}

const char *doctor_check_name(enum doctor_check check)
{
    static const char *const names[] = {
#define CHECK(NAME, name, what) name,
#include "node/program/doctor.def"
#undef CHECK
    };

    return names[check];
}

const char *doctor_level_name(enum doctor_level level)
{
    static const char *const names[] = {"ok", "warn", "bad"};

    return names[level];
}
