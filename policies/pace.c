#include "policies/pace.h"

#include <math.h>
#include <stdbool.h>

static bool is_known(double rate)
{
    return isfinite(rate) && rate > 0;
}

double pace_reference(const double *rates, unsigned count)
{
    unsigned known = 0, rank;

    for (unsigned i = 0; i < count; i++)
        known += is_known(rates[i]);
    rank = (9 * known + 9) / 10;
    for (unsigned i = 0; i < count; i++) {
        unsigned below = 0, upto = 0;

        for (unsigned j = 0; j < count; j++) {
            below += is_known(rates[j]) && rates[j] < rates[i];
            upto += is_known(rates[j]) && rates[j] <= rates[i];
        }
        if (is_known(rates[i]) && below < rank && rank <= upto)
            return rates[i];
    }
    return 0;
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
