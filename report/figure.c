#include "report/figure.h"

#include "core/quote.h"
#include "report/chart.h"

void figure_begin(const char *title, const char *unit, struct text *out)
{
    text_add(out, "<figure><figcaption>");
    quote_html(out, title);
    if (unit)
        text_add(out, " <small>%s</small>", unit);
    text_add(out, "</figcaption>\n");
}

void figure_begin_drawing(const char *title, double height, struct text *out)
{
    text_add(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
             FIGURE_WIDTH, height);
    quote_html(out, title);
    text_add(out, "\">\n");
}

void figure_class(int colour, struct text *out)
{
    if (colour < 0)
        text_add(out, "centre");
    else
        text_add(out, "c%d", colour % CHART_COLOURS);
}
