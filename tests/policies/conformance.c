/* What every rule and every preset must do, whatever it is: a new row in
 * policies.def is tested here without another line. */
#include <math.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/policies/star.h"

enum { MOST = 64 };

static double half_square(double x)
{
    return x * x / 2;
}

/* Distinct nodes in rank order, some without a score. */
static void random_candidates(struct prng *prng, struct candidate *list,
                              unsigned count)
{
    static const double odd[3] = {NO_SCORE, NAN, INFINITY};

    for (unsigned i = 0; i < count; i++)
        list[i] = (struct candidate){.node = i,
                                     .lineage = prng_below(prng, 5),
                                     .version = prng_below(prng, 3),
                                     .lag = prng_below(prng, 20),
                                     .score = prng_below(prng, 5)
                                                  ? exp(prng_normal(prng))
                                                  : odd[prng_below(prng, 3)],
                                     .samples = (double)prng_below(prng, 50),
                                     .norm = exp(prng_normal(prng))};
}

/* place[i]: where the one that was i-th is now. */
static void shuffle(struct prng *prng, unsigned *place, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned j = (unsigned)prng_below(prng, i + 1);

        place[i] = i;
        place[i] = place[j];
        place[j] = i;
    }
}

static struct star star_at(unsigned preset, unsigned live)
{
    struct star star = star_of(presets[preset].name, live, 0.5);

    star.score = 1.5;
    star.error = 0.01;
    star.loss = half_square;
    return star;
}

static void check_arrival(unsigned preset, unsigned count, struct prng *prng)
{
    struct star star = star_at(preset, count);
    struct star other = star;
    struct candidate list[MOST], moved[MOST];
    double offered[MOST], there[MOST];
    unsigned place[MOST];

    for (unsigned round = 0; round < 3; round++) {
        random_candidates(prng, list, count);
        shuffle(prng, place, count);
        for (unsigned i = 0; i < count; i++) {
            offered[i] = prng_normal(prng);
            moved[place[i]] = list[i];
            there[place[i]] = offered[i];
        }
        star_round(&star, list, offered, count);
        star_round(&other, moved, there, count);
        CHECK(isfinite((double)star.theta));
        CHECK_NEAR((double)star.theta, (double)other.theta,
                   1e-5 * (1 + fabs((double)star.theta)));
    }
}

static void no_preset_depends_on_who_comes_first(void)
{
    struct prng prng;

    prng_seed(&prng, 1);
    for (unsigned preset = 0; preset < preset_count; preset++)
        for (unsigned count = 1; count <= MOST; count += 1 + count / 6)
            check_arrival(preset, count, &prng);
}

/* All nodes of a round offer the same: as if there were one, but for longer
 * steps, which one alone does not take. */
static void equal_offers_are_as_one(void)
{
    for (unsigned preset = 0; preset < preset_count; preset++)
        for (unsigned count = 1; count <= MOST; count++) {
            struct star all = star_at(preset, count), one = star_at(preset, 1);
            struct candidate list[MOST];
            double offered[MOST], score[MOST];

            if (!all.policy.gate->batch)
                continue;
            all.policy.numbers.outer_lr = one.policy.numbers.outer_lr = 1;
            for (unsigned i = 0; i < count; i++) {
                offered[i] = -0.25;
                score[i] = 1;
            }
            star_candidates(list, score, count);
            star_round(&all, list, offered, count);
            star_round(&one, list, offered, 1);
            if (all.policy.merge->weight != merge_elastic.weight ||
                all.policy.select == &select_all)
                CHECK_NEAR((double)one.theta, (double)all.theta, 1e-6);
        }
}

static void a_good_offer_moves_every_centre_towards_it(void)
{
    for (unsigned preset = 0; preset < preset_count; preset++) {
        struct star star = star_at(preset, 1);
        bool gradient = star.policy.exchange == EXCHANGE_GRADIENT;
        struct candidate list[1];
        double offered = gradient ? 0.25 : -0.25, score = 1;

        star_candidates(list, &score, 1);
        star_round(&star, list, &offered, 1);
        CHECK((double)star.theta < 0.5);
    }
}

