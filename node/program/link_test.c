#include "node/program/link_test.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "core/prng.h"
#include "net/net.h"
#include "net/trouble.h"
#include "node/program/link_lines.h"

enum { PIECE = 64 * 1024, TRIPS = 11, TICKETS_MOST = 6 };

#define FIRST_BYTES ((uint64_t)256 << 10)
#define LEAST_BYTES ((uint64_t)64 << 10)
#define MOST_BYTES ((uint64_t)8 << 20)
#define ANSWER_TIME (2 * SECOND)        /* for a short message */
#define STALL_TIME (3 * SECOND)         /* without a byte that arrives */
#define TRY_TIME SECOND                 /* the same of a single packet */
#define HOLE_TIME (15 * SECOND)         /* no packet is tried later */
#define FILL_TIME (10 * SECOND)         /* for one ticket: it is over then */
#define STEADY_TIME (500 * MILLISECOND) /* that is measured, one way */
#define SAMPLE_EVERY MILLISECOND
#define CALM_SHARE 0.5   /* of the rate that was reached */
#define CALM_TIME SECOND /* for one way */
#define CALM_WINDOW                                                            \
    (12u << 10) /* bytes on their way; more where it is long                   \
                 */
#define CALM_FIRST ((uint64_t)96 << 10)
#define CALM_MOST ((uint64_t)4 << 20)
#define SLOW_TIME (1200 * MILLISECOND) /* of the slower direction */
#define LONGEST_WAIT (2 * SECOND)      /* for a hub that has no bytes to give */
#define MEASURE_TIME (3 * SECOND)      /* no measurement begins later */
/* So many segments tell about losses of one in a thousand. Less than
 * PACKET_MOST bytes are no long packet. */
enum { SEGMENTS_WANTED = 3000, PACKET_MOST = 4096 };
/* A segment of the shortest packet, headers of IPv4 and TCP, and what fills a
 * segment beside a payload, at least: time stamps and heads of frames. */
enum { SEGMENT_LEAST = 536, HEADERS = 40, BESIDE_PAYLOAD = 26 };

/* ---- short messages ---- */

/* Asks once; whether an answer came, and how long that took. */
static bool ask(struct test *test, uint64_t bytes, nanos *trip)
{
    struct msg msg = {.kind = MSG_PROBE};
    nanos begun = net_now();

    msg.probe.protocol_min = PROTOCOL_MIN;
    msg.probe.protocol_max = PROTOCOL_MAX;
    msg.probe.sent = begun;
    msg.probe.bytes = bytes;
    test->answered = false;
    test_send(&test->control, &msg, NULL);
    while (!test->answered && !test->control.gone && !test->nonsense &&
           test_go_on(test, begun + ANSWER_TIME))
        continue;
    *trip = net_now() - begun;
    return test->answered;
}

static int by_time(const void *a, const void *b)
{
    nanos x = *(const nanos *)a, y = *(const nanos *)b;

    return (x > y) - (x < y);
}

/* The shortest trip tells most about the clock: half of it is its error. */
static void take_trips(struct test *test, struct doctor_facts *facts)
{
    nanos trips[TRIPS], best = NEVER;
    unsigned count = 0;

    while (count < TRIPS && ask(test, 0, &trips[count])) {
        nanos wall = net_wall();

        if (test->probed.clock && trips[count] < best) {
            best = trips[count];
            facts->clock_known = true;
            facts->clock_ahead = test->probed.clock + best / 2 - wall;
        }
        count++;
    }
    facts->answered = count > 0;
    (void)snprintf(facts->farewell, sizeof facts->farewell, "%s",
                   test->farewell);
    if (!count)
        return;
    facts->protocol_min = test->probed.protocol_min;
    facts->protocol_max = test->probed.protocol_max;
    facts->elements = test->probed.elements;
    facts->elements_of_run = facts->elements > 0;
    /* The first one wakes threads, and may look addresses up. */
    if (count > 1) {
        memmove(trips, trips + 1, --count * sizeof *trips);
        qsort(trips, count, sizeof *trips, by_time);
    }
    facts->trips = count;
    facts->trip_usual = trips[count / 2];
    facts->trip_longest = trips[count - 1];
}

/* ---- many bytes ---- */

static struct blob *make_filling(struct pool *pool)
{
    struct blob *blob = blob_new(pool, PIECE);
    struct prng prng;

    if (!blob)
        return NULL;
    prng_seed(&prng, 2);
    for (size_t i = 0; i < PIECE; i += sizeof(uint64_t)) {
        uint64_t word = prng_next(&prng);

        memcpy(blob->bytes + i, &word, sizeof word);
    }
    return blob;
}

