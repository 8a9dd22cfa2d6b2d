/* The beginning of all drawings. Inside of report/. */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include "core/text.h"

/* Of a drawing, in its own units. */
enum { FIGURE_WIDTH = 960 };

/* <figure> with title and unit, which may be NULL. */
void figure_begin(const char *title, const char *unit, struct text *out);
/* <svg> of this height. */
void figure_begin_drawing(const char *title, double height, struct text *out);
/* The class of a colour: c0.., or, below 0, centre. */
void figure_class(int colour, struct text *out);

#endif
