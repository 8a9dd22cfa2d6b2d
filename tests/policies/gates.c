#include "policies/policy.h"

#include "tests/check.h"

static int closes(const struct gate_rule *gate, unsigned live,
                  unsigned offered, unsigned required)
{
    const struct gate_state state = {
        .live = live, .offered = offered, .required = required};

    return gate->closes(&state);
}

static void sync_waits_for_all_that_are_live(void)
{
    CHECK(!closes(&gate_sync, 3, 0, 1));
    CHECK(!closes(&gate_sync, 3, 2, 1));
    CHECK(closes(&gate_sync, 3, 3, 1));
    CHECK(!closes(&gate_sync, 0, 0, 0));
}

static void async_waits_for_one(void)
{
    CHECK(!closes(&gate_async, 3, 0, 1));
    CHECK(closes(&gate_async, 3, 1, 1));
}

static void both_wait_for_the_nodes_that_are_required(void)
{
    CHECK(!closes(&gate_sync, 2, 2, 3));
    CHECK(!closes(&gate_async, 2, 1, 3));
    CHECK(closes(&gate_sync, 3, 3, 3));
    CHECK(closes(&gate_async, 3, 1, 3));
}

static void sync_shares_by_samples_and_divides_by_their_sum(void)
{
    static const double samples[3] = {1, 2, 5}, none[2] = {0, 0};

    CHECK_NEAR(1, gate_sync.share(samples, 3, 0), 0);
    CHECK_NEAR(5, gate_sync.share(samples, 3, 2), 0);
    CHECK_NEAR(8, gate_sync.whole(samples, 3, 3), 0);
    CHECK_NEAR(1, gate_sync.share(none, 2, 1), 0);
    CHECK_NEAR(2, gate_sync.whole(none, 2, 2), 0);
}

/* Dividing by the shares in the round would always give 1. */
static void async_divides_by_the_nodes_that_are_live(void)
{
    static const double samples[1] = {7};

    CHECK_NEAR(1, gate_async.share(samples, 1, 0), 0);
    CHECK_NEAR(4, gate_async.whole(samples, 1, 4), 0);
    CHECK_NEAR(1, gate_async.whole(samples, 1, 0), 0);
}

void add_policies_gates_tests(CU_pSuite suite)
{
    TEST(sync_waits_for_all_that_are_live);
    TEST(async_waits_for_one);
    TEST(both_wait_for_the_nodes_that_are_required);
    TEST(sync_shares_by_samples_and_divides_by_their_sum);
    TEST(async_divides_by_the_nodes_that_are_live);
}
