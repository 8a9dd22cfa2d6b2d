/* Bytes on the wire: a sign of life, and progress (hub/heard.c). */
#include "tests/check.h"
#include "tests/hub/bench.h"

static struct guest *pinging[2];

static void ping(struct bench *bench, struct guest *guest)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.accuracy = -1;
    msg.ping.rate = 10;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

/* So many seconds pass; both say PING. */
static void seconds_pass(struct bench *bench, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        hand_wait(&bench->hand, SECOND);
        for (unsigned j = 0; j < 2; j++)
            if (pinging[j])
                ping(bench, pinging[j]);
    }
}

static void arrives(struct bench *bench, struct guest *guest, uint64_t bytes)
{
    struct msg msg = {.kind = MSG_ARRIVING};

    msg.arriving.bytes = bytes;
    msg.arriving.whole = 1600;
    hand_say(&bench->hand, guest->bulk, &msg, NULL);
}

static void bytes_are_a_sign_of_life(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    for (unsigned i = 1; i <= 20; i++) {
        hand_wait(&bench->hand, SECOND);
        arrives(bench, &a, 80 * (uint64_t)i);
        CHECK(guest_heard(bench, &a, MSG_PONG) != NULL);
        hand_forget(&bench->hand);
    }
    CHECK(!bench_node(bench, "a")->silent);
    hand_wait(&bench->hand, 3 * SECOND);
    CHECK(bench_node(bench, "a")->silent);
    arrives(bench, &a, 100);
    CHECK(!bench_node(bench, "a")->silent);
    bench_destroy(&bench);
}

static void who_is_far_away_may_be_silent_for_longer(void)
{
    struct msg far = {.kind = MSG_PING,
                      .ping = {.accuracy = -1, .round_trip = 4 * SECOND}};
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    hand_say(&bench->hand, a.control, &far, NULL);
    hand_wait(&bench->hand, 9 * SECOND);
    CHECK(!bench_node(bench, "a")->silent);
    hand_wait(&bench->hand, 2 * SECOND);
    CHECK(bench_node(bench, "a")->silent);
    far.ping.round_trip = INT64_MAX;
    hand_say(&bench->hand, a.control, &far, NULL);
    CHECK(!bench_node(bench, "a")->silent);
    hand_wait(&bench->hand, 33 * SECOND);
    CHECK(bench_node(bench, "a")->silent);
    bench_destroy(&bench);
}

/* What it is sent goes through the queue that holds back its PINGs. */
static void who_takes_long_to_fetch_may_be_silent_meanwhile(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    pinging[0] = &a;
    pinging[1] = NULL;
    guest_founds(bench, &a, 1);
    guest_gives(bench, &a, 1, 0);
    seconds_pass(bench, 8);
    guest_returns(bench, &a, 1);
    guest_gives(bench, &a, 2, 0);
    hand_wait(&bench->hand, 9 * SECOND);
    CHECK(!bench_node(bench, "a")->silent);
    hand_wait(&bench->hand, 2 * SECOND);
    CHECK(bench_node(bench, "a")->silent);
    bench_destroy(&bench);
}

/* All others wait for one that the policy has chosen, and whose link carries
 * a hundred bytes in twenty seconds. */
static struct bench *a_uploads(struct guest *a, struct guest *b)
{
    struct bench *bench = bench_new();

    bench->config.policy.select = &select_best;
    bench_open(bench);
    *a = guest_comes(bench, "a");
    *b = guest_comes(bench, "b");
    pinging[0] = a;
    pinging[1] = b;
    guest_founds(bench, a, 1);
    guest_offers(bench, b, 1);
    guest_offers(bench, a, 1);
    return bench;
}

static void a_chunk_may_take_minutes_as_long_as_bytes_come(void)
{
    struct guest a, b;
    struct bench *bench = a_uploads(&a, &b);

    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        for (unsigned bytes = 100; bytes < 1600; bytes += 100) {
            seconds_pass(bench, 20);
            arrives(bench, &a, bytes);
        }
        if (i == 0)
            CHECK_CONTAINS("waits for a to upload, for 300 s: 31 % is here, "
                           "the rest takes 660 s",
                           bench_look(bench)->state);
        guest_delivers(bench, &a, 1, i, 1);
    }
    CHECK_EQUAL(1, bench_look(bench)->rounds);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 1, 0));
    bench_destroy(&bench);
}

static void a_byte_now_and_then_is_no_progress(void)
{
    struct guest a, b;
    struct bench *bench = a_uploads(&a, &b);

    for (unsigned bytes = 1; bytes <= 40; bytes++) {
        seconds_pass(bench, 1);
        arrives(bench, &a, bytes);
    }
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &a, 1, 0));
    bench_destroy(&bench);
}

static void so_may_first_parameters(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    pinging[0] = &a;
    pinging[1] = NULL;
    for (unsigned bytes = 100; bytes < 1600; bytes += 100) {
        seconds_pass(bench, 50);
        arrives(bench, &a, bytes);
    }
    guest_founds(bench, &a, 1);
    CHECK(bench_look(bench)->founded);
    CHECK(!hand_note(&bench->hand, NOTE_SUSPECT));
    bench_destroy(&bench);
}

void add_hub_heard_tests(CU_pSuite suite)
{
    TEST(bytes_are_a_sign_of_life);
    TEST(who_is_far_away_may_be_silent_for_longer);
    TEST(who_takes_long_to_fetch_may_be_silent_meanwhile);
    TEST(a_chunk_may_take_minutes_as_long_as_bytes_come);
    TEST(a_byte_now_and_then_is_no_progress);
    TEST(so_may_first_parameters);
}
