/* Curves drawn as SVG, to stand in a page of HTML.
 *
 * No script is needed: axes, ticks and legend are drawn here, and colours are
 * the classes c0..c7 (nodes), centre and goal of the page's style. */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include <stdbool.h>

#include "core/text.h"
#include "report/course.h"
#include "report/series.h"

enum { CHART_MAX_CURVES = COURSE_NODES + 1, CHART_COLOURS = 8 };

struct curve {
    const struct series *series;
    const char *name;
    int colour; /* a class c0.., or -1: the centre, whose last value holds */
};

struct chart {
    const char *title;
    const char *unit; /* of the values, behind the title */
    double seconds;   /* the axis of time reaches so far */
    double scale;     /* values are drawn times this, 100 for percent */
    bool from_zero;   /* the axis of values begins at 0 */
    bool low;         /* half as high as others */
    bool has_goal;
    double goal; /* before `scale` */
    struct curve curves[CHART_MAX_CURVES];
    unsigned count;
};

/* A figure with title, legend and curves; says so where there is no point. */
void chart_draw(const struct chart *chart, struct text *out);

/* The events of a run as dots on an axis of time, one lane per level. */
void chart_draw_moments(const struct course *course, double seconds,
                        struct text *out);

#endif
