/* Long contributions are shortened to c times the median length, and none
 * counts for more than c times the median's samples n:
 *
 *     n_i <- min(n_i, c med_j n_j)
 *     u_i <- u_i min(1, c med_j |u_j| / |u_i|)
 *
 * which bounds what one bad contribution can do, whatever it says of itself. It
 * needs one pass over the data only; it believes the norms that nodes state,
 * and what comes and is larger is not merged. An offer whose norm is no number
 * counts for nothing. Of fewer than three there is no telling who is long: they
 * are measured by what has been merged lately, and their samples are believed.
 * Norms of 0 measure nothing. In the last round some give what they have done
 * in one iteration and others what they had under way: none is shortened to
 * less than it might have given in as many rounds. Source: norm clipping as in
 * Sun et al. 2019, "Can you really backdoor federated learning?", with the
 * median for a fixed bound.
 */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

enum { FEW = 3 }; /* fewer are not compared with each other */

/* 0: not known. */
static double length_of(const struct candidate *list, unsigned count,
                        const struct standing *standing)
{
    double *norm = scratch_of(count, sizeof *norm), middle = standing->usual;
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        if (isfinite(list[i].norm) && list[i].norm > 0)
            norm[known++] = list[i].norm;
    if (known >= FEW)
        middle = values_median(norm, known);
    free(norm);
    return fmax(middle, standing->last * standing->usual);
}

static double samples_of(const struct candidate *list, unsigned count)
{
    double *samples = scratch_of(count, sizeof *samples), middle;

    for (unsigned i = 0; i < count; i++)
        samples[i] = list[i].samples;
    middle = values_median(samples, count);
    free(samples);
    return middle;
}

static void weigh(const struct candidate *list, unsigned count,
                  const struct standing *standing, double *samples,
                  double *factor)
{
    double clip = standing->numbers->clip;
    double length = length_of(list, count, standing);
    double limit = length > 0 ? clip * length : HUGE_VAL;
    double most = count < FEW ? HUGE_VAL : clip * samples_of(list, count);

    for (unsigned i = 0; i < count; i++) {
        double norm = list[i].norm;

        samples[i] = fmin(list[i].samples, most);
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
