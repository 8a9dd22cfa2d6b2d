/* Decimal numbers and units, read exactly and without regard to the locale. */
#ifndef CORE_DECIMAL_H
#define CORE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

/* digits * 10^exponent, with the sign apart. */
struct decimal {
    uint64_t digits;
    int exponent;
    bool negative;
};

/* The factor that a unit behind a number stands for. */
struct unit {
    const char *name;
    uint64_t size;
};

enum measure {
    MEASURE_WHOLE,     /* fine */
    MEASURE_NONSENSE,  /* not a number with one of the units */
    MEASURE_FRACTION,  /* not a whole number of the smallest unit */
    MEASURE_TOO_LARGE, /* beyond 64 bits */
};

/* Reads "12", "-1.5", "2e-3" and moves *text behind it; false, with *text
 * unchanged, if there is no number or its digits exceed 64 bits. */
bool decimal_read(const char **text, struct decimal *out);

/* The nearest double. False beyond 15 digits or 22 decimal places, where one
 * rounding would not be enough (Clinger 1990, the fast path). */
bool decimal_number(const struct decimal *decimal, double *out);

/* Reads a whole text "1.5M": a number, blanks, one of the units. Writes `out`
 * only when the measure is WHOLE. */
enum measure measure_read(const char *text, const struct unit *units,
                          size_t unit_count, uint64_t *out);

/* Adds value * scale in the shortest form that reads back as the same value,
 * or with 15 digits where none does; scale is 1 or 100. */
void number_print(double value, double scale, struct text *out);

#endif
