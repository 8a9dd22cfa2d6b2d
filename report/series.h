/* A curve over time, in bounded memory.
 *
 * Samples are kept one by one until there are SERIES_POINTS; then each two
 * neighbours become one point, their mean, and from then on twice as many
 * samples make a point. So a run of any length has between half and all of
 * the points, evenly spread. */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include <stdint.h>

enum { SERIES_POINTS = 2000 };

struct point {
    double time; /* seconds */
    double value;
};

/* Zeroed at first. */
struct series {
    struct point points[SERIES_POINTS];
    unsigned count;
    uint64_t per_point;  /* samples in a point; 0: nothing was added yet */
    uint64_t pending;    /* samples in `sum` */
    struct point sum;    /* of those that are not yet a point */
    struct point newest; /* the last sample */
};

/* Adds a sample; one that is not finite is passed over. */
void series_add(struct series *series, double time, double value);

#endif
