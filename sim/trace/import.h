/* Importers: what other programs have measured, as traces.
 *
 * Each takes a whole text of any bytes. What it cannot read is MALFORMED, with
 * a sentence that names the line and what to do; CONFIG is more than a trace
 * can hold, USAGE options that do not fit. Nothing is guessed. Numbers are
 * rounded to what a trace holds, times begin with the first sample. All take
 * memory that is bounded by the length of the text. */
#ifndef SIM_TRACE_IMPORT_H
#define SIM_TRACE_IMPORT_H

#include <stddef.h>

#include "sim/trace/trace.h"

struct import_options {
    const char *node;    /* whose track; TRACE_ALL unless somebody says */
    unsigned quantities; /* bits, 1 << QUANTITY_...; 0: nobody has said */
    /* Of tables; NULL: nobody has said. `column` is the value's, or time's and
     * value's, by number from 1 or name: "3", "1,3", "time,rate". The units are
     * of numbers that have none. */
    const char *column, *time_unit, *unit;
};

struct importer {
    const char *name, *doc;
    enum status (*import)(const char *text, size_t size,
                          const struct import_options *options,
                          struct trace **out, struct why *why);
};

extern const struct importer importers[];
extern const unsigned importer_count;

/* By name, or NULL. */
const struct importer *importer_find(const char *name);

/* Reads what --quantity may be, rate (up and down) or a quantity, as bits.
 * False: it is none. */
bool import_quantities(const char *word, unsigned *bits);

#define IMPORTER(name, doc)                                                    \
    enum status import_##name(const char *text, size_t size,                   \
                              const struct import_options *options,            \
                              struct trace **out, struct why *why) MUST_CHECK;
#include "sim/trace/importers.def"
#undef IMPORTER

#endif
