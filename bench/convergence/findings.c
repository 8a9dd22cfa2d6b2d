#include "bench/convergence/findings.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static double measured(const struct outcome *outcome, enum compared measure)
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

enum { MOST_SEEDS = 64 };

struct mean series_mean(const struct series *series, enum compared measure)
{
    double values[MOST_SEEDS] = {0};
    unsigned count = series->seeds < MOST_SEEDS ? series->seeds : MOST_SEEDS;

    for (unsigned i = 0; i < count; i++)
        values[i] = measured(&series->outcomes[i], measure);
    return statistics_mean(values, count);
}

/* Left's mean over right's. */
static void divide(const struct series *left, const struct series *right,
                   enum compared measure, struct finding *out)
{
    double above, below;
    double rests[MOST_SEEDS] = {0};
    unsigned count = left->seeds < MOST_SEEDS ? left->seeds : MOST_SEEDS;

    assert(right);
    above = series_mean(left, measure).value;
    below = series_mean(right, measure).value;
    out->value = above / below;
    for (unsigned i = 0; i < count; i++)
        rests[i] = (measured(&left->outcomes[i], measure) -
                    out->value * measured(&right->outcomes[i], measure)) /
                   below;
    out->error = statistics_mean(rests, count).error;
    if (!isfinite(out->value))
        out->error = 0;
}

static void subtract(const struct series *left, const struct series *right,
                     enum compared measure, struct finding *out)
{
    double values[MOST_SEEDS] = {0};
    unsigned count = left->seeds < MOST_SEEDS ? left->seeds : MOST_SEEDS;
    struct mean mean;

    for (unsigned i = 0; i < count; i++) {
        values[i] = measured(&left->outcomes[i], measure);
        if (right)
            values[i] -= measured(&right->outcomes[i], measure);
    }
    mean = statistics_mean(values, count);
    out->value = mean.value;
    out->error = mean.error;
}

static const char *trouble_of(const struct series *series)
{
    return series && (!series->outcomes || series->trouble[0]) ? series->trouble
                                                               : NULL;
}

static enum holding context_of(const struct claim *claim,
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
    finding.holding = context_of(claim, &finding);
    return finding;
}
