/* In what order rules take candidates, contestants and values, and room for
 * what they write down meanwhile. */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include "policies/policy.h"

/* Writes all places of the list to order[count]: the pinned node first, then
 * by score, among equals the newer version, then the lower node; those without
 * a score come last. Returns how many are pinned or have a score: the others
 * never lead. */
unsigned candidates_order(const struct candidate *list, unsigned count,
                          const struct policy_context *context,
                          unsigned *order);

/* Ascending; NaN comes last, behind infinity. */
void values_sort(double *values, unsigned count);

/* The middle value, of an even number the mean of the middle two; 0 of none.
 * Sorts them. */
double values_median(double *values, unsigned count);

/* The 90th percentile by nearest rank (the ceil(0.9 n)th of n in order; below
 * ten values the largest) of those that are finite and above 0; 0 of none.
 * *median, if it is not NULL, is the lower median of those. */
double values_high(const double *values, unsigned count, double *median);

/* Room for `count` things of `size` bytes, zeroed; the caller frees it. A round
 * has as many candidates as there are nodes: too many for a stack. */
void *scratch_of(size_t count, size_t size);

/* The whole part of share * count, where 0.3 * 10 is 3. */
unsigned share_of(double share, unsigned count);

#endif
