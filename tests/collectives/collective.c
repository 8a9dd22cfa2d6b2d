/* Collectives as such: what they give, how they are cut up, what is refused. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/circle.h"

static struct circle *built(enum manner manner, unsigned count)
{
    struct circle *circle = circle_new(manner, count);

    circle_start_all(circle);
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, 10 * SECOND));
    for (unsigned i = 0; i < count; i++)
        CHECK_EQUAL(ENDING_SUCCESS, circle->members[i].told.outcome);
    return circle;
}

static void an_allreduce_averages_in_segments(void)
{
    struct circle *circle = built(MANNER_ELASTIC, 3);

    for (unsigned i = 0; i < 3; i++) {
        circle_floats(circle, i, 100, i + 1);
        circle_call(circle, i, COLLECTIVE_ALLREDUCE);
    }
    CHECK(circle_settle(circle, 10 * SECOND));
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQUAL(ENDING_SUCCESS, circle->members[i].told.outcome);
        CHECK_EQUAL(400, circle->members[i].told.bytes);
        CHECK_NEAR(2, (double)circle_float(circle, i, 0), 0);
        CHECK_NEAR(2, (double)circle_float(circle, i, 99), 0);
    }
    CHECK_EQUAL(3 * 7, circle->inputs);
    circle_run(circle, SECOND);
    CHECK_EQUAL(0, circle_view(circle).held);
    circle_destroy(&circle);
}

static void a_barrier_waits_for_the_last(void)
{
    struct circle *circle = built(MANNER_ELASTIC, 3);

    circle_call(circle, 0, COLLECTIVE_BARRIER);
    circle_call(circle, 1, COLLECTIVE_BARRIER);
    circle_run(circle, SECOND);
    CHECK(circle->members[0].asking);
    circle_call(circle, 2, COLLECTIVE_BARRIER);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_SUCCESS, circle->members[0].told.outcome);
    circle_destroy(&circle);
}

/* A founder that has joined is there, whether it builds or not. */
static void a_build_is_answered_when_the_last_founder_joins(void)
{
    struct circle *circle = circle_new(MANNER_PATIENT, 3);

    circle_start(circle, 0);
    circle_start(circle, 1);
    circle_ask(circle, 0, ASK_BUILD);
    circle_run(circle, SECOND);
    CHECK(circle->members[0].asking);
    circle_start(circle, 2);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_SUCCESS, circle->members[0].told.outcome);
    CHECK_EQUAL(3, circle->members[0].told.size);
    circle_destroy(&circle);
}

static void a_broadcast_comes_from_its_root(void)
{
    struct circle *circle = built(MANNER_PATIENT, 3);
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_BROADCAST,
                          .root = 1,
                          .bytes = 200};

    for (unsigned i = 0; i < 3; i++) {
        circle_floats(circle, i, 50, i);
        circle_request(circle, i, &ask);
    }
    CHECK(circle_settle(circle, SECOND));
    CHECK_NEAR(1, (double)circle_float(circle, 0, 49), 0);
    CHECK_NEAR(1, (double)circle_float(circle, 2, 0), 0);
    CHECK_EQUAL(0, circle->members[0].prepared);
    CHECK_EQUAL(1, circle->members[1].prepared);
    CHECK_EQUAL(0, circle->members[1].told.bytes);
    circle_destroy(&circle);
}

static void an_allgather_is_in_rank_order_with_any_sizes(void)
{
    struct circle *circle = built(MANNER_PATIENT, 4);
    const unsigned sizes[] = {30, 0, 1, 17};
    unsigned at = 0;

    for (unsigned i = 0; i < 4; i++) {
        circle_floats(circle, i, sizes[i], i + 1);
        circle_call(circle, i, COLLECTIVE_ALLGATHER);
    }
    CHECK(circle_settle(circle, SECOND));
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < sizes[i]; j++, at++)
            for (unsigned k = 0; k < 4; k++)
                CHECK_NEAR(i + 1, (double)circle_float(circle, k, at), 0);
    CHECK_EQUAL(48 * 4, circle->members[3].told.bytes);
    circle_destroy(&circle);
}

static void a_spoilt_segment_is_noticed_and_sent_again(void)
{
    struct circle *circle = built(MANNER_PATIENT, 2);

    for (unsigned i = 0; i < 2; i++)
        circle_floats(circle, i, 100, 2 * i);
    circle->spoil = true;
    circle_call(circle, 0, COLLECTIVE_ALLREDUCE);
    circle_call(circle, 1, COLLECTIVE_ALLREDUCE);
    CHECK(circle_settle(circle, 10 * SECOND));
    CHECK(!circle->spoil);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(ENDING_SUCCESS, circle->members[i].told.outcome);
        CHECK_NEAR(1, (double)circle_float(circle, i, 0), 0);
        CHECK_NEAR(1, (double)circle_float(circle, i, 99), 0);
    }
    circle_destroy(&circle);
}

