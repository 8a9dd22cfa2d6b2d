#include <stdlib.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

static void the_first_to_attach_founds_the_centre(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench_open(bench);
    a = guest_comes(bench, "a");
    b = guest_comes(bench, "b");
    CHECK_EQUAL(START_FOUND,
                guest_heard(bench, &a, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(START_HOLD, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(3 * BENCH_CHUNK_BYTES,
                guest_heard(bench, &a, MSG_GRANT)->grant.credit);
    guest_founds(bench, &a, 1);
    CHECK_EQUAL(START_GO, guest_heard(bench, &a, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(START_GO, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    bench_destroy(&bench);
}

static void another_founds_when_the_founder_leaves(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench_open(bench);
    a = guest_comes(bench, "a");
    b = guest_comes(bench, "b");
    guest_breaks(bench, &a);
    CHECK_EQUAL(START_FOUND,
                guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    guest_founds(bench, &b, 2);
    bench_destroy(&bench);
}

static void another_founds_when_the_founder_falls_silent(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench_open(bench);
    a = guest_comes(bench, "a");
    b = guest_comes(bench, "b");
    hand_wait(&bench->hand, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    hand_wait(&bench->hand, SECOND);
    CHECK_EQUAL(START_FOUND,
                guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    guest_delivers_all(bench, &a, 0, 1);
    CHECK(!bench_look(bench)->founded);
    guest_founds(bench, &b, 2);
    bench_destroy(&bench);
}

/* Its chunks are on their way when it is asked once more, at a chunk a second.
 */
static void a_founder_that_is_asked_again_may_use_its_first_credit(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.down = BENCH_CHUNK_BYTES;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_lives(bench, &a, 3 * SECOND);
    hand_wait(&bench->hand, 4 * SECOND);
    CHECK_EQUAL(START_HOLD, guest_heard(bench, &a, MSG_WELCOME)->welcome.start);
    guest_delivers_all(bench, &a, 0, 1);
    CHECK_EQUAL(START_FOUND,
                guest_heard(bench, &a, MSG_WELCOME)->welcome.start);
    CHECK(!hand_dropped(&bench->hand, a.control));
    guest_lives(bench, &a, 5 * SECOND);
    guest_founds(bench, &a, 1);
    bench_destroy(&bench);
}

static void first_parameters_that_are_not_finite_cut_the_founder(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_delivers(bench, &a, 0, 0, 1e300);
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK(!bench_look(bench)->founded);
    bench_destroy(&bench);
}

static void a_stranger_is_told_to_say_hello(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_new(bench, "a");

    bench_open(bench);
    a.control = bench->next_peer++;
    hand_join(&bench->hand, a.control, CHANNEL_CONTROL);
    guest_offers(bench, &a, 1);
    CHECK_EQUAL(FAREWELL_STRANGER, guest_farewell(bench, &a));
    CHECK(!hand_dropped(&bench->hand, a.control));
    bench_destroy(&bench);
}

static void a_member_that_says_what_it_must_not_is_cut(void)
{
    static const enum msg_kind wrong[] = {MSG_GRANT,   MSG_WELCOME, MSG_PONG,
                                          MSG_VERDICT, MSG_RESULT,  MSG_ATTACH,
                                          MSG_STOP,    MSG_VIEW};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bench *bench = bench_new();
        struct guest a;

        bench_open(bench);
        a = guest_comes(bench, "a");
        guest_says(bench, &a, wrong[i]);
        CHECK(hand_dropped(&bench->hand, a.control));
        CHECK(hand_dropped(&bench->hand, a.bulk));
        CHECK(hand_note(&bench->hand, NOTE_OFFENCE) != NULL);
        CHECK(bench_node(bench, "a")->gone);
        bench_destroy(&bench);
    }
}

static void a_chunk_without_its_payload_is_an_offence(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_says(bench, &a, MSG_CHUNK);
    CHECK(hand_dropped(&bench->hand, a.bulk));
    bench_destroy(&bench);
}

static void an_unknown_session_is_cut(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_new(bench, "a"), b = guest_new(bench, "b");

    bench_open(bench);
    guest_hello(bench, &a);
    b.session = a.session + 1;
    guest_attach(bench, &b);
    CHECK(hand_dropped(&bench->hand, b.bulk));
    guest_attach(bench, &a);
    CHECK(!hand_dropped(&bench->hand, a.bulk));
    b.session = a.session;
    b.bulk = PEER_NONE;
    guest_attach(bench, &b);
    CHECK(hand_dropped(&bench->hand, b.bulk));
    CHECK(!hand_dropped(&bench->hand, a.bulk));
    bench_destroy(&bench);
}

static void the_view_is_pushed_at_once_with_a_growing_epoch(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;
    uint64_t epoch;

    bench_open(bench);
    a = guest_comes(bench, "a");
    epoch = guest_heard(bench, &a, MSG_VIEW)->view.epoch;
    CHECK_EQUAL(1, guest_heard(bench, &a, MSG_VIEW)->view.members);
    b = guest_comes(bench, "b");
    CHECK(guest_heard(bench, &a, MSG_VIEW)->view.epoch > epoch);
    CHECK_EQUAL(2, guest_heard(bench, &a, MSG_VIEW)->view.members);
    CHECK_EQUAL(0, guest_heard(bench, &a, MSG_VIEW)->view.shard);
    CHECK_EQUAL(1, guest_heard(bench, &b, MSG_VIEW)->view.shard);
    CHECK_EQUAL(2, guest_heard(bench, &b, MSG_VIEW)->view.shards);
    epoch = guest_heard(bench, &b, MSG_VIEW)->view.epoch;
    guest_says(bench, &a, MSG_BYE);
    CHECK(guest_heard(bench, &b, MSG_VIEW)->view.epoch > epoch);
    CHECK_EQUAL(0, guest_heard(bench, &b, MSG_VIEW)->view.shard);
    CHECK_EQUAL(1, guest_heard(bench, &b, MSG_VIEW)->view.members);
    CHECK(hand_note(&bench->hand, NOTE_LEFT) != NULL);
    bench_destroy(&bench);
}

static void a_node_is_silent_after_two_seconds_until_it_pings(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    hand_wait(&bench->hand, 1900 * MILLISECOND);
    CHECK(!bench_node(bench, "a")->silent);
    hand_wait(&bench->hand, 400 * MILLISECOND);
    CHECK(bench_node(bench, "a")->silent);
    guest_pings(bench, &a, 3);
    CHECK(!bench_node(bench, "a")->silent);
    CHECK_EQUAL(3, bench_node(bench, "a")->iteration);
    CHECK(guest_heard(bench, &a, MSG_PONG) != NULL);
    bench_destroy(&bench);
}

static void a_node_that_is_silent_for_a_minute_is_gone(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    hand_wait(&bench->hand, 59 * SECOND);
    CHECK(!bench_node(bench, "a")->gone);
    hand_wait(&bench->hand, 2 * SECOND);
    CHECK(bench_node(bench, "a")->gone);
    CHECK(hand_dropped(&bench->hand, a.control));
    bench_destroy(&bench);
}

/* What each of so many is told is as many messages as there are nodes. */
static void many_nodes_hear_at_the_next_look_how_many_they_are(void)
{
    enum { MANY = 300 };
    struct bench *bench = bench_new();
    struct guest *guests = calloc(MANY, sizeof *guests);
    const struct msg *last = NULL;

    if (!guests)
        abort();
    bench_open(bench);
    for (unsigned i = 0; i < MANY; i++) {
        guests[i] = guest_new(bench, "node");
        guest_hello(bench, &guests[i]);
        CHECK_EQUAL(i < 64, guest_heard(bench, &guests[0], MSG_VIEW) != NULL);
        hand_forget(&bench->hand);
    }
    hand_wait(&bench->hand, SECOND);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK_EQUAL(1, guest_heard_count(bench, &guests[i], MSG_VIEW));
        last = guest_heard(bench, &guests[i], MSG_VIEW);
        CHECK_EQUAL(MANY, last ? last->view.members : 0);
        CHECK_EQUAL(i, last ? last->view.shard : MANY);
    }
    guest_says(bench, &guests[7], MSG_BYE);
    CHECK_EQUAL(MANY, bench_look(bench)->count);
    CHECK(bench->view.nodes[7].gone && !bench->view.nodes[MANY - 1].gone);
    free(guests);
    bench_destroy(&bench);
}

/* A hundred rounds under way at once, each delivered in another order. */
static void rounds_of_many_nodes_merge_whoever_delivers_first(void)
{
    enum { MANY = 100 };
    struct bench *bench = bench_new();
    struct guest guests[MANY];

    bench->config.policy = preset_find("downpour")->policy;
    bench->config.policy.exchange = EXCHANGE_DELTA;
    bench->config.staleness = 1000;
    bench_open(bench);
    guests[0] = guest_comes(bench, "node");
    guest_founds(bench, &guests[0], 0);
    for (unsigned i = 1; i < MANY; i++) {
        guests[i] = guest_comes(bench, "node");
        hand_forget(&bench->hand);
    }
    for (unsigned i = 0; i < MANY; i++)
        guest_offers(bench, &guests[i], 1);
    CHECK_EQUAL(0, bench_look(bench)->rounds);
    for (uint32_t chunk = 0; chunk < BENCH_CHUNKS; chunk++)
        for (unsigned i = 0; i < MANY; i++) {
            hand_forget(&bench->hand);
            guest_delivers(bench, &guests[(i * 37 + chunk) % MANY], 1, chunk,
                           0.5);
        }
    CHECK_EQUAL(MANY, bench_look(bench)->version);
    CHECK_EQUAL((uint64_t)MANY * BENCH_CHUNKS,
                bench->view.verdicts[VERDICT_MERGED]);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_EQUAL(1, bench->view.nodes[i].exchanges);
    bench_destroy(&bench);
}

/* A blob of 16 bytes that stands for 2^40 on a link, in both directions. */
static void bytes_of_large_chunks_are_counted(void)
{
    const uint64_t bytes = (uint64_t)1 << 40;
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    struct msg_chunk chunk = {.exchange = 1};
    uint64_t before = bench_node(bench, "a")->up_bytes;

    guest_offers(bench, &a, 1);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        struct blob *payload =
            hand_floats(bench->hand.pool, bench_length(i), 1);

        payload->wire_bytes = bytes;
        chunk.chunk = i;
        chunk.checksum = payload->checksum;
        guest_chunk(bench, &a, &chunk, payload);
        blob_unref(&payload);
    }
    CHECK_EQUAL(BENCH_CHUNKS * bytes,
                bench_node(bench, "a")->up_bytes - before);
    CHECK_EQUAL(1, bench->view.version);
    bench_destroy(&bench);
}

static void strangers_without_end_are_cut(void)
{
    struct bench *bench = bench_new();

    bench->config.most = 64;
    bench_open(bench);
    for (peer_id i = 100; i < 400; i++)
        hand_join(&bench->hand, i, CHANNEL_CONTROL);
    CHECK(!hand_dropped(&bench->hand, 100));
    CHECK(hand_dropped(&bench->hand, 399));
    bench_destroy(&bench);
}

void add_hub_members_tests(CU_pSuite suite)
{
    TEST(the_first_to_attach_founds_the_centre);
    TEST(another_founds_when_the_founder_leaves);
    TEST(another_founds_when_the_founder_falls_silent);
    TEST(a_founder_that_is_asked_again_may_use_its_first_credit);
    TEST(first_parameters_that_are_not_finite_cut_the_founder);
    TEST(a_stranger_is_told_to_say_hello);
    TEST(a_member_that_says_what_it_must_not_is_cut);
    TEST(a_chunk_without_its_payload_is_an_offence);
    TEST(an_unknown_session_is_cut);
    TEST(the_view_is_pushed_at_once_with_a_growing_epoch);
    TEST(a_node_is_silent_after_two_seconds_until_it_pings);
    TEST(a_node_that_is_silent_for_a_minute_is_gone);
    TEST(many_nodes_hear_at_the_next_look_how_many_they_are);
    TEST(rounds_of_many_nodes_merge_whoever_delivers_first);
    TEST(bytes_of_large_chunks_are_counted);
    TEST(strangers_without_end_are_cut);
}
