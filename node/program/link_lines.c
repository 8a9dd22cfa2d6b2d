#include "node/program/link_lines.h"

#include <poll.h>
#include <stdio.h>

#include "core/quote.h"
#include "net/trouble.h"

#define PATIENCE (8 * SECOND)     /* for hands to be shaken */
#define PLACES_TIME (20 * SECOND) /* then no other address is tried */

/* ---- what comes ---- */

static void hear_probed(struct test *test, const struct msg_probed *probed)
{
    test->probed = *probed;
    test->answered = true;
}

static void hear_filled(struct test *test, const struct notice *notice)
{
    if (notice->msg.filled.ticket != test->ticket)
        return;
    test->came += notice->payload->size;
    test->hub_sent = (uint64_t)notice->msg.filled.sent;
    test->hub_resent = (uint64_t)notice->msg.filled.resent;
}

static void hear_facts(struct test *test, const struct tcp_facts *facts)
{
    const struct tcp_facts *before = &test->tcp;
    size_t at = test->samples;

    if (facts->acked != before->acked || facts->came != before->came)
        test->moved_at = net_now();
    test->tcp = *facts;
    test->measured = true;
    if (at == SAMPLES_MOST)
        return;
    test->up[at] = (struct link_sample){facts->at, facts->acked};
    test->down[at] = (struct link_sample){facts->at, facts->came};
    test->samples++;
}

/* What it had carried then. */
static void hear_gone(struct test *test, struct line *line,
                      const struct tcp_facts *facts)
{
    line->gone = true;
    if (line != &test->bulk || !facts->known)
        return;
    test->tcp.acked = facts->acked;
    test->tcp.came = facts->came;
}

static void hear_message(struct test *test, const struct notice *notice)
{
    struct text text;

    if (notice->msg.kind == MSG_PROBED) {
        hear_probed(test, &notice->msg.probed);
    } else if (notice->msg.kind == MSG_FILLED) {
        hear_filled(test, notice);
    } else if (notice->msg.kind == MSG_BYE) {
        text_init(&text, test->farewell, sizeof test->farewell);
        (void)quote_plain(&text, notice->msg.bye.text,
                          sizeof test->farewell - 1);
    }
}

static void hear(struct test *test, struct line *line, struct address *address)
{
    struct notice *notice;

    while (line->station && (notice = station_pop(line->station)) != NULL) {
        if (notice->kind == NOTICE_READY)
            line->number = notice->number;
        else if (notice->kind == NOTICE_FAILED)
            trouble_add(&line->trouble, notice, address);
        else if (notice->kind == NOTICE_GONE)
            hear_gone(test, line, &notice->facts);
        else if (notice->kind == NOTICE_NONSENSE)
            test->nonsense = true;
        else if (notice->kind == NOTICE_MESSAGE)
            hear_message(test, notice);
        else if (notice->kind == NOTICE_MEASURED) {
            hear_facts(test, &notice->facts);
        }
        notice_destroy(&notice);
    }
}

bool test_go_on(struct test *test, nanos until)
{
    struct address second = address_behind(&test->address);
    struct pollfd poll_for = {.fd = test->bell.fd, .events = POLLIN};
    nanos left = until - net_now();

    if (left <= 0)
        return false;
    (void)poll(&poll_for, 1, (int)(left / MILLISECOND) + 1);
    bell_hush(&test->bell);
    hear(test, &test->control, &test->address);
    hear(test, &test->bulk, &second);
    return true;
}

/* ---- connecting ---- */

static void open_line(struct test *test, enum channel channel,
                      struct line *line)
{
    struct channel_plan plan =
        channel_plan(&test->config, channel, false, &test->address,
                     test->config.keys.on ? &test->config.keys : NULL);

    plan.held = false;
    plan.segment = test->segment;
    (void)!station_open(&plan, test->pool, NULL, &test->bell, &line->station,
                        NULL);
}

void test_connect(struct test *test, enum channel channel, struct line *line)
{
    nanos until = net_now() + PATIENCE;

    open_line(test, channel, line);
    while (!line->number && line->trouble.hindrance == HINDRANCE_NONE &&
           test_go_on(test, until))
        continue;
    if (!line->number && line->trouble.hindrance == HINDRANCE_NONE) {
        const struct notice notice = {.hindrance = HINDRANCE_TIMED_OUT};
        struct address second = address_behind(&test->address);

        trouble_add(&line->trouble, &notice,
                    channel == CHANNEL_BULK ? &second : &test->address);
    }
}

static bool get_further(const struct net_trouble *one,
                        const struct net_trouble *other)
{
    return one->hindrance > HINDRANCE_TIMED_OUT &&
           one->hindrance > other->hindrance;
}

void test_connect_control(struct test *test, const struct tcp_places *places,
                          struct doctor_facts *facts)
{
    nanos until = net_now() + PLACES_TIME;

    facts->places = places->count;
    for (unsigned i = 0; i < places->count && net_now() < until; i++) {
        station_close(&test->control.station);
        test->control = (struct line){.station = NULL};
        tcp_print_place(&places->list[i], test->address.place);
        test_connect(test, CHANNEL_CONTROL, &test->control);
        facts->reached = test->control.number != 0;
        if (i == 0 || facts->reached ||
            get_further(&test->control.trouble, &facts->trouble)) {
            facts->trouble = test->control.trouble;
            (void)snprintf(facts->place, sizeof facts->place, "%s",
                           test->address.place);
        }
        if (facts->reached)
            return;
    }
}

bool test_connect_again(struct test *test)
{
    if (test->bulk.number)
        station_cut(test->bulk.station, test->bulk.number, false);
    station_close(&test->bulk.station);
    test->bulk = (struct line){.station = NULL};
    test_connect(test, CHANNEL_BULK, &test->bulk);
    return test->bulk.number != 0;
}

void test_send(struct line *line, const struct msg *msg, struct blob *payload)
{
    unsigned char bytes[MSG_MAX_BYTES];

    station_send(line->station, line->number, bytes, msg_encode(msg, bytes),
                 payload);
}
