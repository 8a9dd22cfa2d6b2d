#include "policies/pace.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "policies/order.h"

static bool is_known(double rate)
{
    return isfinite(rate) && rate > 0;
}

double pace_reference(const double *rates, unsigned count)
{
    double *known = scratch_of(count, sizeof *known), reference = 0;
    unsigned some = 0;

    for (unsigned i = 0; i < count; i++)
        if (is_known(rates[i]))
            known[some++] = rates[i];
    values_sort(known, some);
    if (some)
        reference = known[(9 * some + 9) / 10 - 1];
    free(known);
    return reference;
}

uint64_t pace_steps(double rate, double reference, uint64_t every)
{
    double steps;

    if (!is_known(rate) || !is_known(reference))
        return every;
    steps = floor(rate / reference * (double)every);
    if (!(steps < PACE_MOST))
        return PACE_MOST;
    return steps < 1 ? 1 : (uint64_t)steps;
}
