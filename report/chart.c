#include "report/chart.h"

#include <inttypes.h>
#include <math.h>

#include "core/quote.h"
#include "report/axis.h"
#include "report/figure.h"
#include "report/stamp.h"

/* The drawing, in its own units. */
enum {
    LEFT = 56,
    RIGHT = FIGURE_WIDTH - 16,
    TOP = 12,
    BELOW = 42,         /* for the axis of time */
    LANE = 26,          /* height of a level's lane */
    DRAWN_POINTS = 500, /* of a curve: more cannot be told apart */
    NAMED_CURVES = 16   /* in the legend */
};

/* ---- axes ---- */

static void add_time_axis(const struct axis *axis, double bottom,
                          struct text *out)
{
    unsigned ticks = axis_ticks(axis);

    text_add(out,
             "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
             "y2=\"%.1f\"/>\n",
             LEFT, RIGHT, bottom, bottom);
    for (unsigned i = 0; i < ticks; i++) {
        double x = axis_place(axis, axis_tick(axis, i));

        text_add(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x,
                 bottom + 18);
        axis_label(axis, i, out);
        text_add(out, "</text>\n");
    }
    text_add(out,
             "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">time, %s"
             "</text>\n",
             RIGHT, bottom + 36, axis->name);
}

static void add_value_axis(const struct axis *axis, struct text *out)
{
    unsigned ticks = axis_ticks(axis);

    for (unsigned i = 0; i < ticks; i++) {
        double y = axis_place(axis, axis_tick(axis, i));

        text_add(out,
                 "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                 "y2=\"%.1f\"/>\n",
                 LEFT, RIGHT, y, y);
        text_add(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                 LEFT - 8, y + 4);
        axis_label(axis, i, out);
        text_add(out, "</text>\n");
    }
}

static struct axis time_axis(double seconds)
{
    struct axis axis = axis_of_time(seconds, 10);

    axis.from = LEFT;
    axis.to = RIGHT;
    return axis;
}

/* The lowest and the highest value there is to be drawn. */
struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static struct range range_of(const struct chart *chart)
{
    struct range range = {INFINITY, -INFINITY};

    for (unsigned i = 0; i < chart->count; i++) {
        const struct series *series = chart->curves[i].series;

        for (unsigned j = 0; j < series->count; j++)
            widen(&range, series->points[j].value);
        if (series->per_point)
            widen(&range, series->newest.value);
    }
    if (chart->has_goal && isfinite(range.low))
        widen(&range, chart->goal);
    if (chart->from_zero && isfinite(range.low))
        widen(&range, 0);
    return range;
}

/* The height of what is drawn above the axis of time. */
static int bottom_of(const struct chart *chart)
{
    return chart->low ? 140 : 258;
}

static struct axis value_axis(const struct chart *chart, struct range range)
{
    struct axis axis =
        axis_of_values(range.low * chart->scale, range.high * chart->scale,
                       chart->low ? 3 : 5);

    axis.from = bottom_of(chart);
    axis.to = TOP;
    return axis;
}

/* ---- curves ---- */

/* Both axes of a chart. */
struct frame {
    struct axis time, value;
    double scale;
};

static void add_point(const struct frame *frame, struct point point,
                      struct text *out)
{
    double time = fmin(point.time, frame->time.high);

    text_add(out, "%.1f,%.1f ", axis_place(&frame->time, time),
             axis_place(&frame->value, point.value * frame->scale));
}

static void add_curve(const struct frame *frame, const struct curve *curve,
                      struct text *out)
{
    const struct series *series = curve->series;
    unsigned stride = series->count / DRAWN_POINTS + 1;

    if (!series->per_point)
        return;
    text_add(out, "<polyline class=\"curve ");
    figure_class(curve->colour, out);
    text_add(out, "\" points=\"");
    for (unsigned i = 0; i < series->count; i += stride)
        add_point(frame, series->points[i], out);
    add_point(frame, series->newest, out);
    if (curve->colour < 0)
        add_point(frame, (struct point){frame->time.high, series->newest.value},
                  out);
    text_add(out, "\"><title>");
    quote_html(out, curve->name);
    text_add(out, "</title></polyline>\n");
}