static void send_filling(struct test *test, uint64_t bytes)
{
    const struct msg msg = {.kind = MSG_FILL, .fill.ticket = test->ticket};

    while (bytes) {
        uint64_t size = bytes < PIECE ? bytes : PIECE;
        struct blob *part = blob_slice(test->filling, 0, size);

        test_send(&test->bulk, &msg, part);
        blob_unref(&part);
        bytes -= size;
    }
}

/* A ticket for so many bytes, or for fewer where the hub has not as many to
 * give just now, or a little later. A hub hears 64 questions. */
static bool get_ticket(struct test *test, uint64_t wanted)
{
    nanos trip, until;

    while (ask(test, wanted, &trip) && !test->probed.bytes &&
           wanted / 8 >= LEAST_BYTES)
        wanted /= 8;
    if (!test->answered || test->probed.bytes)
        return test->answered && test->probed.bytes <= wanted;
    if (!test->probed.wait || test->probed.wait > LONGEST_WAIT)
        return false;
    until = net_now() + test->probed.wait;
    while (test_go_on(test, until))
        continue;
    return ask(test, wanted, &trip) && test->probed.bytes &&
           test->probed.bytes <= wanted;
}

/* What the system counts of the connection from now on goes to the samples. */
static void sample(struct test *test, nanos until)
{
    const struct tcp_facts *tcp = &test->tcp;
    nanos soon = net_now() + SAMPLE_EVERY;

    if (test->measured && net_now() >= tcp->at + SAMPLE_EVERY) {
        test->measured = false;
        station_measure(test->bulk.station, test->bulk.number);
    }
    (void)test_go_on(test, soon < until ? soon : until);
}

static void read_tcp(struct test *test, struct line *line)
{
    nanos until = net_now() + SECOND;

    test->measured = false;
    station_measure(line->station, line->number);
    while (!test->measured && !line->gone && test_go_on(test, until))
        continue;
}

/* Bytes did not get through: long ones alone, when there nothing came of them
 * but short messages go to and fro. */
static void find_hole(struct test *test, uint64_t bytes,
                      struct doctor_facts *facts)
{
    const struct link_sample *up = test->up, *down = test->down;
    size_t last = test->samples - 1;
    nanos trip;

    if (!test->samples || test->bulk.gone || !ask(test, 0, &trip))
        return;
    if (up[last].bytes < up->bytes + PACKET_MOST)
        facts->stalled_up = true;
    else if (up[last].bytes >= up->bytes + bytes &&
             down[last].bytes < down->bytes + PACKET_MOST)
        facts->stalled_down = true;
}

/* There and back with one ticket, false if that has no end. */
static bool fill(struct test *test, uint64_t bytes)
{
    nanos until = net_now() + FILL_TIME;

    test->ticket = test->probed.ticket;
    test->came = test->samples = 0;
    read_tcp(test, &test->bulk);
    test->moved_at = net_now();
    send_filling(test, bytes);
    while (test->came < bytes + 1 && !test->bulk.gone && net_now() < until &&
           net_now() < test->moved_at + test->stall)
        sample(test, until);
    test->silent = test->came < bytes + 1 && !test->bulk.gone &&
                   net_now() >= test->moved_at + test->stall;
    read_tcp(test, &test->bulk);
    return test->came == bytes + 1;
}

/* The hub tells what it had sent when it was last asked: once more, for as good
 * as nothing, and it has told all. */
static void count_losses(struct test *test)
{
    test->hub_sent = test->hub_resent = 0;
    if (!get_ticket(test, 1) || !fill(test, test->probed.bytes))
        test->hub_sent = test->hub_resent = 0;
}

/* One ticket, and for how many bytes; false: no ticket, or they did not get
 * through. */
static bool measure_once(struct test *test, uint64_t *wanted,
                         struct doctor_facts *facts, nanos *steady)
{
    bool given = get_ticket(test, *wanted), whole;
    struct link_rate up, down;

    *wanted = test->probed.bytes;
    facts->budget_spent = test->answered && !given;
    if (!given)
        return false;
    whole = fill(test, *wanted);
    if (!whole)
        find_hole(test, *wanted, facts);
    if (!whole && !facts->stalled_down)
        return false;
    up = link_rate(test->up, test->samples);
    down = link_rate(test->down, test->samples);
    facts->up = up.rate;
    facts->up_at_least = up.at_least;
    facts->down = facts->stalled_down ? 0 : down.rate;
    facts->down_at_least = down.at_least;
    *steady = up.steady < down.steady ? up.steady : down.steady;
    return whole;
}

