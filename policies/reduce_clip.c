/* Long updates are shortened to c times the median length, none counts
 * for more than c times the median's samples n, and none pulls by more than the
 * median pull p or a third of what all others do:
 *
 *     u_i <- u_i min(1, c med_j |u_j| / |u_i|)
 *     n_i <- min(n_i, c med_j n_j)
 *     n_i <- n_i min(1, T / p_i),  p_i = n_i |u_i|,
 *            T = max(med_j p_j, (sum_j p_j - max_j p_j) / 3)
 *
 * which bounds what one bad update can do, whatever it says of itself: by
 * length and samples alone it might pull as far as c^2 others. The third is by
 * the small-gain theorem (Zames 1966). Honest nodes at a distance e from where
 * they go offer about -s e. The outer step answers a disturbance by at most G
 * times as much in what they offer next, at the resonance of its momentum: what
 * one adds, of at most b times what they offer together, makes nothing grow
 * where b G < 1. With rate 0.7 and momentum 0.9, for all s, G is below 1.9
 * without delay and 2.4 for d = k / 2; without momentum it is 1. Breakdown
 * point: one of four. Of three, one pulls by half of the other two, as far as
 * each of them: G is to be below 2 there, as it is with momentum 0.5.
 *
 * It needs one pass over the data only; it believes the norms that nodes state,
 * and what comes and is larger is not merged. An offer whose norm is no number
 * counts for nothing. Of fewer than three there is no telling who is long: they
 * are measured by what has been merged lately, and their samples are believed;
 * one that is alone in its run is not measured.
 * Norms of 0 measure nothing. In the last round some give what they have done
 * in one iteration and others what they had under way: none is shortened to
 * less than it might have given in as many rounds, and none's pull is taken for
 * less. Source of the lengths: norm clipping as in Sun et al. 2019, "Can you
 * really backdoor federated learning?", with the median for a fixed bound.
 */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

enum { FEW = 3 /* fewer are not compared with each other */, THIRD = 3 };

/* 0: not known. */
static double length_of(const struct candidate *list, unsigned count,
                        const struct policy_context *context)
{
    double *norm = scratch_of(count, sizeof *norm),
           middle = context->usual_norm;
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        if (isfinite(list[i].norm) && list[i].norm > 0)
            norm[known++] = list[i].norm;
    if (known >= FEW)
        middle = values_median(norm, known);
    free(norm);
    return fmax(middle, context->last * context->usual_norm);
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

/* Holds each one's samples times its length to T; no length counts for less
 * than `least`. Those that pull nowhere measure nothing. */
static void hold(const struct candidate *list, unsigned count, double least,
                 const double *factor, double *samples)
{
    double *pull = scratch_of(count, sizeof *pull);
    double sum = 0, first = 0, most;
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++) {
        double length = factor[i] > 0 ? list[i].norm * factor[i] : 0;

        if (!(samples[i] * length > 0))
            continue;
        pull[known] = samples[i] * fmax(length, least);
        sum += pull[known];
        first = fmax(first, pull[known++]);
    }
    most = fmax(values_median(pull, known), (sum - first) / THIRD);
    for (unsigned i = 0; known >= FEW && i < count; i++)
        if (factor[i] > 0 && samples[i] * list[i].norm * factor[i] > most)
            samples[i] = most / (list[i].norm * factor[i]);
    free(pull);
}

void reduce_weigh(const struct candidate *list, unsigned count,
                  const struct policy_context *context, double *samples,
                  double *factor)
{
    double clip = context->numbers->clip;
    double length = length_of(list, count, context);
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
    hold(list, count, context->last * context->usual_norm, factor, samples);
}

const struct reduce_rule reduce_clip = {
    .name = "clip",
    .doc = "The mean, once long updates are shortened to a multiple of "
           "the median length.",
    .weigh = reduce_weigh,
};
