/* Connections that say something and never become anybody's. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

enum { FIRST = 1000, MANY = 1000, AT_ONCE = 256 };

static struct bench *open_bench(void)
{
    struct bench *bench = bench_new();

    bench_open(bench);
    return bench;
}

/* A word of that kind, with a payload if it has one. */
static void says(struct bench *bench, peer_id peer, enum msg_kind kind)
{
    struct msg msg = {.kind = kind};
    struct blob *payload = hand_floats(bench->hand.pool, 4, 1);

    hand_say(&bench->hand, peer, &msg,
             msg_info(kind)->payload ? payload : NULL);
    blob_unref(&payload);
}

static void who_says_everything_but_hello_is_cut_in_time(void)
{
    static const enum msg_kind words[] = {MSG_PING, MSG_CHUNK, MSG_KEPT};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct bench *bench = open_bench();

        hand_join(&bench->hand, FIRST, msg_info(words[i])->channel);
        for (unsigned j = 0; j < 28; j++) {
            says(bench, FIRST, words[i]);
            hand_wait(&bench->hand, SECOND);
        }
        CHECK(!hand_dropped(&bench->hand, FIRST));
        hand_wait(&bench->hand, 3 * SECOND);
        CHECK(hand_dropped(&bench->hand, FIRST));
        CHECK_CONTAINS("1 cut that in 30 s",
                       hand_note(&bench->hand, NOTE_REFUSED)->text);
        bench_destroy(&bench);
    }
}

static void who_was_given_the_second_port_is_told_and_no_offender(void)
{
    static const enum msg_kind words[] = {MSG_HELLO, MSG_ENROL, MSG_JOIN};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct bench *bench = bench_new();
        const struct hand_sent *bye;

        bench->config.port = 7541;
        bench_open(bench);
        hand_join(&bench->hand, FIRST, CHANNEL_BULK);
        says(bench, FIRST, words[i]);
        bye = hand_last(&bench->hand, FIRST, MSG_BYE);
        CHECK(bye != NULL);
        if (bye)
            CHECK_EQUAL(FAREWELL_PORT, bye->msg.bye.farewell);
        if (bye)
            CHECK_CONTAINS("give :7541", bye->msg.bye.text);
        CHECK(hand_dropped(&bench->hand, FIRST));
        CHECK(hand_note(&bench->hand, NOTE_OFFENCE) == NULL);
        bench_destroy(&bench);
    }
}

static void who_has_become_a_node_is_not(void)
{
    struct bench *bench = open_bench();
    struct guest a = guest_comes(bench, "a");

    guest_lives(bench, &a, 70 * SECOND);
    CHECK(!hand_dropped(&bench->hand, a.control));
    CHECK(!hand_dropped(&bench->hand, a.bulk));
    bench_destroy(&bench);
}

static void who_must_attach_again_has_the_same_time(void)
{
    struct bench *bench = open_bench();
    struct guest a = guest_comes(bench, "a"), b = guest_comes(bench, "b");

    hand_wait(&bench->hand, SECOND);
    for (unsigned i = 0; i < 2; i++) {
        guest_lives(bench, &a, 20 * SECOND);
        guest_pings(bench, &b, 1);
    }
    guest_hello(bench, &a);
    guest_hello(bench, &b);
    guest_lives(bench, &a, 20 * SECOND);
    guest_attach(bench, &a);
    guest_pings(bench, &b, 1);
    CHECK(!hand_dropped(&bench->hand, b.bulk));
    guest_lives(bench, &a, 12 * SECOND);
    CHECK(hand_dropped(&bench->hand, b.bulk));
    CHECK(!hand_dropped(&bench->hand, b.control));
    CHECK(!hand_dropped(&bench->hand, a.bulk));
    bench_destroy(&bench);
}

/* Comes to the group for collectives, which may not want it. */
static void joins(struct bench *bench, peer_id peer, uint64_t uuid,
                  uint32_t protocol)
{
    struct msg msg = {.kind = MSG_JOIN};

    msg.join.protocol_min = msg.join.protocol_max = protocol;
    msg.join.node_high = 1;
    msg.join.node_low = uuid;
    hand_join(&bench->hand, peer, CHANNEL_CONTROL);
    hand_say(&bench->hand, peer, &msg, NULL);
}

static void who_is_no_member_of_the_group_is_cut(void)
{
    struct bench *bench = open_bench();
    struct msg sit = {.kind = MSG_SIT};
    const struct hand_sent *joined;

    joins(bench, FIRST, 1, PROTOCOL_MAX);
    joined = hand_last(&bench->hand, FIRST, MSG_JOINED);
    CHECK(joined != NULL);
    sit.sit.session = joined ? joined->msg.joined.session : 0;
    hand_join(&bench->hand, FIRST + 1, CHANNEL_BULK);
    hand_say(&bench->hand, FIRST + 1, &sit, NULL);
    joins(bench, FIRST + 2, 2, PROTOCOL_MAX + 1);
    CHECK_EQUAL(1, hand_count(&bench->hand, FIRST + 2, MSG_BYE));
    for (unsigned i = 0; i < 20; i++) {
        hand_wait(&bench->hand, 5 * SECOND);
        says(bench, FIRST, MSG_PING);
    }
    CHECK(!hand_dropped(&bench->hand, FIRST));
    CHECK(!hand_dropped(&bench->hand, FIRST + 1));
    CHECK(hand_dropped(&bench->hand, FIRST + 2));
    bench_destroy(&bench);
}

static void who_waits_for_the_operator_is_not_cut(void)
{
    struct bench *bench = open_bench();

    hand_join_as(&bench->hand, FIRST, CHANNEL_CONTROL, KEY_ENROLS);
    says(bench, FIRST, MSG_ENROL);
    hand_join_as(&bench->hand, FIRST + 2, CHANNEL_CONTROL, KEY_ENROLS);
    hand_wait(&bench->hand, 60 * SECOND);
    CHECK(!hand_dropped(&bench->hand, FIRST));
    CHECK(hand_dropped(&bench->hand, FIRST + 2));
    bench_destroy(&bench);
}

static void a_crowd_of_strangers_leaves_room_again(void)
{
    struct bench *bench = bench_new();
    unsigned cut = 0;
    struct guest a;

    bench->config.most = MANY / 4;
    bench_open(bench);
    a = guest_new(bench, "a");
    for (peer_id i = 0; i < MANY; i++)
        hand_join(&bench->hand, FIRST + 2 * i, CHANNEL_CONTROL);
    a = guest_comes(bench, "a");
    CHECK(hand_dropped(&bench->hand, a.control));
    hand_wait(&bench->hand, 29 * SECOND);
    for (unsigned i = 0; i < 12; i++) {
        hand_forget(&bench->hand);
        hand_wait(&bench->hand, 250 * MILLISECOND);
        CHECK(bench->hand.drop_count <= AT_ONCE);
        cut += bench->hand.drop_count;
    }
    CHECK_EQUAL(MANY, cut);
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    bench_destroy(&bench);
}

void add_hub_strangers_tests(CU_pSuite suite)
{
    TEST(who_says_everything_but_hello_is_cut_in_time);
    TEST(who_was_given_the_second_port_is_told_and_no_offender);
    TEST(who_has_become_a_node_is_not);
    TEST(who_must_attach_again_has_the_same_time);
    TEST(who_is_no_member_of_the_group_is_cut);
    TEST(who_waits_for_the_operator_is_not_cut);
    TEST(a_crowd_of_strangers_leaves_room_again);
}
