/* Collectives as such: what they give, how they are cut up, what is refused. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/virtual_group.h"

static struct virtual_group *built(enum manner manner, unsigned count)
{
    struct virtual_group *group = virtual_new(manner, count);

    virtual_start_all(group);
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, 10 * SECOND));
    for (unsigned i = 0; i < count; i++)
        CHECK_EQUAL(ENDING_SUCCESS, group->members[i].told.outcome);
    return group;
}

static void an_allreduce_averages_in_segments(void)
{
    struct virtual_group *group = built(MANNER_ELASTIC, 3);

    for (unsigned i = 0; i < 3; i++) {
        virtual_floats(group, i, 100, i + 1);
        virtual_call(group, i, COLLECTIVE_ALLREDUCE);
    }
    CHECK(virtual_settle(group, 10 * SECOND));
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQUAL(ENDING_SUCCESS, group->members[i].told.outcome);
        CHECK_EQUAL(400, group->members[i].told.bytes);
        CHECK_NEAR(2, (double)virtual_float(group, i, 0), 0);
        CHECK_NEAR(2, (double)virtual_float(group, i, 99), 0);
    }
    CHECK_EQUAL(3 * 7, group->inputs);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, virtual_view(group).held);
    virtual_destroy(&group);
}

static void a_barrier_waits_for_the_last(void)
{
    struct virtual_group *group = built(MANNER_ELASTIC, 3);

    virtual_call(group, 0, COLLECTIVE_BARRIER);
    virtual_call(group, 1, COLLECTIVE_BARRIER);
    virtual_run(group, SECOND);
    CHECK(group->members[0].asking);
    virtual_call(group, 2, COLLECTIVE_BARRIER);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_SUCCESS, group->members[0].told.outcome);
    virtual_destroy(&group);
}

/* A founder that has joined is there, whether it builds or not. */
static void a_build_is_answered_when_the_last_founder_joins(void)
{
    struct virtual_group *group = virtual_new(MANNER_PATIENT, 3);

    virtual_start(group, 0);
    virtual_start(group, 1);
    virtual_ask(group, 0, ASK_BUILD);
    virtual_run(group, SECOND);
    CHECK(group->members[0].asking);
    virtual_start(group, 2);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_SUCCESS, group->members[0].told.outcome);
    CHECK_EQUAL(3, group->members[0].told.size);
    virtual_destroy(&group);
}

static void a_broadcast_comes_from_its_root(void)
{
    struct virtual_group *group = built(MANNER_PATIENT, 3);
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_BROADCAST,
                          .root = 1,
                          .bytes = 200};

    for (unsigned i = 0; i < 3; i++) {
        virtual_floats(group, i, 50, i);
        virtual_request(group, i, &ask);
    }
    CHECK(virtual_settle(group, SECOND));
    CHECK_NEAR(1, (double)virtual_float(group, 0, 49), 0);
    CHECK_NEAR(1, (double)virtual_float(group, 2, 0), 0);
    CHECK_EQUAL(0, group->members[0].prepared);
    CHECK_EQUAL(1, group->members[1].prepared);
    CHECK_EQUAL(0, group->members[1].told.bytes);
    virtual_destroy(&group);
}

static void an_allgather_is_in_rank_order_with_any_sizes(void)
{
    struct virtual_group *group = built(MANNER_PATIENT, 4);
    const unsigned sizes[] = {30, 0, 1, 17};
    unsigned at = 0;

    for (unsigned i = 0; i < 4; i++) {
        virtual_floats(group, i, sizes[i], i + 1);
        virtual_call(group, i, COLLECTIVE_ALLGATHER);
    }
    CHECK(virtual_settle(group, SECOND));
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < sizes[i]; j++, at++)
            for (unsigned k = 0; k < 4; k++)
                CHECK_NEAR(i + 1, (double)virtual_float(group, k, at), 0);
    CHECK_EQUAL(48 * 4, group->members[3].told.bytes);
    virtual_destroy(&group);
}

static void a_spoilt_segment_is_noticed_and_sent_again(void)
{
    struct virtual_group *group = built(MANNER_PATIENT, 2);

    for (unsigned i = 0; i < 2; i++)
        virtual_floats(group, i, 100, 2 * i);
    group->spoil = true;
    virtual_call(group, 0, COLLECTIVE_ALLREDUCE);
    virtual_call(group, 1, COLLECTIVE_ALLREDUCE);
    CHECK(virtual_settle(group, 10 * SECOND));
    CHECK(!group->spoil);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(ENDING_SUCCESS, group->members[i].told.outcome);
        CHECK_NEAR(1, (double)virtual_float(group, i, 0), 0);
        CHECK_NEAR(1, (double)virtual_float(group, i, 99), 0);
    }
    virtual_destroy(&group);
}

static void the_same_seed_gives_the_same_history(void)
{
    uint64_t hash[2];

    for (unsigned k = 0; k < 2; k++) {
        struct virtual_group *group = virtual_new(MANNER_ELASTIC, 4);

        group->jitter = 5 * MILLISECOND;
        prng_seed(&group->prng, 11);
        virtual_start_all(group);
        virtual_ask_all(group, ASK_BUILD);
        CHECK(virtual_settle(group, 10 * SECOND));
        for (unsigned i = 0; i < 4; i++) {
            virtual_floats(group, i, 200, i);
            virtual_call(group, i, COLLECTIVE_ALLREDUCE);
        }
        virtual_run(group, 10 * MILLISECOND);
        virtual_cut(group, 2);
        CHECK(virtual_settle(group, 100 * SECOND));
        hash[k] = history_hash(&group->history);
        virtual_destroy(&group);
    }
    CHECK(hash[0] == hash[1]);
}

