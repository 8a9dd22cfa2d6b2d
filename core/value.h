/* Values as people write them: 20, 1.5M, 50ms, 1MiB, 87%, host:7541.
 *
 * Each kind of value has a C type, a reader and a writer. Numbers are read
 * and written without regard to the locale; writing and reading again gives
 * the same value. Nothing here allocates or keeps what it is given. */
#ifndef CORE_VALUE_H
#define CORE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/endpoint.h"
#include "core/goal.h"
#include "core/status.h"
#include "core/text.h"
#include "core/time.h"
#include "core/words.h"

enum { VALUE_TEXT_BYTES = 256 };

#define VALUE_AUTO UINT64_MAX

/* A file name, a name for people, ...: at most 255 bytes, none of them a
 * control character. */
typedef char value_text[VALUE_TEXT_BYTES];

enum value_kind {
    VALUE_COUNT,     /* uint64_t: 20, 10k, 1.5M, 2G */
    VALUE_NUMBER,    /* double: 0.7, 1e-3; at most 15 digits */
    VALUE_DURATION,  /* nanos: 50ms, 1.5s, 3min; never without a unit */
    VALUE_BYTES,     /* uint64_t: 4096, 500kB, 1MiB */
    VALUE_WINDOW,    /* uint64_t: auto (that is 0), or as BYTES */
    VALUE_STEPS,     /* uint64_t: auto (that is VALUE_AUTO), or as COUNT */
    VALUE_RATE,      /* uint64_t, bytes per second: 100Mbit, 12MB/s, none (0) */
    VALUE_TEXT,      /* value_text */
    VALUE_SECRET,    /* value_text, which nobody prints */
    VALUE_FLAG,      /* bool: yes no true false on off 1 0 */
    VALUE_CHOICE,    /* an enum of core/words.def, by its words */
    VALUE_ENDPOINT,  /* struct endpoint: host, host:port, [IPv6]:port */
    VALUE_ENDPOINTS, /* struct endpoints: up to 8, with commas between */
    VALUE_GOAL,      /* struct goal: 87% or 0.35 */
    VALUE_KINDS
};

/* A kind, and for a CHOICE the words to choose from. */
struct value_type {
    enum value_kind kind;
    const struct word *words;
    unsigned word_count;
};

/* Room for any value; each member starts at the union's first byte. */
union value {
    uint64_t count;
    double number;
    nanos duration;
    uint64_t bytes;
    value_text text;
    bool flag;
    unsigned choice;
    struct endpoint endpoint;
    struct endpoints endpoints;
    struct goal goal;
};

/* Bytes of the C type of a kind. */
size_t value_size(enum value_kind kind);

/* Reads `text`. USAGE if it is no such value; then `why` says what was
 * expected ("expected a whole number such as 20") and `out` is unchanged. */
enum status value_parse(const struct value_type *type, const char *text,
                        union value *out, struct why *why) MUST_CHECK;

/* Adds `value` as value_parse reads it; of a SECRET nothing. */
void value_print(const struct value_type *type, const union value *value,
                 struct text *out);

/* What stands for "nobody has chosen": NAN for a NUMBER, GOAL_NONE, else the
 * zero of its type. */
void value_clear(enum value_kind kind, union value *out);

/* <0, 0, >0 as a is below, equal to or above b; 0 for kinds without order, and
 * for STEPS that are auto. */
int value_compare(enum value_kind kind, const union value *a,
                  const union value *b);

#endif
