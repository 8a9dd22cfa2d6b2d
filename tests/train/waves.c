#include "tests/train/waves.h"

#include <math.h>
#include <stdio.h>

double wave_at(size_t i, double step)
{
    return sin(step * (double)i * (double)i);
}

void waves_fill(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(0.3 * wave_at(i + 1, 1.7));
}

double check_golden(const struct golden *golden, const float *x,
                    const float *before, size_t count, double tolerance)
{
    double length = 0, first = 0, second = 0, worst;

    for (size_t i = 0; i < count; i++) {
        double by = (double)x[i] - (before ? (double)before[i] : 0);

        length += by * by;
        first += by * wave_at(i + 1, 1);
        second += by * wave_at(i + 1, 0.37);
    }
    worst =
        fmax(fabs(sqrt(length) - golden->length),
             fmax(fabs(first - golden->first), fabs(second - golden->second)));
    if (!CHECK(worst <= tolerance * golden->length))
        (void)printf("%s: %g of its length\n", golden->name,
                     worst / golden->length);
    return worst / golden->length;
}
