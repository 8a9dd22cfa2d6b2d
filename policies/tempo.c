#include "policies/tempo.h"

#include <math.h>
#include <stdlib.h>

#define BUSY 0.75
#define EXCHANGING 0.01
#define PER_SECOND 20
#define PART 2 /* of k, that an exchange takes at most: 1/2 */
/* So that 3.0000000001 iterations, of sums of floats, are 3. */
#define SLACK 1e-6

/* Rounded up, from 1 to TEMPO_MOST. */
static uint64_t steps_of(double steps)
{
    steps = ceil(steps - SLACK);
    if (!(steps < TEMPO_MOST))
        return TEMPO_MOST;
    return steps < 1 ? 1 : (uint64_t)steps;
}

uint64_t tempo_every(const struct tempo_seen *seen, const char **bound)
{
    const struct {
        double steps;
        const char *by;
    } bounds[] = {
        {0, "nothing that is known"},
        {seen->busy * seen->rate / BUSY, "links"},
        {seen->exchanging * seen->rate / EXCHANGING, "trainers' work"},
        {seen->rate / PER_SECOND, "20 exchanges a second"},
        {PART * seen->quick, "exchanges' time"},
        {round(seen->spread), "the slowest node"},
    };
    unsigned most = 0;

    for (unsigned i = 1; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].steps > bounds[most].steps)
            most = i;
    if (bound)
        *bound = bounds[most].by;
    return steps_of(bounds[most].steps);
}

uint64_t tempo_delay(const struct tempo_seen *seen, uint64_t every)
{
    return steps_of(fmin(seen->usual, fmax(seen->quick, (double)every / PART)));
}

bool tempo_differs(uint64_t now, uint64_t before)
{
    uint64_t apart = now > before ? now - before : before - now;

    return apart > before / 4;
}

static int by_value(const void *one, const void *other)
{
    const struct tempo_value *a = one, *b = other;

    return (a->value > b->value) - (a->value < b->value);
}

double tempo_percentile(struct tempo_value *list, unsigned count, double share)
{
    double rest = 0;
    unsigned i = 0;

    if (!count)
        return 0;
    qsort(list, count, sizeof *list, by_value);
    for (unsigned j = 0; j < count; j++)
        rest += share * list[j].weight;
    while (i + 1 < count && (rest -= list[i].weight) > SLACK)
        i++;
    return list[i].value;
}
