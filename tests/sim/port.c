#include "sim/port.h"

#include "core/prng.h"
#include "tests/check.h"

enum { STREAMS = 8, MESSAGES = 40 };

/* Takes the next message out and checks what it is and when. */
static void comes(struct port *port, const char *item, double seconds)
{
    nanos at = port_next(port);

    CHECK_NEAR(seconds, (double)at / (double)SECOND, 1e-8);
    CHECK(port_pop(port, at) == item);
}

static void close_two(struct port **port, struct stream *one,
                      struct stream *other)
{
    stream_close(*port, &one);
    stream_close(*port, &other);
    CHECK_EQUAL(NEVER, port_next(*port));
    port_destroy(port);
}

static void one_flow_has_its_cap_or_the_port(void)
{
    static char a[] = "a", b[] = "b";
    struct port *port = port_new(100);
    struct stream *fast = stream_open(port, 0), *slow = stream_open(port, 20);

    stream_send(port, fast, 0, 300, a);
    comes(port, a, 3);
    stream_send(port, slow, 3 * SECOND, 300, b);
    comes(port, b, 18);
    close_two(&port, fast, slow);
}

static void flows_share_the_port_equally(void)
{
    static char a[] = "a", b[] = "b", c[] = "c";
    struct port *port = port_new(100);
    struct stream *one = stream_open(port, 0), *other = stream_open(port, 0);

    stream_send(port, one, 0, 100, a);
    stream_send(port, one, 0, 100, b);
    stream_send(port, other, 0, 150, c);
    comes(port, a, 2);
    comes(port, c, 3);   /* alone from there on */
    comes(port, b, 3.5); /* 50 of it at half of the rate until 3 */
    close_two(&port, one, other);
}

static void who_cannot_use_its_share_leaves_it_to_the_others(void)
{
    static char a[] = "a", b[] = "b";
    struct port *port = port_new(100);
    struct stream *slow = stream_open(port, 10), *fast = stream_open(port, 80);

    stream_send(port, slow, 0, 20, a);
    stream_send(port, fast, 0, 160, b);
    comes(port, a, 2);
    comes(port, b, 2);
    close_two(&port, slow, fast);
}

static void a_cap_may_change_on_the_way(void)
{
    static char a[] = "a", b[] = "b";
    struct port *port = port_new(0);
    struct stream *one = stream_open(port, 10), *other = stream_open(port, 10);

    stream_send(port, one, 0, 100, a);
    stream_send(port, other, 0, 100, b);
    stream_limit(port, one, 5 * SECOND, 50);
    comes(port, a, 6);
    comes(port, b, 10);
    close_two(&port, one, other);
}

static void without_limits_everything_is_through_at_once(void)
{
    static char a[] = "a";
    struct port *port = port_new(0);
    struct stream *one = stream_open(port, 0), *other = stream_open(port, 0);

    stream_send(port, one, 7 * SECOND, 1u << 30, a);
    comes(port, a, 7);
    close_two(&port, one, other);
}

static void what_is_dropped_leaves_its_share(void)
{
    static char a[] = "a", b[] = "b", c[] = "c";
    struct port *port = port_new(100);
    struct stream *one = stream_open(port, 0), *other = stream_open(port, 0);

    stream_send(port, one, 0, 1000, a);
    stream_send(port, one, 0, 100, b);
    stream_send(port, other, 0, 100, c);
    CHECK(stream_drop(port, one, SECOND) == a);
    comes(port, c, 2);
    comes(port, b, 2.5);
    CHECK(stream_drop(port, one, 3 * SECOND) == NULL);
    close_two(&port, one, other);
}

static void a_port_may_change_and_stop(void)
{
    static char a[] = "a", b[] = "b";
    struct port *port = port_new(100);
    struct stream *one = stream_open(port, 0), *other = stream_open(port, 10);

    stream_send(port, one, 0, 400, a);
    stream_send(port, other, 0, 50, b);
    port_limit(port, SECOND, 15); /* 90 and 10 are through */
    port_limit(port, 3 * SECOND, PORT_STOPPED);
    CHECK_EQUAL(NEVER, port_next(port));
    port_limit(port, 7 * SECOND, 0);
    comes(port, a, 7); /* that has no limit */
    comes(port, b, 9.5);
    CHECK(stream_is_empty(one) && stream_is_empty(other));
    close_two(&port, one, other);
}

