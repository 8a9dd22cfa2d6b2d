/* Who is replaced, and who is spared. */
#include "policies/policy.h"

#include <math.h>

#include "core/prng.h"
#include "tests/check.h"

enum { MANY = 64 };

/* Nodes of scores 1, the last of which everything speaks against: bad for the
 * second time, long after its last replacement, and not for being slow. */
static void accuse(struct preempt_candidate *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        list[i] = (struct preempt_candidate){.node = i,
                                             .score = 1,
                                             .verified = true,
                                             .error = 0.1,
                                             .trajectory = 1,
                                             .samples = 1000,
                                             .remaining = 4000,
                                             .rounds = 2,
                                             .strikes = 1};
    list[count - 1].score = 2;
    list[count - 1].trajectory = 1.1;
}

static void judge_by(const struct preempt_rule *rule,
                     const struct policy_numbers *numbers,
                     struct preempt_candidate *list, unsigned count)
{
    const struct policy_context context = {
        .numbers = numbers, .live = count, .seed = 1, .pinned = -1};

    rule->judge(list, count, &context);
}

static void judge(struct preempt_candidate *list, unsigned count)
{
    judge_by(&preempt_margin, &policy_defaults, list, count);
}

static unsigned replaced(const struct preempt_candidate *list, unsigned count)
{
    unsigned replaced = 0;

    for (unsigned i = 0; i < count; i++)
        replaced += list[i].replaced;
    return replaced;
}

/* Eight alike, against whom everything speaks if the first one, which says that
 * it is far better, does not lie. */
static unsigned replaced_for_a_claim(bool verified)
{
    struct preempt_candidate list[8];

    accuse(list, 8);
    for (unsigned i = 0; i < 8; i++) {
        list[i].score = list[i].trajectory = i ? 1 : 0.01;
        list[i].verified = verified;
    }
    judge(list, 8);
    return replaced(list, 8);
}

static void nobody_is_replaced_for_what_one_node_says_of_itself(void)
{
    CHECK_EQUAL(0, replaced_for_a_claim(false));
    CHECK_EQUAL(2, replaced_for_a_claim(true));
}

static void who_is_worse_than_two_is_replaced_whatever_is_confirmed(void)
{
    struct preempt_candidate list[8];

    accuse(list, 8);
    for (unsigned i = 0; i < 8; i++)
        list[i].verified = false;
    judge(list, 8);
    CHECK(list[7].replaced);
    CHECK_EQUAL(1, replaced(list, 8));
}

static void t24_the_accused_is_replaced(void)
{
    struct preempt_candidate list[8];

    accuse(list, 8);
    judge(list, 8);
    CHECK(list[7].bad && list[7].replaced);
    for (unsigned i = 0; i < 7; i++)
        CHECK(!list[i].bad && !list[i].replaced);
}

/* Every combination of what must hold. */
static void t24_all_conditions_must_hold(void)
{
    for (unsigned held = 0; held < 32; held++) {
        struct preempt_candidate list[4];
        struct preempt_candidate *one = &list[3];

        accuse(list, 4);
        one->slope = 1; /* catch-up: 1 * 1000 / 1 = remaining / 4 */
        one->error = held & 1 ? 0.001 : 0.48;  /* a: 2.13 errors, not 2.08 */
        one->score = held & 2 ? 2 : 1.02;      /* b: 3 % */
        one->strikes = held & 4 ? 1 : 0;       /* c */
        one->rounds = held & 8 ? 2 : 1;        /* d */
        one->trajectory = held & 16 ? 1.1 : 1; /* e */
        judge(list, 4);
        CHECK_EQUAL((held & 3) == 3, one->bad);
        CHECK_EQUAL(held == 31, one->replaced);
    }
}

static bool is_bad_at(unsigned count, double errors)
{
    struct preempt_candidate list[16];

    accuse(list, count);
    list[count - 1].error = 1 / errors;
    judge(list, count);
    return list[count - 1].bad;
}

static void t24_chance_is_corrected_for_the_number_of_nodes(void)
{
    CHECK(!is_bad_at(4, 2.12) && is_bad_at(4, 2.13));
    CHECK(!is_bad_at(8, 2.44) && is_bad_at(8, 2.46));
    CHECK(!is_bad_at(16, 2.71) && is_bad_at(16, 2.72));
    CHECK(!is_bad_at(2, 1.99) && is_bad_at(2, 2.01));
}

static bool is_replaced(const struct preempt_candidate *accused)
{
    struct preempt_candidate list[4];

    accuse(list, 4);
    list[3] = *accused;
    judge(list, 4);
    return list[3].replaced;
}

static void t24_who_is_only_slow_is_spared_if_it_can_catch_up(void)
{
    struct preempt_candidate list[4], one;

    accuse(list, 4);
    one = list[3];
    one.trajectory = 1;
    one.slope = 1;
    one.remaining = 4000;
    CHECK(!is_replaced(&one));
    one.remaining = 3999;
    CHECK(is_replaced(&one));
    one.remaining = UINT64_MAX;
    CHECK(!is_replaced(&one));
    one.slope = -1;
    CHECK(is_replaced(&one));
    one.slope = 0;
    CHECK(!is_replaced(&one));
    one.trajectory = NO_SCORE;
    CHECK(is_replaced(&one));
}