static void no_rule_lets_a_wrong_update_lead(void)
{
    static const double wrong[2] = {NAN, INFINITY};

    for (unsigned rule = 0; rule < reduce_rule_count; rule++)
        for (unsigned count = 5; count <= MOST; count++) {
            struct star star = star_at(0, count);
            struct candidate list[MOST];
            double offered[MOST];

            star.policy.reduce = reduce_rules[rule];
            star_candidates(list, NULL, count);
            for (unsigned i = 0; i < count; i++)
                offered[i] = 0.001 * i - 0.5;
            offered[count / 2] = wrong[count % 2];
            star_round(&star, list, offered, count);
            if (reduce_rules[rule]->rows || reduce_rules[rule]->judge)
                CHECK(isfinite((double)star.theta));
        }
}

static bool is_known(const struct candidate *one)
{
    return isfinite(one->score) && one->score < NO_SCORE;
}

static unsigned known_of(const struct candidate *list, unsigned count)
{
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        known += is_known(&list[i]);
    return known;
}

static void check_select(const struct select_rule *rule,
                         const struct candidate *list, unsigned count,
                         const struct policy_context *context)
{
    unsigned order[MOST], wanted = 77;
    unsigned most = rule->choose(list, count, context, order, &wanted);
    bool seen[MOST] = {false};

    CHECK(most <= count && wanted <= most);
    for (unsigned i = 0; i < most; i++) {
        CHECK(order[i] < count && !seen[order[i]]);
        seen[order[i]] = true;
    }
    if (rule != &select_all && most && known_of(list, count))
        CHECK(is_known(&list[order[0]]));
}

static void every_selection_is_of_different_candidates(void)
{
    struct prng prng;

    prng_seed(&prng, 2);
    for (unsigned rule = 0; rule < select_rule_count; rule++)
        for (unsigned count = 0; count <= MOST; count++) {
            struct star star = star_at(0, count);
            struct policy_context context = star_context(&star);
            struct candidate list[MOST];

            random_candidates(&prng, list, count);
            check_select(select_rules[rule], list, count, &context);
            for (unsigned i = 1; i < count; i++)
                list[i] = list[i / 2];
            check_select(select_rules[rule], list, count, &context);
        }
}

static void check_donors(const struct receive_rule *rule,
                         const struct candidate *list, unsigned count,
                         const struct policy_context *context, int *donor)
{
    rule->donors(list, count, context, donor);
    for (unsigned i = 0; i < count; i++) {
        CHECK(donor[i] >= RECEIVE_NOTHING && donor[i] < (int)count);
        CHECK(donor[i] != (int)i);
        if (donor[i] >= 0)
            CHECK(is_known(&list[donor[i]]));
    }
}

static void check_receive(const struct receive_rule *rule, unsigned count,
                          struct prng *prng)
{
    struct star star = star_at(0, count);
    struct policy_context context = star_context(&star);
    struct candidate list[MOST], moved[MOST];
    unsigned place[MOST];
    int donor[MOST], other[MOST];

    context.round = prng_below(prng, 8);
    random_candidates(prng, list, count);
    shuffle(prng, place, count);
    for (unsigned i = 0; i < count; i++)
        moved[place[i]] = list[i];
    check_donors(rule, list, count, &context, donor);
    check_donors(rule, moved, count, &context, other);
    for (unsigned i = 0; i < count; i++)
        CHECK_EQUAL(donor[i] < 0 ? donor[i] : (int)place[donor[i]],
                    other[place[i]]);
    for (unsigned i = 1; i < count; i++)
        list[i] = list[i / 2];
    check_donors(rule, list, count, &context, donor);
}

static void every_donor_has_a_score_whoever_comes_first(void)
{
    struct prng prng;

    prng_seed(&prng, 3);
    for (unsigned rule = 0; rule < receive_rule_count; rule++)
        for (unsigned count = 0; count <= MOST; count++)
            if (receive_rules[rule]->donors)
                check_receive(receive_rules[rule], count, &prng);
}

static void damping_only_ever_falls(void)
{
    for (unsigned rule = 0; rule < damping_rule_count; rule++) {
        double (*factor)(uint64_t) = damping_rules[rule]->factor;

        CHECK_NEAR(1, factor(0), 0);
        for (uint64_t lag = 1; lag; lag *= 2) {
            CHECK(factor(lag) <= factor(lag - 1));
            CHECK(factor(lag) > 0);
        }
    }
}

