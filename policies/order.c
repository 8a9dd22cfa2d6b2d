#include "policies/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/score.h"

/* Merge sorts from below, which begin with runs sorted by insertion: most often
 * there is one run and no more. Both are stable. */
enum { RUN = 32 };

void *scratch_of(size_t count, size_t size)
{
    void *room = calloc(count ? count : 1, size);

    if (!room)
        abort();
    return room;
}

static unsigned least(unsigned one, unsigned other)
{
    return one < other ? one : other;
}

static unsigned class_of(const struct candidate *one,
                         const struct policy_context *context)
{
    if (context->pinned >= 0 && one->node == (unsigned)context->pinned)
        return 0;
    return score_known(one->score) ? 1 : 2;
}

static bool precedes(const struct candidate *a, const struct candidate *b,
                     const struct policy_context *context)
{
    unsigned class_a = class_of(a, context), class_b = class_of(b, context);

    if (class_a != class_b)
        return class_a < class_b;
    if (class_a == 1 && a->score != b->score)
        return a->score < b->score;
    if (a->version != b->version)
        return a->version > b->version;
    return a->node < b->node;
}

/* Merges two runs of places, from..middle and middle..to, into `out`. */
static void places_merge(const struct candidate *list,
                         const struct policy_context *context,
                         const unsigned *from, unsigned middle, unsigned to,
                         unsigned *out)
{
    unsigned left = 0, right = middle;

    for (unsigned i = 0; i < to; i++)
        if (left == middle ||
            (right < to &&
             precedes(&list[from[right]], &list[from[left]], context)))
            out[i] = from[right++];
        else
            out[i] = from[left++];
}

/* Sorts each run of so many by insertion. */
static void places_begin(const struct candidate *list, unsigned count,
                         const struct policy_context *context, unsigned *order)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;

        while (at % RUN && precedes(&list[i], &list[order[at - 1]], context)) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

unsigned candidates_order(const struct candidate *list, unsigned count,
                          const struct policy_context *context, unsigned *order)
{
    unsigned *other = scratch_of(count > RUN ? count : 0, sizeof *other);
    unsigned able = 0;

    for (unsigned i = 0; i < count; i++)
        able += class_of(&list[i], context) < 2;
    places_begin(list, count, context, order);
    for (unsigned run = RUN; run < count; run *= 2) {
        for (unsigned at = 0; at < count; at += 2 * run)
            places_merge(list, context, order + at, least(run, count - at),
                         least(2 * run, count - at), other + at);
        memcpy(order, other, count * sizeof *order);
    }
    free(other);
    return able;
}

static bool is_below(double one, double other)
{
    return one < other || (isnan(other) && !isnan(one));
}

/* As for places. */
static void values_merge(const double *from, unsigned middle, unsigned to,
                         double *out)
{
    unsigned left = 0, right = middle;

    for (unsigned i = 0; i < to; i++)
        if (left == middle || (right < to && is_below(from[right], from[left])))
            out[i] = from[right++];
        else
            out[i] = from[left++];
}

static void values_begin(double *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        double value = values[i];
        unsigned at = i;

        while (at % RUN && is_below(value, values[at - 1])) {
            values[at] = values[at - 1];
            at--;
        }
        values[at] = value;
    }
}

void values_sort(double *values, unsigned count)
{
    double *other;

    values_begin(values, count);
    if (count <= RUN)
        return;
    other = scratch_of(count, sizeof *other);
    for (unsigned run = RUN; run < count; run *= 2) {
        for (unsigned at = 0; at < count; at += 2 * run)
            values_merge(values + at, least(run, count - at),
                         least(2 * run, count - at), other + at);
        memcpy(values, other, count * sizeof *values);
    }
    free(other);
}

double values_median(double *values, unsigned count)
{
    values_sort(values, count);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

double values_high(const double *values, unsigned count, double *median)
{
    double *known = scratch_of(count, sizeof *known), high = 0, middle = 0;
    unsigned some = 0;

    for (unsigned i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > 0)
            known[some++] = values[i];
    values_sort(known, some);
    if (some) {
        high = known[(9 * some + 9) / 10 - 1];
        middle = known[(some - 1) / 2];
    }
    free(known);
    if (median)
        *median = middle;
    return high;
}

unsigned share_of(double share, unsigned count)
{
    return (unsigned)(share * count + 1e-9);
}
