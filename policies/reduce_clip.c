/* Long contributions are shortened to c times the median length:
 *
 *     u_i <- u_i min(1, c med_j |u_j| / |u_i|)
 *
 * which bounds what one bad contribution can do to c med / N. It needs one pass
 * over the data only, but believes the norms that nodes state. An offer whose
 * norm is no number counts for nothing. Source: norm clipping as in Sun et al.
 * 2019, "Can you really backdoor federated learning?", with the median for a
 * fixed bound. */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

static double median(const struct candidate *list, unsigned count)
{
    double *norm = scratch_of(count, sizeof *norm), middle = 0;
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        if (isfinite(list[i].norm))
            norm[known++] = list[i].norm;
    values_sort(norm, known);
    if (known)
        middle = (norm[(known - 1) / 2] + norm[known / 2]) / 2;
    free(norm);
    return middle;
}

static void weigh(const struct candidate *list, unsigned count,
                  const struct standing *standing, double *factor)
{
    double limit = standing->numbers->clip * median(list, count);

    for (unsigned i = 0; i < count; i++) {
        double norm = list[i].norm;

        if (!isfinite(norm))
            factor[i] = 0;
        else
            factor[i] = norm > limit ? limit / norm : 1;
    }
}

const struct reduce_rule reduce_clip = {
    .name = "clip",
    .doc = "The mean, once long contributions are shortened to a multiple of "
           "the median length.",
    .weigh = weigh,
};
