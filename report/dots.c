#include "report/dots.h"

#include <math.h>

#include "core/quote.h"
#include "report/axis.h"
#include "report/figure.h"

enum {
    LEFT = 170,  /* names are before it */
    RIGHT = 830, /* and behind it those that are missing */
    ROW = 30,
    BELOW = 26, /* for the axis */
    LANES = 5,  /* of a row, so that equal values are seen apart */
    NAME = 24,  /* columns */
    MOST = 500  /* dots of a row: more cannot be told apart */
};

static struct axis axis_of(const struct dots *dots)
{
    double low = INFINITY, high = -INFINITY;
    struct axis axis;

    for (unsigned i = 0; i < dots->count; i++)
        for (size_t j = 0; j < dots->rows[i].count; j++) {
            double value = dots->rows[i].values[j];

            if (isfinite(value)) {
                low = fmin(low, value);
                high = fmax(high, value);
            }
        }
    /* From 0 where that costs little room: lengths can be compared then. */
    if (low > 0 && low < high / 2)
        low = 0;
    axis =
        axis_of_values(isfinite(low) ? low : 0, isfinite(high) ? high : 1, 8);
    axis.from = LEFT;
    axis.to = RIGHT;
    return axis;
}

static void add_axis(const struct dots *dots, const struct axis *axis,
                     struct text *out)
{
    unsigned bottom = dots->count * ROW;

    for (unsigned i = 0; i < axis_ticks(axis); i++) {
        double x = axis_place(axis, axis_tick(axis, i));

        text_add(out,
                 "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" "
                 "y2=\"%u\"/>\n<text x=\"%.1f\" y=\"%u\" "
                 "text-anchor=\"middle\">",
                 x, x, bottom, x, bottom + 18);
        axis_label(axis, i, out);
        text_add(out, "</text>\n");
    }
}

static void add_name(const char *name, double middle, struct text *out)
{
    char bytes[2 * NAME + 8];
    struct text shown;

    text_init(&shown, bytes, sizeof bytes);
    (void)quote_plain(&shown, name, NAME);
    text_add(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 12,
             middle + 4);
    quote_html(out, bytes);
    text_add(out, "</text>\n");
}

static void add_median(const struct dots_row *row, const struct axis *axis,
                       double middle, struct text *out)
{
    double x = axis_place(axis, row->median);

    if (!isfinite(row->median))
        return;
    text_add(out,
             "<line class=\"median\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
             "y2=\"%.1f\"><title>median %.4g</title></line>\n",
             x, x, middle - ROW * 0.36, middle + ROW * 0.36, row->median);
}

static void add_row(const struct dots *dots, const struct dots_row *row,
                    const struct axis *axis, double middle, struct text *out)
{
    size_t stride = row->count / MOST + 1, missing = 0;

    add_name(row->name, middle, out);
    for (size_t i = 0; i < row->count; i++) {
        double lane = (double)(i / stride % LANES) - (LANES - 1) / 2.0;

        missing += isfinite(row->values[i]) == 0;
        if (!isfinite(row->values[i]) || i % stride)
            continue;
        text_add(out, "<circle class=\"");
        figure_class(row->colour, out);
        text_add(out,
                 "\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%.4g</title>"
                 "</circle>\n",
                 axis_place(axis, row->values[i]), middle + 3 * lane,
                 row->values[i]);
    }
    add_median(row, axis, middle, out);
    if (missing)
        text_add(out,
                 "<text class=\"goal\" x=\"%d\" y=\"%.1f\">%zu %s</text>\n",
                 RIGHT + 12, middle + 4, missing, dots->missing);
}

void dots_draw(const struct dots *dots, struct text *out)
{
    struct axis axis = axis_of(dots);
    double height = (double)dots->count * ROW;

    figure_begin(dots->title, dots->unit, out);
    if (dots->count) {
        figure_begin_drawing(dots->title, height + BELOW, out);
        add_axis(dots, &axis, out);
        for (unsigned i = 0; i < dots->count; i++)
            add_row(dots, &dots->rows[i], &axis, (i + 0.5) * ROW, out);
        text_add(out, "</svg>\n");
    } else {
        text_add(out, "<p class=\"none\">There is nothing to draw.</p>\n");
    }
    text_add(out, "</figure>\n");
}
