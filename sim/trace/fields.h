/* The fields of a message in a recording, "name=value name=value [size]".
 * Inside of trace/. */
#ifndef SIM_TRACE_FIELDS_H
#define SIM_TRACE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "sim/trace/trace.h"

/* What a message is made of, beside its kind. */
struct fields {
    unsigned long line;
    uint64_t peer;
    const char *text;
};

/* MALFORMED, with a sentence: the message has no such thing. */
enum status fields_lack(const struct fields *fields, const char *what,
                        struct why *why);
/* Read the field of this name; false if it is not there or no such value. */
bool fields_count(const struct fields *fields, const char *name, uint64_t *out);
/* number * 10^power, rounded. */
bool fields_rounded(const struct fields *fields, const char *name, int power,
                    int64_t *out);
/* The payload's size, "[1024 3f...]" at the end; 0 without: what a node knows
 * it is not sent. */
bool fields_payload(const struct fields *fields, uint64_t *out);
/* The field `name`, a string, as a name that a trace may have: one word. */
bool fields_name(const struct fields *fields, char name[TRACE_NAME_BYTES]);

#endif