static void add_goal(const struct frame *frame, double goal, struct text *out)
{
    double y = axis_place(&frame->value, goal * frame->scale);

    text_add(out,
             "<line class=\"goal\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
             "y2=\"%.1f\"/>\n",
             LEFT, RIGHT, y, y);
    text_add(out, "<text class=\"goal\" x=\"%d\" y=\"%.1f\">goal %.4g</text>\n",
             LEFT + 6, y > TOP + 20 ? y - 5 : y + 15, goal * frame->scale);
}

static void add_legend(const struct chart *chart, struct text *out)
{
    text_add(out, "<p class=\"legend\">");
    for (unsigned i = 0; i < chart->count && i < NAMED_CURVES; i++) {
        text_add(out, "<span><i class=\"");
        figure_class(chart->curves[i].colour, out);
        text_add(out, "\"></i>");
        quote_html(out, chart->curves[i].name);
        text_add(out, "</span>\n");
    }
    if (chart->count > NAMED_CURVES)
        text_add(out, "<span>and %u more</span>", chart->count - NAMED_CURVES);
    text_add(out, "</p>\n");
}

/* The centre is drawn last, above the others. */
static void add_curves(const struct chart *chart, struct range range,
                       struct text *out)
{
    struct frame frame = {time_axis(chart->seconds), value_axis(chart, range),
                          chart->scale};

    figure_begin_drawing(chart->title, bottom_of(chart) + BELOW, out);
    add_value_axis(&frame.value, out);
    add_time_axis(&frame.time, bottom_of(chart), out);
    for (unsigned i = chart->count; i > 0; i--)
        add_curve(&frame, &chart->curves[i - 1], out);
    if (chart->has_goal)
        add_goal(&frame, chart->goal, out);
    text_add(out, "</svg>\n");
}

void chart_draw(const struct chart *chart, struct text *out)
{
    struct range range = range_of(chart);

    figure_begin(chart->title, chart->unit, out);
    if (isfinite(range.low)) {
        if (chart->count > 1)
            add_legend(chart, out);
        add_curves(chart, range, out);
    } else {
        text_add(out, "<p class=\"none\">There is nothing to draw: no value "
                      "was reported.</p>\n");
    }
    text_add(out, "</figure>\n");
}

/* ---- moments ---- */

static const char *const lanes[] = {[LEVEL_INFO] = "info",
                                    [LEVEL_WARNING] = "warning",
                                    [LEVEL_ERROR] = "error"};

static double lane_place(enum level level)
{
    return LANE * ((double)LEVEL_ERROR - (double)level) + LANE / 2.0;
}

static void add_moment(const struct axis *axis, const struct moment *moment,
                       struct text *out)
{
    enum level level = note_level(moment->note.kind);
    double time = (double)moment->elapsed / (double)SECOND;

    text_add(out,
             "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\">"
             "<title>",
             lanes[level], axis_place(axis, fmin(time, axis->high)),
             lane_place(level));
    stamp_add_span(out, moment->elapsed);
    text_add(out, " %s ", note_name(moment->note.kind));
    quote_html(out, moment->note.subject);
    text_add(out, ": ");
    quote_html(out, moment->note.text);
    text_add(out, "</title></circle>\n");
}

void chart_draw_moments(const struct course *course, double seconds,
                        struct text *out)
{
    struct axis axis = time_axis(seconds);
    double bottom = LANE * LEVEL_ERROR;

    figure_begin("Events", NULL, out);
    figure_begin_drawing("Events", bottom + BELOW, out);
    for (int level = LEVEL_INFO; level <= LEVEL_ERROR; level++)
        text_add(out,
                 "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s"
                 "</text>\n",
                 LEFT - 8, lane_place((enum level)level) + 4, lanes[level]);
    for (unsigned i = 0; i < course_moments(course); i++)
        add_moment(&axis, course_moment(course, i), out);
    add_time_axis(&axis, bottom, out);
    text_add(out, "</svg>\n</figure>\n");
}