static void every_gate_closes_when_all_is_there(void)
{
    for (unsigned rule = 0; rule < gate_rule_count; rule++)
        for (unsigned live = 1; live <= MOST; live++) {
            struct gate_state state = {.live = live,
                                       .required = live,
                                       .iterations = (uint64_t)20 * live,
                                       .every = 20,
                                       .numbers = &policy_defaults};

            CHECK(!gate_rules[rule]->closes(&state));
            state.offered = live;
            CHECK(gate_rules[rule]->closes(&state));
            state.required = live + 1;
            CHECK(!gate_rules[rule]->closes(&state));
            if (gate_rules[rule]->longest)
                CHECK(gate_rules[rule]->longest(&state) >= 0);
        }
}

static void shares_add_up_to_the_whole_at_most(void)
{
    struct prng prng;

    prng_seed(&prng, 4);
    for (unsigned rule = 0; rule < gate_rule_count; rule++)
        for (unsigned count = 1; count <= MOST; count++) {
            struct star star = star_at(0, count);
            struct policy_context context = star_context(&star);
            struct candidate list[MOST];
            double share[MOST], whole, sum = 0;

            star.policy.gate = gate_rules[rule];
            star.policy.reduce = count % 2 ? &reduce_clip : &reduce_mean;
            star.policy.damping = damping_rules[count % damping_rule_count];
            random_candidates(&prng, list, count);
            policy_shares(&star.policy, list, count, &context, share, &whole);
            for (unsigned i = 0; i < count; i++) {
                CHECK(share[i] >= 0);
                sum += share[i];
            }
            CHECK(whole > 0 && sum <= whole * (1 + 1e-12));
        }
}

/* A centre with what its rule keeps. */
struct centre {
    float theta[MOST], slot[POLICY_SLOTS][MOST];
};

static void merge_part(const struct merge_rule *rule, struct merge_tile tile,
                       const double *value, struct centre *centre,
                       unsigned from)
{
    unsigned slots = rule->slots ? rule->slots(tile.numbers) : 0;

    CHECK(slots <= POLICY_SLOTS);
    tile.value = value + from;
    tile.theta = centre->theta + from;
    for (unsigned i = 0; i < slots; i++)
        tile.slot[i] = centre->slot[i] + from;
    rule->step(&tile);
}

/* A tile of 64 elements moves as 64 tiles of one do, to the last bit. */
static void check_merge(const struct merge_rule *rule,
                        const struct policy_numbers *numbers, struct prng *prng)
{
    double value[MOST];
    struct centre one, other;
    struct merge_tile tile = {.sign = 1,
                              .updates = 3,
                              .live = 8,
                              .updates_before = prng_below(prng, 100),
                              .numbers = numbers};

    for (unsigned i = 0; i < MOST; i++) {
        value[i] = prng_normal(prng);
        one.theta[i] = (float)prng_normal(prng);
        one.slot[0][i] = (float)prng_unit(prng);
        one.slot[1][i] = (float)prng_unit(prng);
    }
    other = one;
    tile.count = MOST;
    merge_part(rule, tile, value, &one, 0);
    tile.count = 1;
    for (unsigned i = 0; i < MOST; i++) {
        merge_part(rule, tile, value, &other, i);
        CHECK_NEAR((double)one.theta[i], (double)other.theta[i], 0);
        CHECK_NEAR((double)one.slot[0][i], (double)other.slot[0][i], 0);
        CHECK_NEAR((double)one.slot[1][i], (double)other.slot[1][i], 0);
    }
}

static void every_merge_rule_moves_elements_by_themselves(void)
{
    struct policy_numbers numbers = policy_defaults;
    struct prng prng;

    prng_seed(&prng, 5);
    for (unsigned rule = 0; rule < merge_rule_count; rule++)
        for (unsigned i = 0; i < 20; i++) {
            numbers.outer_momentum = i % 2 ? 0.9 : 0;
            check_merge(merge_rules[rule], &numbers, &prng);
            if (merge_rules[rule]->weight)
                CHECK(merge_rules[rule]->weight(&numbers, i, 0.5) >= 0);
        }
}

void add_policies_conformance_tests(CU_pSuite suite)
{
    TEST(no_preset_depends_on_who_comes_first);
    TEST(equal_offers_are_as_one);
    TEST(a_good_offer_moves_every_centre_towards_it);
    TEST(no_rule_lets_a_wrong_update_lead);
    TEST(every_selection_is_of_different_candidates);
    TEST(every_donor_has_a_score_whoever_comes_first);
    TEST(damping_only_ever_falls);
    TEST(every_gate_closes_when_all_is_there);
    TEST(shares_add_up_to_the_whole_at_most);
    TEST(every_merge_rule_moves_elements_by_themselves);
}
