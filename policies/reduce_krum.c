/* The updates that are nearest to their neighbours.
 *
 * Of n updates f may be anything. The score of one is the sum of its
 * n - f - 2 smallest squared distances to others; `krum` keeps the one with the
 * lowest score (ties: the lowest node), `multi-krum` the `top` lowest, whose
 * mean is taken. Proven for n >= 2f + 3. With n < f + 3 there is no neighbour
 * to compare with, and all are kept. Krum gives up what averaging gains.
 * Source: Blanchard et al. 2017, "Machine learning with adversaries". */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

#define TOO_FAR "it is further from the others than what was kept"

static void add_squares(const double *rows, unsigned count, size_t size,
                        double *square)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++) {
            const double *a = rows + (size_t)i * POLICY_TILE;
            const double *b = rows + (size_t)j * POLICY_TILE;
            double sum = 0;

            for (size_t at = 0; at < size; at++)
                sum += (a[at] - b[at]) * (a[at] - b[at]);
            square[i * count + j] += sum;
        }
}

/* The squared distances of all pairs, square[i * count + j]. */
static void measure(const struct pile *pile, double *square)
{
    unsigned count = pile->count;
    double *rows = malloc((size_t)count * POLICY_TILE * sizeof *rows);

    if (!rows)
        abort();
    for (size_t first = 0; first < pile->elements; first += POLICY_TILE) {
        size_t left = pile->elements - first;
        size_t size = left < POLICY_TILE ? left : POLICY_TILE;

        for (unsigned i = 0; i < count; i++)
            pile->read(pile, i, first, size, rows + (size_t)i * POLICY_TILE);
        add_squares(rows, count, size, square);
    }
    free(rows);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            square[j * count + i] = square[i * count + j];
}

static double score_of(const double *square, unsigned count, unsigned i,
                       unsigned near)
{
    double *others = scratch_of(count, sizeof *others), sum = 0;
    unsigned known = 0;

    for (unsigned j = 0; j < count; j++)
        if (j != i)
            others[known++] = square[i * count + j];
    values_sort(others, known);
    for (unsigned j = 0; j < near; j++)
        sum += others[j];
    free(others);
    return sum;
}

/* Whether i stands before j; NaN stands before none. */
static bool is_nearer(const struct candidate *list, const double *score,
                      unsigned i, unsigned j)
{
    if (score[i] != score[j])
        return score[i] < score[j];
    return list[i].node != list[j].node ? list[i].node < list[j].node : i < j;
}

static unsigned least(const struct policy_numbers *numbers)
{
    return (unsigned)numbers->faulty + 3;
}

static void keep(const struct pile *pile, const struct candidate *list,
                 const struct policy_context *context, unsigned most,
                 double *weight)
{
    unsigned count = pile->count;
    unsigned faulty = (unsigned)context->numbers->faulty;
    double *score, *square;

    if (count < least(context->numbers))
        return;
    score = scratch_of(count, sizeof *score);
    square = scratch_of(count, count * sizeof *square);
    measure(pile, square);
    for (unsigned i = 0; i < count; i++)
        score[i] = score_of(square, count, i, count - faulty - 2);
    free(square);
    for (unsigned i = 0; i < count; i++) {
        unsigned ahead = 0;

        for (unsigned j = 0; j < count; j++)
            ahead += is_nearer(list, score, j, i);
        weight[i] = ahead < most && isfinite(score[i]) ? 1 : 0;
    }
    free(score);
}

static void judge_one(const struct pile *pile, struct candidate *list,
                      const struct policy_context *context, double *weight)
{
    keep(pile, list, context, 1, weight);
}

static void judge_some(const struct pile *pile, struct candidate *list,
                       const struct policy_context *context, double *weight)
{
    keep(pile, list, context, (unsigned)context->numbers->top, weight);
}

const struct reduce_rule reduce_krum = {
    .name = "krum",
    .doc = "The one update that is nearest to its neighbours.",
    .judge = judge_one,
    .least = least,
    .refusal = TOO_FAR,
};
const struct reduce_rule reduce_multi_krum = {
    .name = "multi-krum",
    .doc = "The mean of the m updates that are nearest to theirs.",
    .judge = judge_some,
    .least = least,
    .refusal = TOO_FAR,
};
