/* In what order rules take candidates, contestants and values. */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include "policies/policy.h"

/* Writes all places of the list to order[count]: the pinned node first, then
 * by score, among equals the newer version, then the lower node; those without
 * a score come last. Returns how many are pinned or have a score: the others
 * never lead. */
unsigned candidates_order(const struct candidate *list, unsigned count,
                          const struct standing *standing, unsigned *order);

/* Ascending; NaN comes last, behind infinity. */
void values_sort(double *values, unsigned count);

/* The whole part of share * count, where 0.3 * 10 is 3. */
unsigned share_of(double share, unsigned count);

#endif
