#include "policies/claims.h"

#include <math.h>
#include <stdlib.h>

#include "core/score.h"
#include "policies/order.h"

enum { FEW = 3, LENGTHS = 4 };

#define FAR 0.8

/* Sorts them. */
static void bound_scores(double *values, unsigned count, struct claims *out)
{
    double middle = values_median(values, count);

    if (count)
        out->highest = middle + FAR * fabs(middle);
    if (count > 1)
        out->lowest = values[1] - FAR * fabs(values[1]);
}

struct claims claims_of(const struct candidate *list, unsigned count)
{
    struct claims claims = {-INFINITY, INFINITY, INFINITY};
    double *values = scratch_of(count, sizeof *values);
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        if (score_known(list[i].score))
            values[known++] = list[i].score;
    bound_scores(values, known, &claims);
    known = 0;
    for (unsigned i = 0; i < count; i++)
        if (isfinite(list[i].norm))
            values[known++] = list[i].norm;
    if (known >= FEW)
        claims.longest = LENGTHS * values_median(values, known);
    free(values);
    return claims;
}

bool claims_boast(const struct claims *claims, const struct candidate *one,
                  bool whole)
{
    return one->score < claims->lowest ||
           (whole && !(one->norm <= claims->longest));
}

bool claims_belied(const struct claims *claims, double tested)
{
    return !(tested <= claims->highest);
}