static void t24_who_diverged_is_replaced_at_once(void)
{
    static const double score[3] = {NAN, INFINITY, -INFINITY};

    for (unsigned i = 0; i < 3; i++) {
        struct preempt_candidate list[3];

        accuse(list, 3);
        list[2] = (struct preempt_candidate){.node = 2, .score = score[i]};
        judge(list, 3);
        CHECK(list[2].replaced);
    }
}

static void t24_who_has_no_score_is_left_alone(void)
{
    struct preempt_candidate list[4];

    accuse(list, 4);
    list[3].score = NO_SCORE;
    judge(list, 4);
    CHECK(!list[3].bad && !list[3].replaced);
}

static void t24_no_more_than_a_quarter_goes_at_a_time(void)
{
    struct preempt_candidate list[8];

    accuse(list, 8);
    for (unsigned i = 1; i < 8; i++) {
        list[i].score = 2 + i;
        list[i].trajectory = 2;
    }
    list[4].score = NAN;
    judge(list, 8);
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(i == 4 || i == 7, list[i].replaced);
}

static void ap_10_off_never_replaces(void)
{
    CHECK(preempt_off.judge == NULL);
}

static void ap_10_the_last_good_node_stays(void)
{
    struct preempt_candidate list[3];

    accuse(list, 1);
    judge(list, 1);
    CHECK(!list[0].replaced);
    accuse(list, 3);
    list[0].score = list[1].score = list[2].score = NAN;
    judge(list, 3);
    for (unsigned i = 0; i < 3; i++)
        CHECK(list[i].bad && !list[i].replaced);
    list[1].score = 9;
    judge(list, 3);
    CHECK(!list[1].replaced);
}

static void ap_10_the_worst_quantile_goes_after_enough_strikes(void)
{
    struct preempt_candidate list[8];

    accuse(list, 8);
    judge_by(&preempt_quantile, &policy_defaults, list, 8);
    CHECK(list[7].replaced && !list[6].replaced);
    list[7].strikes = 0;
    judge_by(&preempt_quantile, &policy_defaults, list, 8);
    CHECK(list[7].bad && !list[7].replaced);
    list[7].strikes = 5;
    list[7].rounds = 1;
    judge_by(&preempt_quantile, &policy_defaults, list, 8);
    CHECK(list[7].bad && !list[7].replaced);
}

static void randomize(struct prng *prng, struct preempt_candidate *list,
                      unsigned count)
{
    static const double odd[4] = {NAN, INFINITY, NO_SCORE, 1};

    for (unsigned i = 0; i < count; i++)
        list[i] = (struct preempt_candidate){
            .node = i,
            .score = prng_below(prng, 4) ? exp(prng_normal(prng))
                                         : odd[prng_below(prng, 4)],
            .error = prng_unit(prng) / 10,
            .trajectory = prng_unit(prng),
            .slope = prng_normal(prng),
            .samples = prng_below(prng, 1000),
            .remaining = prng_below(prng, 1000),
            .rounds = prng_below(prng, 5),
            .strikes = (unsigned)prng_below(prng, 4)};
}

static double best_of(const struct preempt_candidate *list, unsigned count)
{
    double best = NO_SCORE;

    for (unsigned i = 0; i < count; i++)
        if (isfinite(list[i].score) && list[i].score < best)
            best = list[i].score;
    return best;
}

static void ap_10_who_goes_is_bad_and_the_best_stays(void)
{
    struct prng prng;

    prng_seed(&prng, 10);
    for (unsigned i = 0; i < 2000; i++) {
        struct preempt_candidate list[MANY];
        unsigned count = 1 + (unsigned)prng_below(&prng, MANY), gone = 0;

        randomize(&prng, list, count);
        judge_by(i % 2 ? &preempt_margin : &preempt_quantile, &policy_defaults,
                 list, count);
        for (unsigned j = 0; j < count; j++) {
            gone += list[j].replaced;
            if (!list[j].replaced)
                continue;
            CHECK(list[j].bad && list[j].score != best_of(list, count));
        }
        CHECK(gone <= (count / 4 ? count / 4 : 1));
    }
}

void add_policies_preempt_tests(CU_pSuite suite)
{
    TEST(nobody_is_replaced_for_what_one_node_says_of_itself);
    TEST(who_is_worse_than_two_is_replaced_whatever_is_confirmed);
    TEST(t24_the_accused_is_replaced);
    TEST(t24_all_conditions_must_hold);
    TEST(t24_chance_is_corrected_for_the_number_of_nodes);
    TEST(t24_who_is_only_slow_is_spared_if_it_can_catch_up);
    TEST(t24_who_diverged_is_replaced_at_once);
    TEST(t24_who_has_no_score_is_left_alone);
    TEST(t24_no_more_than_a_quarter_goes_at_a_time);
    TEST(ap_10_off_never_replaces);
    TEST(ap_10_the_last_good_node_stays);
    TEST(ap_10_the_worst_quantile_goes_after_enough_strikes);
    TEST(ap_10_who_goes_is_bad_and_the_best_stays);
}
