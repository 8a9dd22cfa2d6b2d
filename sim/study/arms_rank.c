/* What the runs of arms come to: medians, ranks, wins, and what each of the
 * options is worth. */
#include <math.h>
#include <stdlib.h>

#include "core/score.h"
#include "sim/study/arms.h"

void arms_options(const struct arms *arms, unsigned place, struct options *out)
{
    *out = arms->options;
    grid_apply(arms->grid, place, out);
}

/* Runs are numbered seed by seed, so that when they are interrupted all arms
 * have had the same. */
const struct arm_run *arms_run(const struct arms *arms, unsigned place,
                               unsigned seed)
{
    return &arms->runs[(size_t)seed * arms->count + place];
}

bool arms_have_goal(const struct arms *arms)
{
    return arms->options.goal.kind != GOAL_NONE;
}

double arms_result(const struct arms *arms, const struct arm_run *run)
{
    const struct outcome *outcome = &run->outcome;

    if (!outcome->done)
        return INFINITY;
    if (arms_have_goal(arms))
        return outcome->reached ? outcome->time : INFINITY;
    return score_known(outcome->loss) ? outcome->loss : INFINITY;
}

static double *numbers(size_t count)
{
    double *values = calloc(count + 1, sizeof *values);

    if (!values)
        abort();
    return values;
}

/* ---- each by itself ---- */

static double figure_of(const struct outcome *outcome, enum arm_figure figure)
{
    switch (figure) {
    case ARM_TIME:
        return outcome->time;
    case ARM_LOSS:
        return score_known(outcome->loss) ? outcome->loss : INFINITY;
    case ARM_ITERATIONS:
        return outcome->iterations;
    case ARM_BYTES:
        return outcome->up + outcome->down;
    case ARM_IDLE:
        return outcome->idle;
    case ARM_STALENESS:
        return outcome->staleness;
    case ARM_FIGURES:
    default:
        return NAN;
    }
}

static double median_of(const struct arms *arms, unsigned place,
                        enum arm_figure figure)
{
    double *values = numbers(arms->seeds), median = NAN;
    unsigned count = 0;

    for (unsigned i = 0; i < arms->seeds; i++) {
        const struct outcome *outcome = &arms_run(arms, place, i)->outcome;

        if (outcome->done)
            values[count++] = figure_of(outcome, figure);
    }
    if (count)
        median = statistics_quantile(values, count, 0.5);
    free(values);
    return median;
}

static void list_results(const struct arms *arms, unsigned place, double *out)
{
    for (unsigned i = 0; i < arms->seeds; i++)
        out[i] = arms_result(arms, arms_run(arms, place, i));
}

static void sum_up(struct arms *arms, unsigned place)
{
    struct arm *arm = &arms->list[place];
    double *results = numbers(arms->seeds);
    struct options options;

    *arm = (struct arm){.done = 0};
    list_results(arms, place, results);
    for (unsigned i = 0; i < arms->seeds; i++) {
        const struct arm_run *run = arms_run(arms, place, i);

        arm->done += run->outcome.done;
        arm->refused |= run->refused;
        arm->reached += isfinite(results[i]) != 0;
    }
    arm->result = statistics_quartiles(results, arms->seeds);
    for (unsigned i = 0; i < ARM_FIGURES; i++)
        arm->medians[i] = median_of(arms, place, (enum arm_figure)i);
    arms_options(arms, place, &options);
    arm->medians[ARM_BYTES] *= (double)options.star_nodes;
    free(results);
}

/* ---- one beside the other ---- */

/* What an arm is ranked by: where results are alike, or none, the loss. */
struct rank {
    bool refused;
    double result, loss;
    unsigned place;
};

