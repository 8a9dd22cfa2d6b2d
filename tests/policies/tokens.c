/* Shares by samples times samples of an iteration. */
#include <math.h>

#include "policies/policy.h"
#include "tests/check.h"
#include "tests/policies/star.h"

enum { MOST = 4 };

/* share[i] = the part of the whole that each one gets. */
static void shares(const double *samples, const uint64_t *steps, unsigned count,
                   double *share)
{
    struct star star = star_of("auto", count, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[MOST];
    double whole;

    star.policy.reduce = &reduce_tokens;
    star_candidates(list, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        list[i].samples = samples[i];
        list[i].steps = steps[i];
        list[i].norm = samples[i] > 0;
    }
    policy_shares(&star.policy, list, count, &context, share, &whole);
    for (unsigned i = 0; i < count; i++)
        share[i] /= whole;
}

static void who_has_larger_batches_counts_for_more(void)
{
    static const double samples[2] = {64, 96};
    static const uint64_t steps[2] = {4, 12};
    double share[2];

    shares(samples, steps, 2, share);
    CHECK_NEAR(1024 / (1024. + 768), share[0], 1e-12);
    CHECK_NEAR(768 / (1024. + 768), share[1], 1e-12);
}

static void with_equal_batches_samples_decide(void)
{
    static const double samples[2] = {64, 96};
    static const uint64_t steps[2] = {8, 12};
    double share[2];

    shares(samples, steps, 2, share);
    CHECK_NEAR(0.4, share[0], 1e-12);
    CHECK_NEAR(0.6, share[1], 1e-12);
}

static void the_absent_have_no_share(void)
{
    static const double samples[2] = {64, 0};
    static const uint64_t steps[2] = {8, 0};
    double share[2];

    shares(samples, steps, 2, share);
    CHECK_NEAR(1, share[0], 0);
    CHECK_NEAR(0, share[1], 0);
}

static void without_iterations_samples_decide(void)
{
    static const double samples[2] = {64, 192};
    static const uint64_t steps[2] = {8, 0};
    double share[2];

    shares(samples, steps, 2, share);
    CHECK_NEAR(0.25, share[0], 1e-12);
    CHECK_NEAR(0.75, share[1], 1e-12);
}

/* Samples are what a node says. */
static void none_counts_for_more_than_two_medians(void)
{
    static const double samples[3] = {64, 64, 1e9};
    static const uint64_t steps[3] = {8, 8, 1};
    double share[3];

    shares(samples, steps, 3, share);
    CHECK(share[2] <= 0.5);
}

void add_policies_tokens_tests(CU_pSuite suite)
{
    TEST(who_has_larger_batches_counts_for_more);
    TEST(with_equal_batches_samples_decide);
    TEST(the_absent_have_no_share);
    TEST(without_iterations_samples_decide);
    TEST(none_counts_for_more_than_two_medians);
}
