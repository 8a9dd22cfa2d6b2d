/* Each coordinate by itself, whatever the shares are.
 *
 *     median    the middle value, or the mean of the two in the middle
 *     trimmed   the mean without the floor(trim n) lowest and highest
 *
 * Both stand fewer than half (trimmed: a share trim) of the updates being
 * anything at all. They are for equally distributed data: where nodes see
 * different data, what they cut off is what the nodes have learnt. Source: Yin
 * et al. 2018, "Byzantine-robust distributed learning", definitions 1 and 2. */
#include <stdlib.h>

#include "policies/order.h"

/* The mean of what is left of a column without `cut` at each end, in double
 * and in ascending order: the same however the rows are ordered. */
static double middle(double *column, unsigned count, unsigned cut)
{
    double sum = 0;

    values_sort(column, count);
    for (unsigned i = cut; i < count - cut; i++)
        sum += column[i];
    return sum / (count - 2 * cut);
}

static void reduce(const double *const *rows, unsigned count, size_t size,
                   unsigned cut, double *out)
{
    double *column = scratch_of(count, sizeof *column);

    for (size_t at = 0; at < size; at++) {
        for (unsigned i = 0; i < count; i++)
            column[i] = rows[i][at];
        out[at] = middle(column, count, cut);
    }
    free(column);
}

static void median(const double *const *rows, unsigned count, size_t size,
                   const struct policy_numbers *numbers, double *out)
{
    (void)numbers;
    reduce(rows, count, size, (count - 1) / 2, out);
}

static void trimmed(const double *const *rows, unsigned count, size_t size,
                    const struct policy_numbers *numbers, double *out)
{
    unsigned most = (count - 1) / 2, cut = share_of(numbers->trim, count);

    reduce(rows, count, size, cut < most ? cut : most, out);
}

const struct reduce_rule reduce_median = {
    .name = "median",
    .doc = "The median of each coordinate.",
    .rows = median,
};
const struct reduce_rule reduce_trimmed = {
    .name = "trimmed",
    .doc = "The mean of each coordinate without its lowest and highest values.",
    .rows = trimmed,
};
