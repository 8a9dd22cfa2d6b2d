/* What is too good to be built on untested. */
#include "policies/claims.h"

#include <math.h>

#include "core/score.h"
#include "tests/check.h"
#include "tests/policies/star.h"

enum { MOST = 8 };

/* How many of the list boast; bit i is of candidate i. */
static unsigned boasts(const struct candidate *list, unsigned count, bool whole)
{
    const struct claims claims = claims_of(list, count);
    unsigned who = 0;

    for (unsigned i = 0; i < count; i++)
        if (claims_boast(&claims, &list[i], whole))
            who |= 1U << i;
    return who;
}

static unsigned boast_by_score(const double *score, unsigned count)
{
    struct candidate list[MOST];

    star_candidates(list, score, count);
    return boasts(list, count, true);
}

static void less_than_a_fifth_of_all_other_losses_is_a_boast(void)
{
    static const double far[] = {2.3, 1e-27, 2.1}, near[] = {2.3, 0.5, 2.1};
    static const double below[] = {-2, -1e27, -1}, none[] = {2, NO_SCORE, 1};

    CHECK_EQUAL(2, boast_by_score(far, 3));
    CHECK_EQUAL(2, boast_by_score(far, 2));
    CHECK_EQUAL(0, boast_by_score(far + 1, 1));
    CHECK_EQUAL(0, boast_by_score(near, 3));
    CHECK_EQUAL(2, boast_by_score(below, 3));
    CHECK_EQUAL(0, boast_by_score(none, 3));
}

/* There is no telling them from two that are right. */
static void two_that_boast_together_are_believed(void)
{
    static const double score[] = {2.3, 1e-27, 2.1, 1e-27};

    CHECK_EQUAL(0, boast_by_score(score, 4));
}

static void parameters_longer_than_four_medians_are_a_boast(void)
{
    static const double score[] = {1, 2, 3, 4},
                        length[] = {1e27, 3, 13, (double)NAN};
    struct candidate list[MOST];

    star_candidates(list, score, 4);
    for (unsigned i = 0; i < 4; i++)
        list[i].norm = length[i];
    CHECK_EQUAL(1, boasts(list, 3, true));
    CHECK_EQUAL(9, boasts(list, 4, true));
    CHECK_EQUAL(0, boasts(list, 2, true));
    CHECK_EQUAL(0, boasts(list, 4, false));
}

static void a_test_far_above_what_most_claim_belies(void)
{
    static const double score[] = {1e-27, 2, 2.2};
    struct candidate list[MOST];
    struct claims claims;

    star_candidates(list, score, 3);
    claims = claims_of(list, 3);
    CHECK(!claims_belied(&claims, 3.5));
    CHECK(claims_belied(&claims, 3.7));
    CHECK(claims_belied(&claims, (double)NAN));
}

void add_policies_claims_tests(CU_pSuite suite)
{
    TEST(less_than_a_fifth_of_all_other_losses_is_a_boast);
    TEST(two_that_boast_together_are_believed);
    TEST(parameters_longer_than_four_medians_are_a_boast);
    TEST(a_test_far_above_what_most_claim_belies);
}
