/* What a hub that runs shows to who looks at it from another terminal (top),
 * over the socket of ctl.h: lines that are asked for, and text that answers. */
#ifndef HUB_PROGRAM_LOOK_H
#define HUB_PROGRAM_LOOK_H

#include "report/table.h"

/* "table WIDTH HEIGHT colour|plain", "line" or "json": a form of the table.
 * False: it is none of these. */
bool look_answer(const char *line, const struct table *table, struct text *out);

#endif