static int by_rank(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    if (a->refused != b->refused)
        return a->refused ? 1 : -1;
    if (a->result < b->result || a->result > b->result)
        return a->result < b->result ? -1 : 1;
    if (a->loss < b->loss || a->loss > b->loss)
        return a->loss < b->loss ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static void put_in_order(struct arms *arms)
{
    struct rank *ranks = calloc(arms->count + 1, sizeof *ranks);

    if (!ranks)
        abort();
    arms->played = 0;
    for (unsigned i = 0; i < arms->count; i++) {
        const struct arm *arm = &arms->list[i];
        double loss = arm->medians[ARM_LOSS];

        ranks[i] = (struct rank){arm->refused, arm->result.median,
                                 isnan(loss) ? INFINITY : loss, i};
        arms->played += !arm->refused;
    }
    qsort(ranks, arms->count, sizeof *ranks, by_rank);
    for (unsigned i = 0; i < arms->count; i++)
        arms->order[i] = ranks[i].place;
    free(ranks);
}

static void count_wins(struct arms *arms, unsigned seed)
{
    double least = INFINITY;

    for (unsigned i = 0; i < arms->count; i++)
        least = fmin(least, arms_result(arms, arms_run(arms, i, seed)));
    for (unsigned i = 0; i < arms->count && isfinite(least); i++)
        arms->list[i].wins +=
            arms_result(arms, arms_run(arms, i, seed)) <= least;
}

void arms_rank(struct arms *arms)
{
    double *best = numbers(arms->seeds), *results = numbers(arms->seeds);

    for (unsigned i = 0; i < arms->count; i++)
        sum_up(arms, i);
    put_in_order(arms);
    for (unsigned i = 0; i < arms->seeds; i++)
        count_wins(arms, i);
    list_results(arms, arms->order[0], best);
    for (unsigned i = 0; i < arms->count; i++) {
        list_results(arms, i, results);
        arms->list[i].best = statistics_ratios(results, best, arms->seeds);
    }
    free(best);
    free(results);
}

/* ---- what options are worth ---- */

/* The best result there is where only this option differs; INFINITY: none. */
static double best_sibling(const struct arms *arms, unsigned place,
                           unsigned axis)
{
    double best = INFINITY;

    for (unsigned i = 0; i < arms->grid->axes[axis].count; i++) {
        const struct arm *arm =
            &arms->list[grid_sibling(arms->grid, place, axis, i)];

        if (!arm->refused)
            best = fmin(best, arm->result.median);
    }
    return best;
}

static double times_the_best(const struct arms *arms, unsigned axis,
                             unsigned value)
{
    double *values = numbers(arms->count), median = NAN;
    unsigned count = 0;

    for (unsigned i = 0; i < arms->count; i++) {
        double best = best_sibling(arms, i, axis);

        if (!arms->list[i].refused && isfinite(best) && best > 0 &&
            grid_value(arms->grid, i, axis) == value)
            values[count++] = arms->list[i].result.median / best;
    }
    if (count)
        median = statistics_quantile(values, count, 0.5);
    free(values);
    return median;
}

static void weigh(const struct arms *arms, unsigned axis, struct worth *out)
{
    double least = INFINITY, most = 1;

    *out = (struct worth){.axis = axis, .factor = 1};
    for (unsigned i = 0; i < arms->grid->axes[axis].count; i++) {
        out->times[i] = times_the_best(arms, axis, i);
        least = fmin(least, out->times[i]);
        most = fmax(most, out->times[i]);
    }
    if (isfinite(least))
        out->factor = most / least;
}

static int by_factor(const void *left, const void *right)
{
    const struct worth *a = left, *b = right;

    if (a->factor < b->factor || a->factor > b->factor)
        return a->factor > b->factor ? -1 : 1;
    return a->axis < b->axis ? -1 : a->axis > b->axis;
}

void arms_weigh(const struct arms *arms, struct worth worths[GRID_AXES])
{
    for (unsigned i = 0; i < arms->grid->count; i++)
        weigh(arms, i, &worths[i]);
    qsort(worths, arms->grid->count, sizeof *worths, by_factor);
}
