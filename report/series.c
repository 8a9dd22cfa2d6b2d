#include "report/series.h"

#include <math.h>
#include <string.h>

static void halve(struct series *series)
{
    for (unsigned i = 0; i < SERIES_POINTS / 2; i++) {
        const struct point *pair = &series->points[2 * (size_t)i];

        series->points[i] = (struct point){
            (pair[0].time + pair[1].time) / 2,
            (pair[0].value + pair[1].value) / 2,
        };
    }
    series->count = SERIES_POINTS / 2;
    series->per_point *= 2;
}

void series_add(struct series *series, double time, double value)
{
    double samples;

    if (!isfinite(value) || !isfinite(time))
        return;
    if (!series->per_point)
        series->per_point = 1;
    series->newest = (struct point){time, value};
    series->sum.time += time;
    series->sum.value += value;
    if (++series->pending < series->per_point)
        return;
    if (series->count == SERIES_POINTS)
        halve(series);
    if (series->pending < series->per_point)
        return;
    samples = (double)series->pending;
    series->points[series->count++] = (struct point){
        series->sum.time / samples,
        series->sum.value / samples,
    };
    series->pending = 0;
    series->sum = (struct point){0, 0};
}
