#include "bench/convergence/findings.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static double measured(const struct outcome *outcome, enum measure measure)
{
    switch (measure) {
    case BYTES:
        return outcome->bytes;
    case DURATION:
        return outcome->duration;
    case TUNING:
        return isfinite(outcome->tuning) ? outcome->tuning : INFINITY;
    case ACCURACY:
        return outcome->accuracy;
    case SHOWN:
    case LOSS:
    default:
        return isfinite(outcome->loss) ? outcome->loss : INFINITY;
    }
}

struct spread spread_of(const double *values, unsigned count)
{
    struct spread spread = {0, NAN};
    double squares = 0;

    for (unsigned i = 0; i < count; i++)
        spread.mean += values[i] / count;
    for (unsigned i = 0; i < count; i++)
        squares += (values[i] - spread.mean) * (values[i] - spread.mean);
    if (count > 1)
        spread.deviation = sqrt(squares / (count - 1));
    return spread;
}

enum { MOST_SEEDS = 64 };

struct spread series_spread(const struct series *series, enum measure measure)
{
    double values[MOST_SEEDS] = {0};
    unsigned count = series->seeds < MOST_SEEDS ? series->seeds : MOST_SEEDS;

    for (unsigned i = 0; i < count; i++)
        values[i] = measured(&series->outcomes[i], measure);
    return spread_of(values, count);
}

/* Left's mean over right's. */
static void divide(const struct series *left, const struct series *right,
                   enum measure measure, struct finding *out)
{
    double above, below;
    double rests[MOST_SEEDS] = {0};
    unsigned count = left->seeds < MOST_SEEDS ? left->seeds : MOST_SEEDS;

    assert(right);
    above = series_spread(left, measure).mean;
    below = series_spread(right, measure).mean;
    out->value = above / below;
    for (unsigned i = 0; i < count; i++)
        rests[i] = (measured(&left->outcomes[i], measure) -
                    out->value * measured(&right->outcomes[i], measure)) /
                   below;
    out->error = spread_of(rests, count).deviation / sqrt(count);
    if (!isfinite(out->value))
        out->error = 0;
}

static void subtract(const struct series *left, const struct series *right,
                     enum measure measure, struct finding *out)
{
    double values[MOST_SEEDS] = {0};
    unsigned count = left->seeds < MOST_SEEDS ? left->seeds : MOST_SEEDS;
    struct spread spread;

    for (unsigned i = 0; i < count; i++) {
        values[i] = measured(&left->outcomes[i], measure);
        if (right)
            values[i] -= measured(&right->outcomes[i], measure);
    }
    spread = spread_of(values, count);
    out->value = spread.mean;
    out->error = spread.deviation / sqrt(count);
}

static const char *trouble_of(const struct series *series)
{
    return series && (!series->outcomes || series->trouble[0]) ? series->trouble
                                                               : NULL;
}

static enum holding standing_of(const struct claim *claim,
                                 const struct finding *finding)
{
    double room = claim->relation == AT_MOST ? claim->target - finding->value
                                             : finding->value - claim->target;

    if (room >= 2 * finding->error)
        return HOLDS_CLEARLY;
    return room >= 0 ? HOLDS : FAILS;
}

struct finding claim_judge(const struct claim *claim,
                           const struct series *series)
{
    const struct series *left = &series[claim->left];
    const struct series *right =
        claim->right == NOTHING ? NULL : &series[claim->right];
    struct finding finding = {NOT_RUN, NAN, NAN, trouble_of(left)};

    if (!finding.trouble)
        finding.trouble = trouble_of(right);
    if (finding.trouble)
        return finding;
    if (claim->measure == ACCURACY)
        subtract(left, right, claim->measure, &finding);
    else
        divide(left, right, claim->measure, &finding);
    finding.holding = standing_of(claim, &finding);
    return finding;
}
