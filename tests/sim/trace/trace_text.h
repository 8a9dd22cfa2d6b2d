/* What tests of trace/ share: text that is collected, traces at random, and
 * ways to damage a text. */
#ifndef TESTS_SIM_TRACE_TRACE_TEXT_H
#define TESTS_SIM_TRACE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/prng.h"
#include "sim/trace/export.h"
#include "sim/trace/import.h"
#include "sim/trace/trace.h"

/* Text that grows; zeroed at first. Always a string once something was put. */
struct text_buffer {
    char *text;
    size_t length;
    size_t most; /* takes no more than this; 0: any */
};

struct trace_sink text_buffer_sink(struct text_buffer *buffer);
void text_buffer_free(struct text_buffer *buffer);

/* A trace's text; to be freed. */
char *text_of_trace(const struct trace *trace);

/* The trace of this text, which is one; to be destroyed. */
struct trace *trace_of(const char *text);
/* Any trace: a few nodes, quantities and events, drawn from `prng`. */
struct trace *random_trace(struct prng *prng);

/* Parses from exactly as many bytes, so that a sanitizer sees what is read
 * beyond them. NULL, and `why` says why. */
struct trace *parse_exactly(const char *text, size_t size, struct why *why);
/* The same for an importer. */
struct trace *import_exactly(const struct importer *importer, const char *text,
                             size_t size, const struct import_options *options,
                             struct why *why);

/* The text of what an importer makes of `text`, or its error as a sentence; to
 * be freed. */
char *imported(const char *importer, const char *text,
               const struct import_options *options);

/* Whether all that is true of what was read from hostile bytes is so: an error
 * names a line, and a trace is the same when it is written and read. */
bool is_sound(const struct trace *trace, const struct why *why);

/* Every beginning of `text` and `rounds` random changes of it, given to an
 * importer (NULL: the parser), are sound. */
void check_damage(const struct importer *importer, const char *text,
                  unsigned rounds);

#endif