static void the_same_seed_gives_the_same_history(void)
{
    uint64_t hash[2];

    for (unsigned k = 0; k < 2; k++) {
        struct circle *circle = circle_new(MANNER_ELASTIC, 4);

        circle->jitter = 5 * MILLISECOND;
        prng_seed(&circle->prng, 11);
        circle_start_all(circle);
        circle_ask_all(circle, ASK_BUILD);
        CHECK(circle_settle(circle, 10 * SECOND));
        for (unsigned i = 0; i < 4; i++) {
            circle_floats(circle, i, 200, i);
            circle_call(circle, i, COLLECTIVE_ALLREDUCE);
        }
        circle_run(circle, 10 * MILLISECOND);
        circle_cut(circle, 2);
        CHECK(circle_settle(circle, 100 * SECOND));
        hash[k] = history_hash(&circle->history);
        circle_destroy(&circle);
    }
    CHECK(hash[0] == hash[1]);
}

static void a_hub_with_segments_of_no_bytes_is_left(void)
{
    struct circle *circle = built(MANNER_ELASTIC, 2);
    struct msg msg = {.kind = MSG_JOINED,
                      .joined = {.run = 7, .session = 5, .window = 2}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    circle_step(circle, 0, &event);
    CHECK_EQUAL(PEER_NONE, circle->members[0].peers[0]);
    circle_run(circle, SECOND); /* it comes back, and is told better */
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_SUCCESS, circle->members[0].told.outcome);
    circle_destroy(&circle);
}

static void calls_that_do_not_agree_are_refused_by_name(void)
{
    struct circle *circle = built(MANNER_ELASTIC, 2);

    circle_floats(circle, 0, 10, 1);
    circle_floats(circle, 1, 20, 1);
    circle_call(circle, 0, COLLECTIVE_ALLREDUCE);
    circle_call(circle, 1, COLLECTIVE_ALLREDUCE);
    CHECK(circle_settle(circle, SECOND));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(ENDING_ABORT, circle->members[i].told.outcome);
        CHECK_CONTAINS("call 0", circle->members[i].told.text);
        CHECK_CONTAINS("80 bytes", circle->members[i].told.text);
        CHECK_CONTAINS("40 bytes", circle->members[i].told.text);
    }
    circle_destroy(&circle);
}

static void what_is_more_than_the_hub_keeps_is_refused(void)
{
    struct circle *circle = circle_new(MANNER_PATIENT, 1);
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_ALLREDUCE,
                          .scalar = SCALAR_F32,
                          .bytes = 2 << 20};

    circle_start_all(circle);
    circle_request(circle, 0, &ask);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_ABORT, circle->members[0].told.outcome);
    CHECK_CONTAINS("more than the hub keeps", circle->members[0].told.text);
    circle_destroy(&circle);
}

/* What members bring is counted when they come, not once all have: the second
 * of the last call would be too much, and is not sent any more. */
static void an_allgather_has_the_room_that_is_left(void)
{
    struct circle *circle = built(MANNER_PATIENT, 3);
    const unsigned floats = 5000, calls = 17;

    for (unsigned k = 0; k <= calls; k++) {
        for (unsigned i = 0; i < (k < calls ? 3 : 2); i++) {
            circle_floats(circle, i, floats, 1);
            circle_call(circle, i, COLLECTIVE_ALLGATHER);
            circle_run(circle, SECOND);
            CHECK(circle_view(circle).held <= circle->config.limit);
        }
        CHECK(circle_settle(circle, SECOND));
        for (unsigned i = 0; i < 2; i++)
            CHECK_EQUAL(k < calls ? ENDING_SUCCESS : ENDING_ABORT,
                        circle->members[i].told.outcome);
    }
    CHECK_CONTAINS("n1's 20000 bytes more than the hub keeps, 1048576",
                   circle->members[0].told.text);
    CHECK_EQUAL(3 * 4 * calls * floats, circle_view(circle).held);
    circle_destroy(&circle);
}

static void a_wait_ends_at_its_limit_and_says_for_what(void)
{
    struct circle *circle = built(MANNER_ELASTIC, 2);
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_BARRIER,
                          .limit = 3 * SECOND};

    circle_request(circle, 0, &ask);
    CHECK(circle_settle(circle, 4 * SECOND));
    CHECK_EQUAL(ENDING_FAIL, circle->members[0].told.outcome);
    CHECK_TEXT("waited 3.0 s for the others to come to call 0, barrier",
               circle->members[0].told.text);
    circle_call(circle, 1, COLLECTIVE_BARRIER);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_FAIL, circle->members[1].told.outcome);
    circle_destroy(&circle);
}

void add_collectives_collective_tests(CU_pSuite suite)
{
    TEST(an_allreduce_averages_in_segments);
    TEST(a_barrier_waits_for_the_last);
    TEST(a_build_is_answered_when_the_last_founder_joins);
    TEST(a_broadcast_comes_from_its_root);
    TEST(an_allgather_is_in_rank_order_with_any_sizes);
    TEST(a_spoilt_segment_is_noticed_and_sent_again);
    TEST(the_same_seed_gives_the_same_history);
    TEST(a_hub_with_segments_of_no_bytes_is_left);
    TEST(calls_that_do_not_agree_are_refused_by_name);
    TEST(what_is_more_than_the_hub_keeps_is_refused);
    TEST(an_allgather_has_the_room_that_is_left);
    TEST(a_wait_ends_at_its_limit_and_says_for_what);
}
