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

double pace_share(double rate, double reference)
{
    double share = is_known(rate) && is_known(reference) ? rate / reference : 1;

    return fabs(share - 1) <= PACE_SAME ? 1 : fmin(share, PACE_AHEAD);
}

static uint64_t bounded(double steps, double least)
{
    return (uint64_t)fmin(fmax(steps, least), PACE_MOST);
}

uint64_t pace_steps(double share, uint64_t every)
{
    return bounded(floor(share * (double)every), 1);
}

uint64_t pace_delay(double share, uint64_t delay)
{
    return bounded(ceil(share * (double)delay), 0);
}

bool pace_differs(double share, uint64_t every, uint64_t before)
{
    uint64_t now = pace_steps(share, every);
    double most = 1.25 * share * (double)every;

    return now != before &&
           ((double)now > 1.25 * (double)before || (double)before > most);
}
