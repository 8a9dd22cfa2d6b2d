/* Who follows whom: LSGD, PBT, halving; and SDTL's criteria on them. */
#include <math.h>

#include "policies/counted.h"
#include "tests/check.h"
#include "tests/policies/star.h"

/* A round of LSGD or its like: the centre, then each node by its donor. */
static void follow(struct star *star, const double *score, double *x,
                   unsigned count)
{
    struct policy_context context = star_context(star);
    struct candidate list[STAR_MOST];
    double before[STAR_MOST];
    int donor[STAR_MOST];

    star_candidates(list, score, count);
    star->policy.receive->donors(list, count, &context, donor);
    star_round(star, list, x, count);
    for (unsigned i = 0; i < count; i++)
        before[i] = x[i];
    for (unsigned i = 0; i < count; i++) {
        CHECK(donor[i] >= RECEIVE_NOTHING && donor[i] < (int)count);
        if (donor[i] == RECEIVE_NOTHING)
            continue;
        star->sent =
            donor[i] == RECEIVE_CENTRE ? (double)star->theta : before[donor[i]];
        x[i] = star_receive(star, x[i]);
    }
}

static void t10_the_leader_stays_and_the_others_come_closer(void)
{
    static const double score[3] = {0.5, 0.2, 0.9};
    struct star star = star_of("lsgd", 3, 0);
    double x[3] = {1, 0.3, -4}, first = 0.7, last = -4.3;

    for (unsigned i = 0; i < 4; i++) {
        follow(&star, score, x, 3);
        first *= 0.9;
        last *= 0.9;
        CHECK_NEAR(0.3, x[1], 0);
        CHECK_NEAR(first, x[0] - 0.3, 1e-12);
        CHECK_NEAR(last, x[2] - 0.3, 1e-12);
        CHECK_NEAR((double)(float)0.3, (double)star.theta, 0);
    }
}

static void t10_a_full_pull_copies_and_none_leaves_alone(void)
{
    static const double score[2] = {0.5, 0.2};
    struct star star = star_of("lsgd", 2, 0);
    double x[2] = {1, 3};

    star.policy.numbers.pull = 0;
    follow(&star, score, x, 2);
    CHECK_NEAR(1, x[0], 0);
    star.policy.numbers.pull = 1;
    follow(&star, score, x, 2);
    CHECK_NEAR(3, x[0], 0);
}

static double well(double x)
{
    return (x * x - 1) * (x * x - 1);
}

static double downhill(double x)
{
    return x - 0.01 * 4 * x * (x * x - 1);
}

static void t11_easgd_never_leaves_between_two_wells(void)
{
    struct star star = star_of("easgd", 2, 0);
    double x[2] = {-0.2, 0.2};

    for (unsigned i = 0; i < 1000; i++) {
        star_equal(&star, x, 2);
        for (unsigned j = 0; j < 2; j++)
            x[j] = star_receive(&star, downhill(x[j]));
        CHECK_NEAR(0, (double)star.theta, 0);
    }
}

static void t11_lsgd_does(void)
{
    struct star star = star_of("lsgd", 2, 0);
    double x[2] = {-0.2, 0.2};

    for (unsigned i = 0; i < 1000; i++) {
        double score[2];

        for (unsigned j = 0; j < 2; j++) {
            x[j] = downhill(x[j]);
            score[j] = well(x[j]);
        }
        follow(&star, score, x, 2);
    }
    CHECK_NEAR(1, fabs((double)star.theta), 1e-3);
    CHECK_NEAR(x[0], x[1], 1e-3);
}

static void donors_of(const struct receive_rule *rule, const double *score,
                      unsigned count, const struct policy_context *context,
                      int *donor)
{
    struct candidate list[STAR_MOST];

    star_candidates(list, score, count);
    rule->donors(list, count, context, donor);
}

static void sd_10_who_has_no_score_never_leads(void)
{
    static const double some[3] = {NO_SCORE, 5, 6};
    static const double none[2] = {NO_SCORE, INFINITY};
    struct star star = star_of("lsgd", 3, 0);
    struct policy_context context = star_context(&star);
    int donor[3];

    donors_of(&receive_leader, some, 3, &context, donor);
    CHECK_EQUAL(1, donor[0]);
    CHECK_EQUAL(RECEIVE_NOTHING, donor[1]);
    CHECK_EQUAL(1, donor[2]);
    donors_of(&receive_leader, none, 2, &context, donor);
    CHECK_EQUAL(RECEIVE_NOTHING, donor[0]);
    CHECK_EQUAL(RECEIVE_NOTHING, donor[1]);
}

