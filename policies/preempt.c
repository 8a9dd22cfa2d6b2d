/* Preemption: bad parameters are replaced by better ones.
 *
 * A score that nobody has confirmed may be a lie, so that others are measured
 * by the best confirmed one; where there is none, by the second best, which
 * one Byzantine node alone does not set. s_best is that one.
 *
 * margin: a node is bad if z = (s - s_best) / SE reaches the normal quantile
 * of 5 % / (N - 1), one-sided (2.13 for N = 4, 2.45 for 8), and s - s_best is
 * at least max(gap |s_best|, margin SE). It is replaced when it is bad for the
 * `strikes`-th time in a row, has made `spare` offers since it was last
 * replaced, and is not merely slow: its score at the common number of samples
 * is worse than the best one's as well, or at its slope beta it would need more
 * than a quarter of what remains to catch up: (s - s_best) t / beta >
 * remaining / 4. What is not known does not protect it.
 *
 * quantile: a node is bad if it is among the floor(q N) worst; strikes and
 * spare as above.
 *
 * Both: a score that is not finite is replaced at once. No more than N / 4
 * (but one at least) go at a time, diverged ones and the worst first; the best
 * never does. Source: ours, with Bonferroni's correction and the learning curve
 * l(t) = A - beta ln t. */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

struct trial {
    struct preempt_candidate *list;
    const struct policy_context *context;
    unsigned most;    /* may be replaced */
    unsigned ranked;  /* have a score, */
    unsigned count;   /* or diverged */
    unsigned measure; /* place in order of whom the others are measured by */
    unsigned *order;  /* best first, diverged ones last */
    bool *due;        /* in the same order */
};

/* Whether it has a score, or diverged; sets what is known of it then. */
static bool is_ranked(struct preempt_candidate *one)
{
    one->bad = !isfinite(one->score);
    one->replaced = false;
    return one->bad || score_known(one->score);
}

static unsigned measure_of(const struct trial *trial)
{
    for (unsigned i = 0; i < trial->ranked; i++)
        if (trial->list[trial->order[i]].verified)
            return i;
    return trial->ranked > 1;
}

/* Ranks all; bad are, until it is known better, those that diverged. */
static struct trial trial_open(struct preempt_candidate *list, unsigned count,
                               const struct policy_context *context)
{
    struct trial trial = {.list = list,
                          .context = context,
                          .most = count / 4 ? count / 4 : 1,
                          .order = scratch_of(count, sizeof *trial.order),
                          .due = scratch_of(count, sizeof *trial.due)};
    struct candidate *ranked = scratch_of(count, sizeof *ranked);
    unsigned *place = scratch_of(count, sizeof *place);
    struct policy_context plain = {.pinned = -1};

    for (unsigned i = 0; i < count; i++) {
        if (!is_ranked(&list[i]))
            continue;
        ranked[trial.count].node = list[i].node;
        ranked[trial.count].score = list[i].bad ? INFINITY : list[i].score;
        place[trial.count++] = i;
        trial.ranked += !list[i].bad;
    }
    (void)candidates_order(ranked, trial.count, &plain, trial.order);
    for (unsigned i = 0; i < trial.count; i++)
        trial.order[i] = place[trial.order[i]];
    trial.measure = measure_of(&trial);
    free(place);
    free(ranked);
    return trial;
}

static void trial_close(struct trial *trial)
{
    free(trial->order);
    free(trial->due);
}

/* z with 1 - Phi(z) = tail, 0 < tail <= 1/2, by halving the interval. */
static double normal_quantile(double tail)
{
    double low = 0, high = 40;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (erfc(middle / sqrt(2)) / 2 > tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool is_worse(const struct trial *trial,
                     const struct preempt_candidate *one)
{
    const struct preempt_candidate *best =
        &trial->list[trial->order[trial->measure]];
    const struct policy_numbers *numbers = trial->context->numbers;
    double behind = one->score - best->score;
    double z = normal_quantile(0.05 / (trial->ranked - 1));

    return behind > 0 && behind >= z * one->error &&
           behind >= numbers->margin * one->error &&
           behind >= numbers->gap * fabs(best->score);
}

/* Whether it is behind for another reason than being slow. */
static bool is_hopeless(const struct trial *trial,
                        const struct preempt_candidate *one)
{
    const struct preempt_candidate *best =
        &trial->list[trial->order[trial->measure]];
    bool known = score_known(one->trajectory) && score_known(best->trajectory);
    double behind = one->score - best->score;

    if (known && one->trajectory > best->trajectory)
        return true;
    if (one->slope == 0)
        return !known;
    if (one->slope < 0)
        return true;
    return behind * (double)one->samples / one->slope >
           (double)one->remaining / 4;
}

static bool is_due(const struct trial *trial,
                   const struct preempt_candidate *one)
{
    const struct policy_numbers *numbers = trial->context->numbers;

    return one->bad && one->strikes + 1 >= numbers->strikes &&
           (double)one->rounds >= numbers->spare;
}

/* Replaces the last in order that diverged or are due. */
static void replace(struct trial *trial)
{
    for (unsigned i = trial->count; i-- > 1 && trial->ranked && trial->most;) {
        struct preempt_candidate *one = &trial->list[trial->order[i]];

        if (i < trial->ranked && !trial->due[i])
            continue;
        one->replaced = true;
        trial->most--;
    }
}

static void judge_margin(struct preempt_candidate *list, unsigned count,
                         const struct policy_context *context)
{
    struct trial trial = trial_open(list, count, context);

    for (unsigned i = 1; i < trial.ranked; i++) {
        struct preempt_candidate *one = &list[trial.order[i]];

        one->bad = is_worse(&trial, one);
        trial.due[i] = is_due(&trial, one) && is_hopeless(&trial, one);
    }
    replace(&trial);
    trial_close(&trial);
}

static void judge_quantile(struct preempt_candidate *list, unsigned count,
                           const struct policy_context *context)
{
    struct trial trial = trial_open(list, count, context);
    unsigned worst = share_of(context->numbers->quantile, trial.ranked);

    for (unsigned i = 1; i < trial.ranked; i++) {
        struct preempt_candidate *one = &list[trial.order[i]];

        one->bad = i >= trial.ranked - worst &&
                   one->score > list[trial.order[trial.measure]].score;
        trial.due[i] = is_due(&trial, one);
    }
    replace(&trial);
    trial_close(&trial);
}

const struct preempt_rule preempt_margin = {
    .name = "margin",
    .doc = "Who is worse than the best by more than chance, again and again, "
           "takes after one of the best.",
    .judge = judge_margin,
};
const struct preempt_rule preempt_quantile = {
    .name = "quantile",
    .doc = "Who is among the worst again and again takes after one of the "
           "best.",
    .judge = judge_quantile,
};
