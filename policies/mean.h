/* The mean of the contributions through an outer optimizer.
 *
 * With D = -mean (a pseudo-gradient) the outer step is Nesterov's in PyTorch's
 * form: m = mu m + D; theta -= epsilon (D + mu m). epsilon = 1, mu = 0 is
 * plain averaging. Source: DiLoCo (Douillard et al. 2023), algorithm 1. */
#ifndef POLICIES_MEAN_H
#define POLICIES_MEAN_H

#include "policies/policy.h"

extern const struct merge_rule merge_mean;

#endif