static void sd_11_ties_go_to_the_lowest_and_nan_never_leads(void)
{
    static const double tie[3] = {0.5, 0.3, 0.3};
    static const double nan_first[3] = {NAN, 0.9, INFINITY};
    struct star star = star_of("lsgd", 3, 0);
    struct policy_context context = star_context(&star);
    int donor[3];

    donors_of(&receive_leader, tie, 3, &context, donor);
    CHECK_EQUAL(1, donor[0]);
    CHECK_EQUAL(1, donor[2]);
    donors_of(&receive_leader, nan_first, 3, &context, donor);
    CHECK_EQUAL(1, donor[0]);
    CHECK_EQUAL(1, donor[2]);
}

/* Groups {0, 1} and {2, 3}; a local round, then the global one. */
static void sd_12_golden_vector(void)
{
    static const double score[4] = {.9, .7, .3, .5};
    static const double expected[4] = {1.39, 2.2, 4.0, -1.67};
    struct star star = star_of("lsgd", 4, 0);
    double x[4] = {1, 2, 4, -3};

    star.policy.numbers.group = 2;
    star.policy.numbers.global_every = 2;
    follow(&star, score, x, 4);
    CHECK_NEAR(1.1, x[0], 1e-12);
    CHECK_NEAR(-2.3, x[3], 1e-12);
    CHECK_NEAR(4, x[2], 0);
    CHECK_NEAR(2, x[1], 0);
    follow(&star, score, x, 4);
    for (unsigned i = 0; i < 4; i++)
        CHECK_NEAR(expected[i], x[i], 1e-12);
}

static void sd_12_one_group_or_always_global_has_one_leader(void)
{
    static const double score[4] = {.9, .7, .3, .5};
    struct star star = star_of("lsgd", 4, 0);
    struct policy_context context = star_context(&star);
    int donor[4];

    for (unsigned i = 0; i < 3; i++) {
        star.policy.numbers.group = i == 0 ? 0 : i == 1 ? 4 : 2;
        star.policy.numbers.global_every = i == 2 ? 1 : 4;
        donors_of(&receive_leader, score, 4, &context, donor);
        CHECK_EQUAL(2, donor[0]);
        CHECK_EQUAL(2, donor[1]);
        CHECK_EQUAL(RECEIVE_NOTHING, donor[2]);
        CHECK_EQUAL(2, donor[3]);
    }
}

static void sd_14_four_local_steps_then_four_that_communicate(void)
{
    struct counted phase = {0, 0};
    char answers[17] = "";

    for (unsigned i = 0; i < 16; i++)
        answers[i] = "LDS"[counted_ask(&phase, 4, 1, false)];
    CHECK_TEXT("LLLLDDDDLLLLDDDD", answers);
}

static void sd_14_the_end_comes_after_a_whole_phase(void)
{
    struct counted phase = {0, 0};
    char answers[10] = "";

    for (unsigned i = 0; i < 9; i++)
        answers[i] = "LDS"[counted_ask(&phase, 2, 2, i > 1)];
    CHECK_TEXT("LLLLDDSSS", answers);
}