/* Of so many bytes the steady part took so long in the faster direction: as
 * many as are needed for STEADY_TIME, if the slower one is not kept busy for
 * longer than SLOW_TIME. */
static uint64_t worth(const struct doctor_facts *facts)
{
    bool faster = facts->up > facts->down;
    double fast = faster ? facts->up : facts->down,
           slow = faster ? facts->down : facts->up,
           wanted = fast * (double)STEADY_TIME / (double)SECOND /
                        (1 - LINK_SKIP_SHARE) * 1.1 +
                    (double)LINK_SKIP_BYTES,
           most = slow * (double)SLOW_TIME / (double)SECOND;

    if (wanted > most)
        wanted = most;
    return wanted < (double)MOST_BYTES ? (uint64_t)wanted : MOST_BYTES;
}

/* After so many measurements. */
static bool is_enough(const struct test *test, unsigned count, uint64_t bytes,
                      nanos steady)
{
    const struct tcp_facts *tcp = &test->tcp;
    uint64_t segments = tcp->sent < tcp->received ? tcp->sent : tcp->received;

    if (tcp->known && segments < SEGMENTS_TELLING)
        return false;
    if (!tcp->resent && !tcp->astray)
        return steady >= STEADY_TIME || bytes == MOST_BYTES || count > 2;
    return count > 1 && segments >= SEGMENTS_WANTED;
}

/* A short measurement says how long a better one may be. Where packets get
 * lost it goes on until it is known how many. */
static void measure_rates(struct test *test, struct doctor_facts *facts)
{
    nanos steady = 0, until = net_now() + MEASURE_TIME;
    uint64_t bytes = FIRST_BYTES;

    for (unsigned count = 1; count <= TICKETS_MOST && net_now() < until &&
                             measure_once(test, &bytes, facts, &steady);
         count++) {
        if (is_enough(test, count, bytes, steady))
            break;
        bytes = worth(facts);
        if (bytes < FIRST_BYTES)
            break;
    }
    if (facts->up > 0)
        facts->budget_spent = false;
    if (!(facts->up > 0) || !(facts->down > 0))
        return;
    count_losses(test);
    facts->hub_sent = test->hub_sent;
    facts->hub_resent = test->hub_resent;
}

/* A window that keeps the link at that share of its rate, and is not too short
 * to notice a loss by what comes behind it. */
static unsigned calm_window(const struct doctor_facts *facts)
{
    double bytes =
        CALM_SHARE * facts->down * (double)facts->trip_usual / (double)SECOND;

    return bytes < CALM_WINDOW ? CALM_WINDOW
           : bytes < CALM_MOST ? (unsigned)bytes
                               : (unsigned)CALM_MOST;
}

static bool send_calmly(struct test *test, const struct doctor_facts *facts,
                        uint64_t bytes)
{
    station_calm(test->bulk.station, test->bulk.number,
                 (uint64_t)(facts->up * CALM_SHARE), calm_window(facts));
    if (!get_ticket(test, bytes) || !fill(test, test->probed.bytes))
        return false;
    count_losses(test);
    return test->hub_sent > 0;
}

/* Whoever fills a queue loses packets in it, on the best of cables. So where
 * some were lost, another connection that does not fill one tells whether they
 * are lost then, too. Its first bytes go by the window that it was opened
 * with. */
static void measure_calmly(struct test *test, struct doctor_facts *facts)
{
    double slow = facts->up < facts->down ? facts->up : facts->down,
           most = slow * CALM_SHARE * (double)CALM_TIME / (double)SECOND;
    uint64_t bytes = most < (double)CALM_MOST ? (uint64_t)most : CALM_MOST,
             hub_sent, hub_resent;
    struct tcp_facts before;

    if (!test_connect_again(test) || !send_calmly(test, facts, CALM_FIRST))
        return;
    before = test->tcp;
    hub_sent = test->hub_sent;
    hub_resent = test->hub_resent;
    if (!send_calmly(test, facts, bytes))
        return;
    facts->calm_sent = test->tcp.sent - before.sent;
    facts->calm_resent = test->tcp.resent - before.resent;
    facts->calm_hub_sent = test->hub_sent - hub_sent;
    facts->calm_hub_resent = test->hub_resent - hub_resent;
}

/* ---- a hole for long packets ---- */

