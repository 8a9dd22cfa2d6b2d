/* A grid: options, and the values that each of them is to have.
 *
 *     "every=10,20,50 delay=0,5"
 *
 * Its places are numbers from 0: every combination, the last option changing
 * fastest. A value with a comma in it cannot stand in a grid. */
#ifndef SIM_STUDY_GRID_H
#define SIM_STUDY_GRID_H

#include "core/options.h"
#include "core/status.h"
#include "core/text.h"

enum { GRID_AXES = 16, GRID_VALUES = 64, GRID_PLACES = 4096 };

struct grid_axis {
    const char *name; /* an option of starswitch-sim */
    const char *values[GRID_VALUES];
    unsigned count;
};

/* Not to be copied: it points into itself. */
struct grid {
    char bytes[VALUE_TEXT_BYTES + 32]; /* names and values are in it */
    struct grid_axis axes[GRID_AXES];
    unsigned count;  /* axes */
    unsigned places; /* combinations, at most GRID_PLACES */
};

/* Reads a grid; each value is tried on its own. `option`, for sentences, is
 * where it comes from; the text fits in `bytes`. USAGE: no such option or
 * value, one of them twice, an option that is none of the star, or too many
 * combinations. */
enum status grid_parse(const char *text, const char *option, struct grid *out,
                       struct why *why) MUST_CHECK;

/* Which of its values an axis has at a place. */
unsigned grid_value(const struct grid *grid, unsigned place, unsigned axis);

/* The place that differs from this one in the value of one axis only. */
unsigned grid_sibling(const struct grid *grid, unsigned place, unsigned axis,
                      unsigned value);

/* Sets the options of a place. */
void grid_apply(const struct grid *grid, unsigned place,
                struct options *options);

/* Adds "every=10 delay=5"; of a grid with one option "10". */
void grid_name(const struct grid *grid, unsigned place, struct text *out);

#endif
