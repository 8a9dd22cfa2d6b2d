/* Arms in words and in tables. */
#include <math.h>

#include "sim/program/arms.h"
#include "sim/program/run.h"

/* ---- words ---- */

void arms_say_measure(const struct arms *arms, struct text *out)
{
    if (arms_have_goal(arms)) {
        text_add(out, "seconds to ");
        run_goal(&arms->options, out);
    } else {
        text_add(out, "loss at the end");
    }
}

void arms_say_number(double value, struct text *out)
{
    if (!isfinite(value))
        text_add(out, "never");
    else
        text_add(out, fabs(value) < 1000 ? "%.4g" : "%.0f", value);
}

bool arms_are_alike(const struct arms *arms, unsigned place)
{
    const struct mean *mean = &arms->list[place].best.mean;

    /* Of logarithms, so that it does not matter which of the two is which. */
    return fabs(log(mean->value)) <= 2 * mean->error / mean->value + 1e-9;
}

/* "12 % +- 3 % less time": the best beside another, whose results are `ratio`
 * times its own. */
static void add_difference(const struct arms *arms, const struct mean *ratio,
                           struct text *out)
{
    double share = 1 - 1 / ratio->value;
    double error = ratio->error / (ratio->value * ratio->value);

    text_add(out, "%.3g %%", 100 * fabs(share));
    if (isfinite(error))
        text_add(out, " +- %.2g %%", 100 * error);
    text_add(out, " %s", share < 0 ? "more" : "less");
    text_add(out, " %s", arms_have_goal(arms) ? "time" : "loss");
}

void arms_say_beside(const struct arms *arms, unsigned place, struct text *out)
{
    const struct pairs *pairs = &arms->list[place].best;
    char best[ARMS_NAME_BYTES], other[ARMS_NAME_BYTES];
    struct text name;

    text_init(&name, best, sizeof best);
    grid_name(arms->grid, arms->order[0], &name);
    text_init(&name, other, sizeof other);
    grid_name(arms->grid, place, &name);
    if (!pairs->count) {
        text_add(out, "%s and %s have no seed with which both %s", best, other,
                 arms_have_goal(arms) ? "reach the goal" : "have a loss");
        return;
    }
    text_add(out, "%s %s ", best, arms_have_goal(arms) ? "needs" : "ends with");
    add_difference(arms, &pairs->mean, out);
    text_add(out, " than %s: better in %zu of %u seeds", other, pairs->above,
             arms->seeds);
    if (pairs->count < arms->seeds)
        text_add(out, ", both got there in %zu", pairs->count);
    if (pairs->count == 1)
        text_add(out, "; one pair does not say how sure that is");
    else if (arms_are_alike(arms, place))
        text_add(out, "; less than two standard errors, so no difference is "
                      "shown");
}

void arms_say_worth(const struct arms *arms, const struct worth *worth,
                    struct text *out)
{
    const struct grid_axis *axis = &arms->grid->axes[worth->axis];

    text_add(out, "%s ", axis->name);
    for (unsigned i = 0; i < axis->count; i++) {
        text_add(out, "%s%s: ", i ? ", " : "", axis->values[i]);
        if (isnan(worth->times[i]))
            text_add(out, "-");
        else if (isinf(worth->times[i]))
            text_add(out, "never");
        else
            text_add(out, "%.3g", worth->times[i]);
    }
}

/* ---- columns ---- */

static void add_result(const struct arms *arms, unsigned place,
                       struct text *out)
{
    const struct quartiles *result = &arms->list[place].result;

    arms_say_number(result->median, out);
    if (isinf(result->low))
        return;
    text_add(out, " [");
    arms_say_number(result->low, out);
    text_add(out, ", ");
    arms_say_number(result->high, out);
    text_add(out, "]");
}

static void add_reached(const struct arms *arms, unsigned place,
                        struct text *out)
{
    text_add(out, "%u/%u", arms->list[place].reached, arms->seeds);
}

static void add_figure(const struct arms *arms, unsigned place,
                       enum arm_figure figure, double scale, struct text *out)
{
    double value = arms->list[place].medians[figure] * scale;

    if (isfinite(value))
        text_add(out, fabs(value) < 1000 ? "%.3g" : "%.0f", value);
    else
        text_add(out, "-");
}

static void add_iterations(const struct arms *arms, unsigned place,
                           struct text *out)
{
    add_figure(arms, place, ARM_ITERATIONS, 1, out);
}

static void add_moved(const struct arms *arms, unsigned place, struct text *out)
{
    add_figure(arms, place, ARM_BYTES, 1e-6, out);
}

static void add_idle(const struct arms *arms, unsigned place, struct text *out)
{
    add_figure(arms, place, ARM_IDLE, 100, out);
}

static void add_staleness(const struct arms *arms, unsigned place,
                          struct text *out)
{
    add_figure(arms, place, ARM_STALENESS, 1, out);
}

static void add_wins(const struct arms *arms, unsigned place, struct text *out)
{
    text_add(out, "%u", arms->list[place].wins);
}

static void add_beside(const struct arms *arms, unsigned place,
                       struct text *out)
{
    const struct pairs *pairs = &arms->list[place].best;

    if (place == arms->order[0])
        text_add(out, "best");
    else if (!pairs->count)
        text_add(out, "-");
    else if (!isfinite(pairs->mean.error))
        text_add(out, "%.3g", pairs->mean.value);
    else
        text_add(out, "%s%.3g +- %.2g", arms_are_alike(arms, place) ? "= " : "",
                 pairs->mean.value, pairs->mean.error);
}

static void add_name(const struct arms *arms, unsigned place, struct text *out)
{
    grid_name(arms->grid, place, out);
}

const struct arms_column arms_columns[] = {
    {"setting", true, true, true, add_name},
    {NULL, true, true, true, add_result},
    {"reached", false, true, true, add_reached},
    {"iterations", false, true, true, add_iterations},
    {"MB moved", false, true, true, add_moved},
    {"idle %", false, true, false, add_idle},
    {"staleness p95", false, true, false, add_staleness},
    {"wins", false, true, false, add_wins},
    {"times the best", false, false, true, add_beside},
};

const unsigned arms_column_count = sizeof arms_columns / sizeof *arms_columns;

bool arms_has_column(const struct arms_study *study, unsigned column)
{
    const struct arms_column *row = &arms_columns[column];

    return study->sweeps ? row->sweeps : row->compares;
}

void arms_add_title(const struct arms_study *study, unsigned column,
                    struct text *out)
{
    const struct arms *arms = study->arms;

    if (!arms_columns[column].title) {
        arms_say_measure(arms, out);
        text_add(out, ", median [IQR]");
    } else if (column == 2 && !arms_have_goal(arms)) {
        text_add(out, "scored");
    } else if (column == 0 && arms->grid->count == 1) {
        text_add(out, "%s", arms->grid->axes[0].name);
    } else {
        text_add(out, "%s", arms_columns[column].title);
    }
}

unsigned arms_rows(const struct arms *arms, unsigned most)
{
    return arms->played < most ? arms->played : most;
}