static void a_stream_may_stop(void)
{
    static char a[] = "a", b[] = "b";
    struct port *port = port_new(100);
    struct stream *one = stream_open(port, 0), *other = stream_open(port, 0);

    stream_send(port, one, 0, 100, a);
    stream_send(port, other, 0, 150, b);
    stream_limit(port, one, SECOND, PORT_STOPPED);
    CHECK(!stream_is_empty(one));
    comes(port, b, 2);
    CHECK_EQUAL(NEVER, port_next(port));
    stream_limit(port, one, 10 * SECOND, 25);
    comes(port, a, 12);
    close_two(&port, one, other);
}

/* Of 280 the four of 10 to 40 have theirs; those of 50 to 80 share the 180 that
 * are left, until they have theirs, too. */
static void every_stream_may_have_a_cap_of_its_own(void)
{
    static const uint64_t bytes[STREAMS] = {1000, 2000, 3000, 4000,
                                            225,  285,  355,  445};
    static char items[STREAMS];
    struct port *port = port_new(280);
    struct stream *streams[STREAMS];

    for (unsigned i = STREAMS; i-- > 0;) {
        streams[i] = stream_open(port, (uint64_t)10 * (i + 1));
        stream_send(port, streams[i], 0, bytes[i], &items[i]);
    }
    comes(port, &items[4], 5);         /* at 45 */
    comes(port, &items[5], 6);         /* at 60 then */
    comes(port, &items[6], 7);         /* at 70 */
    comes(port, &items[7], 8);         /* at 80 */
    for (unsigned i = 0; i < 4; i++) { /* all at the same time */
        CHECK_NEAR(100, (double)port_next(port) / (double)SECOND, 1e-8);
        CHECK(port_pop(port, port_next(port)) != NULL);
    }
    for (unsigned i = 0; i < STREAMS; i++)
        stream_close(port, &streams[i]);
    port_destroy(&port);
}

/* A port that is never idle sends at its capacity, whatever comes when. */
static void a_busy_port_loses_no_time(void)
{
    static char items[STREAMS * MESSAGES];
    struct port *port = port_new(1000000);
    struct stream *streams[STREAMS];
    struct prng prng;
    uint64_t bytes = 0;
    unsigned taken = 0;
    nanos at = 0;

    prng_seed(&prng, 3);
    for (unsigned i = 0; i < STREAMS; i++)
        streams[i] = stream_open(port, i % 2 ? 0 : 400000 + 1000 * i);
    for (unsigned i = 0; i < STREAMS * MESSAGES; i++) {
        uint64_t size = 1 + prng_below(&prng, 100000);

        stream_send(port, streams[i % STREAMS], 0, size, &items[i]);
        bytes += size;
    }
    while (port_next(port) < NEVER) {
        at = port_next(port);
        CHECK(port_pop(port, at) != NULL);
        taken++;
    }
    CHECK_EQUAL(STREAMS * MESSAGES, taken);
    CHECK((double)at / (double)SECOND >= (double)bytes / 1e6 - 1e-6);
    CHECK((double)at / (double)SECOND <= (double)bytes / 1e6 * 1.2);
    for (unsigned i = 0; i < STREAMS; i++)
        stream_close(port, &streams[i]);
    port_destroy(&port);
}

void add_sim_port_tests(CU_pSuite suite)
{
    TEST(one_flow_has_its_cap_or_the_port);
    TEST(flows_share_the_port_equally);
    TEST(who_cannot_use_its_share_leaves_it_to_the_others);
    TEST(a_cap_may_change_on_the_way);
    TEST(a_port_may_change_and_stop);
    TEST(a_stream_may_stop);
    TEST(every_stream_may_have_a_cap_of_its_own);
    TEST(without_limits_everything_is_through_at_once);
    TEST(what_is_dropped_leaves_its_share);
    TEST(a_busy_port_loses_no_time);
}
