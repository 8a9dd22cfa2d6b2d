#include "policies/policy.h"

#include "tests/check.h"
#include "tests/policies/star.h"

static int closes(const struct gate_rule *gate, unsigned live, unsigned offered,
                  unsigned required)
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
    CHECK_NEAR(1, gate_sync.share(1, 8), 0);
    CHECK_NEAR(5, gate_sync.share(5, 8), 0);
    CHECK_NEAR(8, gate_sync.divisor(8, 3, 3), 0);
    CHECK_NEAR(1, gate_sync.share(0, 0), 0);
    CHECK_NEAR(2, gate_sync.divisor(0, 2, 2), 0);
}

/* Dividing by the shares in the round would always give 1. */
static void async_divides_by_the_nodes_that_are_live(void)
{
    CHECK_NEAR(1, gate_async.share(7, 7), 0);
    CHECK_NEAR(4, gate_async.divisor(7, 1, 4), 0);
    CHECK_NEAR(1, gate_async.divisor(7, 1, 0), 0);
}

static int quorum_closes(unsigned offered, nanos waited)
{
    struct policy_numbers numbers = {.quorum = 0.6, .grace = 2};
    const struct gate_state state = {.live = 5,
                                     .offered = offered,
                                     .required = 1,
                                     .waited = waited,
                                     .numbers = &numbers};

    return gate_quorum.closes(&state);
}

static void a_quorum_closes_after_its_grace_or_when_all_are_in(void)
{
    CHECK(!quorum_closes(0, 9 * SECOND));
    CHECK(!quorum_closes(2, 9 * SECOND));
    CHECK(!quorum_closes(3, 2 * SECOND - 1));
    CHECK(quorum_closes(3, 2 * SECOND));
    CHECK(!quorum_closes(4, 0));
    CHECK(quorum_closes(5, 0));
}

static void a_quorum_of_none_waits_for_the_first_and_its_grace(void)
{
    struct policy_numbers numbers = {.quorum = 0, .grace = 1};
    struct gate_state state = {
        .live = 5, .required = 1, .waited = SECOND, .numbers = &numbers};

    CHECK(!gate_quorum.closes(&state));
    state.offered = 1;
    CHECK(gate_quorum.closes(&state));
    CHECK_EQUAL(SECOND, gate_quorum.longest(&state));
}

/* 0.28 * 25 is more than 7 as doubles multiply. */
static void a_quorum_counts_as_people_do(void)
{
    struct policy_numbers numbers = {.quorum = 0.28};
    const struct gate_state state = {
        .live = 25, .offered = 7, .required = 1, .numbers = &numbers};

    CHECK(gate_quorum.closes(&state));
}

/* How far three nodes that have learnt 1 move the centre. */
static void check_part(const struct reduce_rule *reduce, unsigned live,
                       unsigned present, double moved)
{
    struct policy policy = preset_find("mean")->policy;
    const double learnt[3] = {1, 1, 1};
    const double *const rows[3] = {learnt, learnt + 1, learnt + 2};
    struct candidate list[3];
    struct policy_context context = {
        .numbers = &policy.numbers, .live = live, .present = present};
    double share[3], whole, value = 0;

    policy.gate = &gate_quorum;
    policy.reduce = reduce;
    star_candidates(list, NULL, 3);
    policy_shares(&policy, list, 3, &context, share, &whole);
    for (unsigned i = 0; i < 3; i++)
        value += share[i] * learnt[i];
    if (reduce->rows)
        reduce->rows(rows, 3, 1, &policy.numbers, &value);
    CHECK_NEAR(moved, value / whole, 1e-15);
}

/* Whatever makes one of them: those that are passed over count, those that
 * are not there do not. */
static void n_of_all_nodes_of_a_quorum_move_the_centre_as_far(void)
{
    static const struct reduce_rule *const rules[] = {
        &reduce_mean, &reduce_median, &reduce_trimmed};

    for (unsigned i = 0; i < 3; i++) {
        check_part(rules[i], 3, 0, 1);
        check_part(rules[i], 4, 0, 0.75);
        check_part(rules[i], 6, 3, 0.5);
        check_part(rules[i], 6, 6, 1);
        check_part(rules[i], 2, 0, 1);
    }
}

/* gamma = 0.8, of a slack d t_step - T of 5 s. */
static void slack_closes_when_somebody_would_wait_for_results(void)
{
    struct policy_numbers numbers = {.quorum = 0.6, .grace = 2};
    struct gate_state state = {.live = 5,
                               .offered = 3,
                               .required = 1,
                               .slack = 5 * SECOND,
                               .waited = 4 * SECOND - 1,
                               .numbers = &numbers};

    CHECK_EQUAL(4 * SECOND, gate_slack.longest(&state));
    CHECK(!gate_slack.closes(&state));
    state.waited = 4 * SECOND;
    CHECK(gate_slack.closes(&state));
    state.offered = 2;
    CHECK(!gate_slack.closes(&state));
    state.offered = 5;
    state.waited = 0;
    CHECK(gate_slack.closes(&state));
}

static void without_slack_a_quorum_is_enough(void)
{
    struct policy_numbers numbers = {.quorum = 0.6, .grace = 2};
    struct gate_state state = {
        .live = 5, .offered = 3, .required = 1, .numbers = &numbers};

    CHECK(gate_slack.closes(&state));
    state.slack = -1; /* nothing is known */
    CHECK(!gate_slack.closes(&state));
    CHECK_EQUAL(2 * SECOND, gate_slack.longest(&state));
}

static int counted_closes(unsigned offered, uint64_t iterations, nanos waited)
{
    const struct gate_state state = {.live = 4,
                                     .offered = offered,
                                     .required = 1,
                                     .waited = waited,
                                     .iterations = iterations,
                                     .every = 10,
                                     .numbers = &policy_defaults};

    return gate_counted.closes(&state);
}

static void sd_14_counted_waits_for_all_and_their_iterations(void)
{
    CHECK(!counted_closes(3, 99, NEVER));
    CHECK(!counted_closes(4, 39, 0));
    CHECK(counted_closes(4, 40, 0));
    CHECK(counted_closes(4, 39, SECOND));
}

void add_policies_gates_tests(CU_pSuite suite)
{
    TEST(sync_waits_for_all_that_are_live);
    TEST(async_waits_for_one);
    TEST(both_wait_for_the_nodes_that_are_required);
    TEST(sync_shares_by_samples_and_divides_by_their_sum);
    TEST(async_divides_by_the_nodes_that_are_live);
    TEST(a_quorum_closes_after_its_grace_or_when_all_are_in);
    TEST(a_quorum_of_none_waits_for_the_first_and_its_grace);
    TEST(a_quorum_counts_as_people_do);
    TEST(n_of_all_nodes_of_a_quorum_move_the_centre_as_far);
    TEST(slack_closes_when_somebody_would_wait_for_results);
    TEST(without_slack_a_quorum_is_enough);
    TEST(sd_14_counted_waits_for_all_and_their_iterations);
}
