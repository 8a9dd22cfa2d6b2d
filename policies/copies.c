#include "policies/copies.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/prng.h"
#include "policies/order.h"

enum { FEW = 3, WORD = 64 /* bits of a hash: signs */ };
#define ALIKE 0.9

void sketch_add(struct sketch *sketch, uint64_t seed, uint64_t first,
                const double *values, size_t count)
{
    static const double signs[] = {-1, 1};
    uint64_t hash = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t index = first + i;

        if (!i || index % WORD == 0)
            hash = prng_mix(seed ^ index / WORD);
        sketch->at[(hash / WORD + index) % SKETCH] +=
            signs[hash >> index % WORD & 1] * values[i];
    }
}

/* a + by b. */
static void add(struct sketch *a, double by, const struct sketch *b)
{
    for (unsigned i = 0; i < SKETCH; i++)
        a->at[i] += by * b->at[i];
}

void sketch_merge(struct sketch *sketch, const struct sketch *part)
{
    add(sketch, 1, part);
}

static double dot(const struct sketch *a, const struct sketch *b)
{
    double sum = 0;

    for (unsigned i = 0; i < SKETCH; i++)
        sum += a->at[i] * b->at[i];
    return sum;
}

/* Directions of updates of one round, and their mean. Zeros: it goes nowhere,
 * or is not known. */
struct ways {
    struct sketch *way, common;
    unsigned known;
};

static struct ways ways_of(const struct offered *list, unsigned count,
                           bool before)
{
    struct ways ways = {.way = scratch_of(count, sizeof *ways.way)};

    for (unsigned i = 0; i < count; i++) {
        const struct sketch *one = before ? list[i].before : list[i].now;
        double length = one ? sqrt(dot(one, one)) : 0;

        if (!one || !(length > 0) || !isfinite(length))
            continue;
        add(&ways.way[i], 1 / length, one);
        add(&ways.common, 1, &ways.way[i]);
        ways.known++;
    }
    for (unsigned i = 0; ways.known && i < SKETCH; i++)
        ways.common.at[i] /= ways.known;
    return ways;
}

/* cos(a - c, b - c), 0 where one of them is c. */
static double cosine(const struct sketch *a, const struct sketch *b,
                     const struct sketch *c)
{
    double product = 0, first = 0, second = 0, lengths;

    for (unsigned i = 0; i < SKETCH; i++) {
        double x = a->at[i] - c->at[i], y = b->at[i] - c->at[i];

        product += x * y;
        first += x * x;
        second += y * y;
    }
    lengths = sqrt(first * second);
    return lengths > 0 ? product / lengths : 0;
}

/* Of a direction and the one at place j, beside what these have in common; 0:
 * they are not alike. */
static double likeness(const struct sketch *way, const struct ways *ways,
                       unsigned j)
{
    double rest;

    if (ways->known < FEW || dot(way, &ways->way[j]) < ALIKE)
        return 0;
    rest = cosine(way, &ways->way[j], &ways->common);
    return rest < ALIKE ? 0 : rest;
}

void copies_find(const struct offered *list, unsigned count, int *of)
{
    struct ways now, before;

    for (unsigned i = 0; i < count; i++)
        of[i] = -1;
    if (count > COPY_MOST)
        return;
    now = ways_of(list, count, false);
    before = ways_of(list, count, true);
    for (unsigned i = 0; i < count; i++) {
        double most = 0;

        for (unsigned j = 0; j < count; j++) {
            double alike = fmax(j < i ? likeness(&now.way[i], &now, j) : 0,
                                j != i ? likeness(&now.way[i], &before, j) : 0);

            if (alike <= most)
                continue;
            most = alike;
            of[i] = (int)j;
        }
    }
    free(now.way);
    free(before.way);
}