/* Whether a packet goes there and back that such a segment fills. */
static bool gets_through(struct test *test, unsigned segment)
{
    uint64_t bytes = segment - BESIDE_PAYLOAD;

    test->segment = segment;
    return test_connect_again(test) && get_ticket(test, bytes) &&
           test->probed.bytes == bytes && fill(test, bytes);
}

/* Where none of the usual length does: the longest that does. A connection on
 * which one got lost is done with, so each try has its own. */
static void measure_hole(struct test *test, struct doctor_facts *facts)
{
    nanos until = net_now() + HOLE_TIME;
    unsigned low = SEGMENT_LEAST - 1, high = test->tcp.packet - HEADERS,
             segment = SEGMENT_LEAST;
    const struct tcp_facts before = test->tcp;

    test->stall = TRY_TIME + 4 * facts->trip_usual;
    while (before.known && low + 1 < high && net_now() < until) {
        if (gets_through(test, segment)) {
            low = segment;
            facts->longest = test->tcp.packet;
        } else {
            high = segment;
        }
        if (!test->bulk.number || !test->answered)
            break;
        segment = (low + high) / 2;
    }
    test->tcp = before;
}

/* ---- a connection that somebody cuts ---- */

/* It was in the middle when it ended, or fell silent, and the hub is well. */
static void find_cut(struct test *test, struct doctor_facts *facts)
{
    const struct tcp_facts before = test->tcp;
    uint64_t carried = before.acked + before.came;
    bool silent = test->silent && carried > 2 * (uint64_t)PACKET_MOST;
    nanos trip;

    if ((!test->bulk.gone && !silent) || !ask(test, 0, &trip) ||
        !test_connect_again(test))
        return;
    facts->cut = true;
    facts->cut_silently = silent;
    facts->cut_after = carried;
    test->tcp = before;
}

/* ---- all of it ---- */

static bool open_test(struct test *test, const struct endpoint *hub,
                      const struct net_keys *keys, struct tcp_places *places,
                      struct doctor_facts *facts)
{
    struct notice unknown = {.hindrance = HINDRANCE_NAME};
    struct why why;

    (void)snprintf(test->address.host, sizeof test->address.host, "%s",
                   hub->host);
    test->address.port = hub->port;
    test->config.keys = *keys;
    test->stall = STALL_TIME;
    if (address_to_reach(hub->host, hub->port, &test->address, &why) !=
        STATUS_OK) {
        trouble_add(&facts->trouble, &unknown, &test->address);
        return false;
    }
    trouble_look_up(&facts->trouble, &test->address);
    if (facts->trouble.hindrance != HINDRANCE_NONE)
        return false;
    unknown.error = tcp_look_up(&test->address, places);
    if (unknown.error == EAI_AGAIN)
        unknown.hindrance = HINDRANCE_RESOLVER;
    if (unknown.error) {
        trouble_add(&facts->trouble, &unknown, &test->address);
        return false;
    }
    test->pool = pool_new();
    return bell_init(&test->bell, &why) == STATUS_OK;
}

static void close_test(struct test *test)
{
    station_close(&test->control.station);
    station_close(&test->bulk.station);
    blob_unref(&test->filling);
    if (test->pool) {
        bell_free(&test->bell);
        pool_destroy(&test->pool);
    }
    explicit_bzero(test, sizeof *test);
    free(test);
}

static void test_bulk(struct test *test, struct doctor_facts *facts)
{
    test_connect(test, CHANNEL_BULK, &test->bulk);
    facts->second = test->bulk.trouble;
    facts->second_there = test->bulk.number != 0;
    test->filling = make_filling(test->pool);
    if (facts->second_there && facts->key != DOCTOR_ENROLMENT && test->filling)
        measure_rates(test, facts);
    if (facts->stalled_up || facts->stalled_down)
        measure_hole(test, facts);
    else if (facts->second_there)
        find_cut(test, facts);
    if (facts->second_there && test->tcp.sent == 0)
        read_tcp(test, &test->bulk);
    facts->tcp = test->tcp;
    if (facts->hub_sent && (test->tcp.resent || facts->hub_resent))
        measure_calmly(test, facts);
}

void link_test(const struct endpoint *hub, const struct net_keys *keys,
               struct doctor_facts *facts)
{
    struct test *test = need_memory(1, sizeof *test);
    struct tcp_places places;

    if (open_test(test, hub, keys, &places, facts)) {
        test_connect_control(test, &places, facts);
        if (facts->reached)
            take_trips(test, facts);
        if (facts->answered)
            test_bulk(test, facts);
    }
    close_test(test);
}
