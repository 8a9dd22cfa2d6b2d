/* Whose offers are uploaded, and in what order. */
#include <math.h>

#include "tests/check.h"
#include "tests/policies/star.h"

/* The places in order as digits, with a stroke behind those wanted at first. */
static const char *chosen(const struct select_rule *rule,
                          const struct candidate *list, unsigned count,
                          const struct policy_context *context)
{
    static char words[32];
    unsigned order[16], wanted;
    unsigned most = rule->choose(list, count, context, order, &wanted);
    char *at = words;

    for (unsigned i = 0; i < most; i++) {
        if (i == wanted)
            *at++ = '|';
        *at++ = (char)('0' + order[i]);
    }
    *at = 0;
    return words;
}

static const char *by_score(const struct select_rule *rule, const double *score,
                            unsigned count, double centre)
{
    struct star star = star_of("mean", count, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[16];

    context.score = centre;
    star_candidates(list, score, count);
    return chosen(rule, list, count, &context);
}

static void ap_09_all_takes_all(void)
{
    static const double score[4] = {.3, NAN, .2, .5};

    CHECK_TEXT("0123", by_score(&select_all, score, 4, 1));
}

static void ap_09_best_takes_the_best_and_the_next_if_it_is_bad(void)
{
    static const double score[4] = {.3, .1, .2, .5};

    CHECK_TEXT("1|203", by_score(&select_best, score, 4, 1));
    CHECK_TEXT("12|03", by_score(&select_top, score, 4, 1));
}

static void ap_09_better_takes_those_that_beat_the_centre(void)
{
    static const double score[4] = {.3, .1, .2, .5};

    CHECK_TEXT("12", by_score(&select_better, score, 4, .3));
    CHECK_TEXT("1203", by_score(&select_better, score, 4, NO_SCORE));
}

static void ap_09_better_may_be_nobody(void)
{
    static const double score[4] = {.3, NAN, NO_SCORE, -INFINITY};
    struct star star = star_of("better", 3, 1);
    struct candidate list[3];
    static const double offered[3] = {1, 2, 3};

    CHECK_TEXT("", by_score(&select_better, score, 3, .3));
    CHECK_TEXT("", by_score(&select_better, score, 3, NAN));
    star.score = 0.1;
    star_candidates(list, score, 3);
    star_round(&star, list, offered, 3);
    CHECK_NEAR(1, (double)star.theta, 0);
}

static void ap_09_better_asks_for_two_standard_errors(void)
{
    static const double score[3] = {.3, .1, .2};
    struct star star = star_of("better", 3, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[3];

    star_candidates(list, score, 3);
    context.score = .4;
    context.error = 0.075;
    CHECK_TEXT("12", chosen(&select_better, list, 3, &context));
    context.error = 0.125;
    CHECK_TEXT("1", chosen(&select_better, list, 3, &context));
    context.error = NAN;
    CHECK_TEXT("", chosen(&select_better, list, 3, &context));
}

/* Candidates at 1, -.8 and 3, the centre at 2, the loss x^2 / 2. */
static void ap_09_all_best_and_better_on_a_quadratic(void)
{
    static const double offered[3] = {-1, -2.8, 1}, score[3] = {.5, .32, 4.5};
    static const char *const preset[3] = {"mean", "best", "better"};
    static const double expected[3] = {3.2 / 3, -.8, .1};

    for (unsigned i = 0; i < 3; i++) {
        struct star star = star_of(preset[i], 3, 2);
        struct candidate list[3];

        star.score = 2;
        star_candidates(list, score, 3);
        star_round(&star, list, offered, 3);
        CHECK_NEAR(expected[i], (double)star.theta, 1e-6);
    }
}

static void ap_11_order_is_score_then_version_then_node(void)
{
    static const double score[6] = {2, 1, 1, 1, NAN, NO_SCORE};
    struct star star = star_of("mean", 6, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[6];

    star_candidates(list, score, 6);
    list[3].version = list[5].version = 4;
    CHECK_TEXT("3|120", chosen(&select_best, list, 6, &context));
    list[3].node = 9;
    list[1].version = 4;
    CHECK_TEXT("1|320", chosen(&select_best, list, 6, &context));
}

static void ap_11_without_any_score_the_newest_leads(void)
{
    static const double score[3] = {NO_SCORE, NAN, INFINITY};
    struct star star = star_of("mean", 3, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[3];

    star_candidates(list, score, 3);
    CHECK_TEXT("0|12", chosen(&select_best, list, 3, &context));
    list[2].version = 1;
    CHECK_TEXT("2|01", chosen(&select_best, list, 3, &context));
}

static void the_operators_choice_wins(void)
{
    static const double score[3] = {.1, .2, NO_SCORE};
    struct star star = star_of("mean", 3, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[3];

    star_candidates(list, score, 3);
    context.pinned = 2;
    CHECK_TEXT("2|01", chosen(&select_best, list, 3, &context));
    context.pinned = 7;
    CHECK_TEXT("0|1", chosen(&select_best, list, 3, &context));
}

static void top_takes_no_more_than_there_are(void)
{
    static const double score[2] = {.3, .1};

    CHECK_TEXT("0", by_score(&select_top, score, 1, 1));
    CHECK_TEXT("10", by_score(&select_top, score, 2, 1));
    CHECK_TEXT("", by_score(&select_top, score, 0, 1));
    CHECK_TEXT("", by_score(&select_best, score, 0, 1));
}

void add_policies_selects_tests(CU_pSuite suite)
{
    TEST(ap_09_all_takes_all);
    TEST(ap_09_best_takes_the_best_and_the_next_if_it_is_bad);
    TEST(ap_09_better_takes_those_that_beat_the_centre);
    TEST(ap_09_better_may_be_nobody);
    TEST(ap_09_better_asks_for_two_standard_errors);
    TEST(ap_09_all_best_and_better_on_a_quadratic);
    TEST(ap_11_order_is_score_then_version_then_node);
    TEST(ap_11_without_any_score_the_newest_leads);
    TEST(the_operators_choice_wins);
    TEST(top_takes_no_more_than_there_are);
}