static void a_hub_with_segments_of_no_bytes_is_left(void)
{
    struct virtual_group *group = built(MANNER_ELASTIC, 2);
    struct msg msg = {.kind = MSG_JOINED,
                      .joined = {.run = 7, .session = 5, .window = 2}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    virtual_step(group, 0, &event); /* what nobody has asked for is nothing */
    CHECK(group->members[0].peers[0] != PEER_NONE);
    virtual_cut(group, 0);
    virtual_run(group, 251 * MILLISECOND); /* it has said JOIN */
    virtual_step(group, 0, &event);
    CHECK_EQUAL(PEER_NONE, group->members[0].peers[0]);
    virtual_run(group, SECOND); /* it comes back, and is told better */
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_SUCCESS, group->members[0].told.outcome);
    virtual_destroy(&group);
}

static void calls_that_do_not_agree_are_refused_by_name(void)
{
    struct virtual_group *group = built(MANNER_ELASTIC, 2);

    virtual_floats(group, 0, 10, 1);
    virtual_floats(group, 1, 20, 1);
    virtual_call(group, 0, COLLECTIVE_ALLREDUCE);
    virtual_call(group, 1, COLLECTIVE_ALLREDUCE);
    CHECK(virtual_settle(group, SECOND));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(ENDING_ABORT, group->members[i].told.outcome);
        CHECK_CONTAINS("call 0", group->members[i].told.text);
        CHECK_CONTAINS("80 bytes", group->members[i].told.text);
        CHECK_CONTAINS("40 bytes", group->members[i].told.text);
    }
    virtual_destroy(&group);
}

static void what_is_more_than_the_hub_keeps_is_refused(void)
{
    struct virtual_group *group = virtual_new(MANNER_PATIENT, 1);
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_ALLREDUCE,
                          .scalar = SCALAR_F32,
                          .bytes = 2 << 20};

    virtual_start_all(group);
    virtual_request(group, 0, &ask);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_ABORT, group->members[0].told.outcome);
    CHECK_CONTAINS("more than the hub keeps", group->members[0].told.text);
    virtual_destroy(&group);
}

/* What members bring is counted when they come, not once all have: the second
 * of the last call would be too much, and is not sent any more. */
static void an_allgather_has_the_room_that_is_left(void)
{
    struct virtual_group *group = built(MANNER_PATIENT, 3);
    const unsigned floats = 5000, calls = 17;

    for (unsigned k = 0; k <= calls; k++) {
        for (unsigned i = 0; i < (k < calls ? 3 : 2); i++) {
            virtual_floats(group, i, floats, 1);
            virtual_call(group, i, COLLECTIVE_ALLGATHER);
            virtual_run(group, SECOND);
            CHECK(virtual_view(group).held <= group->config.limit);
        }
        CHECK(virtual_settle(group, SECOND));
        for (unsigned i = 0; i < 2; i++)
            CHECK_EQUAL(k < calls ? ENDING_SUCCESS : ENDING_ABORT,
                        group->members[i].told.outcome);
    }
    CHECK_CONTAINS("n1's 20000 bytes more than the hub keeps, 1048576",
                   group->members[0].told.text);
    CHECK_EQUAL(3 * 4 * calls * floats, virtual_view(group).held);
    virtual_destroy(&group);
}

static void what_a_member_says_is_bounded(void)
{
    struct virtual_group *group = built(MANNER_ELASTIC, 2);
    struct msg msg = {.kind = MSG_SAY, .say = {.text = "again"}};
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = &msg};

    for (unsigned i = 0; i < 120; i++)
        virtual_step(group, 0, &event);
    virtual_step(group, 1, &event);
    virtual_run(group, SECOND);
    CHECK_EQUAL(50 + 1, group->said);
    virtual_step(group, 0, &event);
    virtual_run(group, SECOND);
    CHECK_EQUAL(50 + 2, group->said);
    virtual_destroy(&group);
}

static void a_wait_ends_at_its_limit_and_says_for_what(void)
{
    struct virtual_group *group = built(MANNER_ELASTIC, 2);
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .collective = COLLECTIVE_BARRIER,
                          .limit = 3 * SECOND};

    virtual_request(group, 0, &ask);
    CHECK(virtual_settle(group, 4 * SECOND));
    CHECK_EQUAL(ENDING_FAIL, group->members[0].told.outcome);
    CHECK_TEXT("waited 3.0 s for the others to come to call 0, barrier",
               group->members[0].told.text);
    virtual_call(group, 1, COLLECTIVE_BARRIER);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_FAIL, group->members[1].told.outcome);
    virtual_destroy(&group);
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
    TEST(what_a_member_says_is_bounded);
    TEST(an_allgather_has_the_room_that_is_left);
    TEST(a_wait_ends_at_its_limit_and_says_for_what);
}
