/* Dots in rows, drawn as SVG: how several runs of each of some things came out,
 * with the median of each. */
#ifndef REPORT_DOTS_H
#define REPORT_DOTS_H

#include <stddef.h>

#include "core/text.h"

enum { DOTS_ROWS = 64 };

struct dots_row {
    const char *name;
    const double *values; /* what is not finite is counted beside the row */
    size_t count;
    double median;
    int colour; /* as of a struct curve */
};

struct dots {
    const char *title, *unit; /* of the values */
    const char *missing;      /* what those are that are not finite */
    struct dots_row rows[DOTS_ROWS];
    unsigned count;
};

/* A figure; says so where there is no dot. */
void dots_draw(const struct dots *dots, struct text *out);

#endif