static void sd_16_only_leaders_are_uploaded(void)
{
    static const double score[4] = {.9, .7, .3, .5};
    struct star star = star_of("lsgd", 4, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[4];
    unsigned order[4], wanted;
    int donor[4];

    star_candidates(list, score, 4);
    (void)star.policy.select->choose(list, 4, &context, order, &wanted);
    CHECK_EQUAL(1, wanted);
    CHECK_EQUAL(2, order[0]);
    receive_leader.donors(list, 4, &context, donor);
    for (unsigned i = 0; i < 4; i++)
        CHECK(donor[i] == 2 || donor[i] == RECEIVE_NOTHING);
}

/* Not what a receiver has after its pull, as SDTL's code has it. */
static void sd_19_the_centre_is_the_leaders_parameters(void)
{
    static const double score[3] = {0.5, 0.2, 0.9};
    struct star star = star_of("lsgd", 3, 7);
    double x[3] = {1, 3, -4};

    for (unsigned i = 0; i < 3; i++) {
        x[1] += i;
        follow(&star, score, x, 3);
        CHECK_NEAR(x[1], (double)star.theta, 0);
        CHECK(x[0] < x[1] && x[2] < x[1]);
    }
}

/* Scores 1 .. 8, a quarter: exactly the two worst copy one of the two best. */
static void pbt_replaces_the_worst_quarter_by_the_best(void)
{
    static const double score[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct star star = star_of("pbt", 8, 0);
    bool seen[2] = {false, false};

    for (star.round = 0; star.round < 40; star.round++) {
        struct policy_context context = star_context(&star);
        int donor[8];

        context.pinned = star.round % 2 ? 7 : -1; /* is no better for it */
        donors_of(&receive_quantile, score, 8, &context, donor);
        for (unsigned i = 0; i < 6; i++)
            CHECK_EQUAL(RECEIVE_NOTHING, donor[i]);
        for (unsigned i = 6; i < 8; i++) {
            CHECK(donor[i] == 0 || donor[i] == 1);
            seen[donor[i] == 1] = true;
        }
    }
    CHECK(seen[0] && seen[1]);
}

static void pbt_copies_nothing_among_equals_or_from_nobody(void)
{
    static const double equal[4] = {2, 2, 2, 2};
    static const double none[4] = {NAN, NO_SCORE, NAN, INFINITY};
    struct star star = star_of("pbt", 4, 0);
    struct policy_context context = star_context(&star);
    int donor[4];

    donors_of(&receive_quantile, equal, 4, &context, donor);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(RECEIVE_NOTHING, donor[i]);
    donors_of(&receive_quantile, none, 4, &context, donor);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(RECEIVE_NOTHING, donor[i]);
}

/* Runs halving rounds until nothing is left to choose; returns how many
 * lineages there are after each. */
static unsigned lineages_after(const struct candidate *list, unsigned count)
{
    unsigned different = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned j = 0;

        while (list[j].lineage != list[i].lineage)
            j++;
        different += j == i;
    }
    return different;
}

static void halve(struct candidate *list, unsigned count)
{
    struct star star = star_of("pbt", count, 0);
    struct policy_context context = star_context(&star);
    struct candidate before[STAR_MOST];
    int donor[STAR_MOST];

    receive_halving.donors(list, count, &context, donor);
    for (unsigned i = 0; i < count; i++)
        before[i] = list[i];
    for (unsigned i = 0; i < count; i++)
        if (donor[i] >= 0) {
            list[i].lineage = before[donor[i]].lineage;
            list[i].score = before[donor[i]].score;
        }
}

static void halving_leaves_half_of_the_lineages_and_in_the_end_one_set(void)
{
    for (unsigned count = 1; count <= 64; count++) {
        struct candidate list[64];
        unsigned left = count;

        star_candidates(list, NULL, count);
        for (unsigned i = 0; i < count; i++) {
            list[i].lineage = i;
            list[i].score = 1 + (i * 37 + 11) % 67;
        }
        while (left > 1) {
            left = (left + 1) / 2;
            halve(list, count);
            CHECK_EQUAL(left, lineages_after(list, count));
        }
        halve(list, count);
        for (unsigned i = 1; i < count; i++)
            CHECK_NEAR(list[0].score, list[i].score, 0);
    }
}

static void halving_clones_the_best_members_in_turn(void)
{
    /* Lineages 7: {0, 1}, 8: {2, 3}, 9: {4}, 6: {5, 6}; best 8, then 9. */
    static const uint64_t lineage[7] = {7, 7, 8, 8, 9, 6, 6};
    static const double score[7] = {4, 5, 9, 1, 2, 3, 8};
    static const int expected[7] = {4, 3, -2, -2, -2, 3, 4};
    struct star star = star_of("pbt", 7, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[7];
    int donor[7];

    star_candidates(list, score, 7);
    for (unsigned i = 0; i < 7; i++)
        list[i].lineage = lineage[i];
    receive_halving.donors(list, 7, &context, donor);
    for (unsigned i = 0; i < 7; i++)
        CHECK_EQUAL(expected[i], donor[i]);
}

static void halving_keeps_no_lineage_that_diverged(void)
{
    static const double score[4] = {NAN, 1, NO_SCORE, NAN};
    struct star star = star_of("pbt", 4, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[4];
    int donor[4];

    star_candidates(list, score, 4);
    for (unsigned i = 0; i < 4; i++)
        list[i].lineage = i;
    receive_halving.donors(list, 4, &context, donor);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(i == 1 ? RECEIVE_NOTHING : 1, donor[i]);
}

void add_policies_leaders_tests(CU_pSuite suite)
{
    TEST(t10_the_leader_stays_and_the_others_come_closer);
    TEST(t10_a_full_pull_copies_and_none_leaves_alone);
    TEST(t11_easgd_never_leaves_between_two_wells);
    TEST(t11_lsgd_does);
    TEST(sd_10_who_has_no_score_never_leads);
    TEST(sd_11_ties_go_to_the_lowest_and_nan_never_leads);
    TEST(sd_12_golden_vector);
    TEST(sd_12_one_group_or_always_global_has_one_leader);
    TEST(sd_14_four_local_steps_then_four_that_communicate);
    TEST(sd_14_the_end_comes_after_a_whole_phase);
    TEST(sd_16_only_leaders_are_uploaded);
    TEST(sd_19_the_centre_is_the_leaders_parameters);
    TEST(pbt_replaces_the_worst_quarter_by_the_best);
    TEST(pbt_copies_nothing_among_equals_or_from_nobody);
    TEST(halving_leaves_half_of_the_lineages_and_in_the_end_one_set);
    TEST(halving_clones_the_best_members_in_turn);
    TEST(halving_keeps_no_lineage_that_diverged);
}
