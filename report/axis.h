/* Axes with round numbers on them. Inside of report/chart.c. */
#ifndef REPORT_AXIS_H
#define REPORT_AXIS_H

#include "core/text.h"

/* Maps values low..high to pixels from..to, with a tick each `step`. */
struct axis {
    double low, high, step;
    double from, to;
    double unit;      /* divides values for their labels: 60 for minutes */
    const char *name; /* of that unit, or NULL */
};

/* An axis that reaches from below `low` to above `high`, at round numbers,
 * with about `ticks` steps. */
struct axis axis_of_values(double low, double high, unsigned ticks);

/* From 0 to exactly `seconds`, in seconds, minutes or hours. */
struct axis axis_of_time(double seconds, unsigned ticks);

double axis_place(const struct axis *axis, double value);
unsigned axis_ticks(const struct axis *axis);
double axis_tick(const struct axis *axis, unsigned tick);
/* The number at a tick, with as many decimals as the step needs. */
void axis_label(const struct axis *axis, unsigned tick, struct text *out);

#endif
