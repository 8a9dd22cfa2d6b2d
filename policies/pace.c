#include "policies/pace.h"

#include <math.h>
#include <stdbool.h>

#include "policies/order.h"

static bool is_known(double rate)
{
    return isfinite(rate) && rate > 0;
}

double pace_reference(const double *rates, unsigned count)
{
    double median;
    double high = values_high(rates, count, &median);

    return fmin(high, PACE_FASTER * median);
}

uint64_t pace_steps(double rate, double reference, uint64_t every)
{
    double steps;

    if (!is_known(rate) || !is_known(reference))
        return every;
    if (fabs(rate / reference - 1) <= PACE_SAME)
        return every;
    steps = floor(rate / reference * (double)every);
    if (!(steps < PACE_MOST))
        return PACE_MOST;
    return steps < 1 ? 1 : (uint64_t)steps;
}
