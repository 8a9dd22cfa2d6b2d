#include "tests/policies/star.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"

struct star star_of(const char *preset, unsigned live, double theta)
{
    struct star star = {
        .live = live, .theta = (float)theta, .sent = theta, .score = NO_SCORE};

    if (!CHECK(preset_find(preset) != NULL))
        abort();
    star.policy = preset_find(preset)->policy;
    return star;
}

struct policy_context star_context(const struct star *star)
{
    return (struct policy_context){.numbers = &star->policy.numbers,
                                   .live = star->live,
                                   .score = star->score,
                                   .error = star->error,
                                   .round = star->round,
                                   .seed = 1,
                                   .pinned = -1};
}

void star_candidates(struct candidate *list, const double *score,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        list[i] = (struct candidate){.node = i,
                                     .score = score ? score[i] : NO_SCORE,
                                     .samples = 1,
                                     .norm = 1};
}

/* What the round merges, in the order of the candidates. */
struct bowl {
    struct pile pile;
    const struct star *star;
    unsigned count;
    struct candidate list[STAR_MOST];
    double offered[STAR_MOST];
};

static void bowl_read(const struct pile *pile, unsigned i, size_t first,
                      size_t count, double *into)
{
    const struct bowl *bowl = (const struct bowl *)pile;

    if (count && !first)
        into[0] = bowl->offered[i];
}

static double bowl_loss(const struct pile *pile, const double *weights,
                        double *error)
{
    const struct bowl *bowl = (const struct bowl *)pile;
    double sum = 0, whole = 0, x = (double)bowl->star->theta;

    for (unsigned i = 0; i < pile->count; i++)
        if (weights[i] > 0) {
            sum += weights[i] * bowl->offered[i];
            whole += weights[i];
        }
    *error = bowl->star->error;
    if (whole > 0 && bowl->star->policy.exchange == EXCHANGE_PARAMETERS)
        x = 0;
    return bowl->star->loss(whole > 0 ? x + sum / whole : x);
}

static void choose(struct bowl *bowl, const struct candidate *list,
                   const double *offered, unsigned count)
{
    struct policy_context context = star_context(bowl->star);
    unsigned order[STAR_MOST], wanted;
    bool chosen[STAR_MOST] = {false};
    unsigned most = bowl->star->policy.select->choose(list, count, &context,
                                                      order, &wanted);

    CHECK(wanted <= most && most <= count);
    for (unsigned i = 0; i < wanted; i++)
        chosen[order[i]] = true;
    for (unsigned i = 0; i < count; i++)
        if (chosen[i]) {
            bowl->list[bowl->count] = list[i];
            bowl->offered[bowl->count++] = offered[i];
        }
}

static void judge(struct bowl *bowl)
{
    struct policy_context context = star_context(bowl->star);
    const struct reduce_rule *reduce = bowl->star->policy.reduce;
    double weight[STAR_MOST];
    unsigned kept = 0;

    if (!reduce->judge)
        return;
    bowl->pile = (struct pile){bowl->count, 1, bowl->star->loss != NULL,
                               bowl_read, bowl_loss};
    for (unsigned i = 0; i < bowl->count; i++)
        weight[i] = 1;
    reduce->judge(&bowl->pile, bowl->list, &context, weight);
    for (unsigned i = 0; i < bowl->count; i++) {
        CHECK(weight[i] == 0 || weight[i] == 1);
        if (weight[i] > 0) {
            bowl->list[kept] = bowl->list[i];
            bowl->offered[kept++] = bowl->offered[i];
        }
    }
    bowl->count = kept;
}

/* A tensor of one element. */
static double blended(const struct reduce_rule *rule, const struct bowl *bowl,
                      const double *share, double whole)
{
    double length[STAR_MOST], factor[STAR_MOST], sum = 0;

    for (unsigned i = 0; i < bowl->count; i++)
        length[i] = fabs(bowl->offered[i]);
    whole = rule->blend(length, share, bowl->count, factor) / whole;
    for (unsigned i = 0; i < bowl->count; i++)
        sum += share[i] * factor[i] * bowl->offered[i];
    return sum != 0 ? copysign(whole, sum) : 0;
}

static double reduced(const struct bowl *bowl)
{
    const struct policy *policy = &bowl->star->policy;
    struct policy_context context = star_context(bowl->star);
    const double *rows[STAR_MOST];
    double share[STAR_MOST], whole, value = 0;

    policy_shares(policy, bowl->list, bowl->count, &context, share, &whole);
    for (unsigned i = 0; i < bowl->count; i++) {
        rows[i] = &bowl->offered[i];
        value += share[i] * bowl->offered[i];
    }
    value /= whole;
    if (policy->reduce->blend)
        value = blended(policy->reduce, bowl, share, whole);
    if (policy->reduce->rows)
        policy->reduce->rows(rows, bowl->count, 1, &policy->numbers, &value);
    if (policy->reduce->rows)
        value /= whole;
    return value;
}

void star_round(struct star *star, const struct candidate *list,
                const double *offered, unsigned count)
{
    const struct policy *policy = &star->policy;
    struct bowl bowl = {.star = star};
    unsigned slots =
        policy->merge->slots ? policy->merge->slots(&policy->numbers) : 0;
    double former = (double)star->theta, value;
    struct merge_tile tile = {.value = &value,
                              .sign = policy->exchange == EXCHANGE_GRADIENT ? -1
                                                                            : 1,
                              .count = 1,
                              .theta = &star->theta,
                              .live = star->live,
                              .updates_before = star->updates_before,
                              .numbers = &policy->numbers};

    choose(&bowl, list, offered, count);
    judge(&bowl);
    if (bowl.count) {
        value = reduced(&bowl);
        tile.updates = bowl.count;
        for (unsigned i = 0; i < slots; i++)
            tile.slot[i] = &star->slot[i];
        policy->merge->step(&tile);
    }
    star->updates_before += bowl.count;
    star->round++;
    star->sent = policy->merge->sends_previous ? former : (double)star->theta;
}

void star_equal(struct star *star, const double *offered, unsigned count)
{
    struct candidate list[STAR_MOST];

    star_candidates(list, NULL, count);
    star_round(star, list, offered, count);
}

double star_receive(const struct star *star, double x)
{
    const struct merge_rule *merge = star->policy.merge;
    double weight =
        merge->weight ? merge->weight(&star->policy.numbers, star->live, 0) : 1;

    if (merge->verb == VERB_REPLACE)
        return star->sent;
    return x + weight * (star->sent - x);
}
