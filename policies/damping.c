/* An offer that lags tau versions behind the centre weighs less:
 *
 *     inverse   1 / max(1, tau)        (Zhang et al. 2016, staleness-aware)
 *     root      (1 + tau)^-1/2         (Xie et al. 2019, FedAsync's a = 1/2)
 *
 * inverse makes the largest stable learning rate almost independent of tau. */
#include <math.h>

#include "policies/policy.h"

static double inverse(uint64_t lag)
{
    return lag > 1 ? 1 / (double)lag : 1;
}

static double root(uint64_t lag)
{
    return 1 / sqrt(1 + (double)lag);
}

const struct damping_rule damping_inverse = {
    "inverse", "An offer that lags n versions behind weighs 1 / n.", inverse};
const struct damping_rule damping_root = {
    "root", "An offer that lags n versions behind weighs 1 / sqrt(1 + n).",
    root};
