#include "sim/trace/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Of two equally short forms of a rate the later one is printed. */
static const struct unit rate_units[] = {
    {"B", 1},         {"kB", 1000},       {"KiB", 1 << 10}, {"MB", 1000000},
    {"MiB", 1 << 20}, {"GB", 1000000000}, {"GiB", 1 << 30}, {"kbit", 125},
    {"Mbit", 125000}, {"Gbit", 125000000}};

/* Printed with the last one that divides the value. */
static const struct unit time_units[] = {
    {"ns", 1},     {"us", MICROSECOND},  {"ms", MILLISECOND},
    {"s", SECOND}, {"min", 60 * SECOND}, {"h", 3600 * SECOND}};

static const struct unit part_units[] = {{"", PART_WHOLE},
                                         {"%", PART_WHOLE / 100}};

static const struct unit number_units[] = {{"", PART_WHOLE}};

/* Without a unit: only nothing needs none. */
static const struct unit none = {"", 1};

struct measure_info {
    const struct unit *units;
    size_t count;
    int64_t most;
    const char *expected;
};

static const struct measure_info measures[MEASURES] = {
    [MEASURE_RATE] = {rate_units, LENGTH(rate_units), INT64_MAX,
                      "a rate with its unit, such as 100Mbit or 12.5MB"},
    [MEASURE_TIME] = {time_units, LENGTH(time_units), NEVER - 1,
                      "a time with its unit, such as 3ms or 1.5s"},
    [MEASURE_PART] = {part_units, LENGTH(part_units), PART_WHOLE,
                      "a part of 1, such as 0.001 or 0.1%"},
    [MEASURE_NUMBER] = {number_units, LENGTH(number_units), NEVER - 1,
                        "a number, such as 0.25 or 3.5"},
};

enum status trace_measure_read(enum trace_measure measure, const char *text,
                               int64_t *out, struct why *why)
{
    const struct measure_info *info = &measures[measure];
    uint64_t value = 0;
    enum measure read = measure_read(text, info->units, info->count, &value);

    if (read == MEASURE_NONSENSE &&
        measure_read(text, &none, 1, &value) == MEASURE_WHOLE && value == 0)
        read = MEASURE_WHOLE;
    if (read == MEASURE_NONSENSE)
        return because(why, STATUS_USAGE, "expected %s", info->expected);
    if (read == MEASURE_FRACTION)
        return because(why, STATUS_USAGE,
                       "has more decimals than a trace; "
                       "expected %s",
                       info->expected);
    if (read == MEASURE_TOO_LARGE || value > (uint64_t)info->most)
        return because(why, STATUS_USAGE, "is too large; expected %s",
                       info->expected);
    *out = (int64_t)value;
    return STATUS_OK;
}

static void print_in(const struct unit *unit, int64_t value, struct text *out)
{
    text_add(out, "%" PRId64 "%s", value / (int64_t)unit->size, unit->name);
}

static void print_rate(int64_t value, struct text *out)
{
    char best[32] = "", form[32];
    struct text text;

    for (size_t i = 0; value && i < LENGTH(rate_units); i++) {
        if (value % (int64_t)rate_units[i].size)
            continue;
        text_init(&text, form, sizeof form);
        print_in(&rate_units[i], value, &text);
        if (!*best || text.length <= strlen(best))
            memcpy(best, form, sizeof best);
    }
    text_add(out, "%s", value ? best : "0");
}

static void print_time(int64_t value, struct text *out)
{
    const struct unit *unit = &time_units[0];

    for (size_t i = 0; i < LENGTH(time_units); i++)
        if (value && value % (int64_t)time_units[i].size == 0)
            unit = &time_units[i];
    if (value)
        print_in(unit, value, out);
    else
        text_add(out, "0s");
}

/* A number of billionths, without zeros at the end. */
static void print_billionths(int64_t value, struct text *out)
{
    int64_t fraction = value % PART_WHOLE;
    int decimals = 9;

    text_add(out, "%" PRId64, value / PART_WHOLE);
    if (!fraction)
        return;
    for (; fraction % 10 == 0; decimals--)
        fraction /= 10;
    text_add(out, ".%0*" PRId64, decimals, fraction);
}

void trace_measure_print(enum trace_measure measure, int64_t value,
                         struct text *out)
{
    if (measure == MEASURE_RATE)
        print_rate(value, out);
    else if (measure == MEASURE_TIME)
        print_time(value, out);
    else
        print_billionths(value, out);
}

void trace_time_print(nanos time, struct text *out)
{
    print_billionths(time, out);
    text_add(out, "s");
}

void trace_plain_print(enum trace_measure measure, int64_t value,
                       struct text *out)
{
    if (measure == MEASURE_RATE)
        text_add(out, "%" PRId64, value);
    else
        print_billionths(value, out);
}

bool trace_round(struct decimal decimal, int power, int64_t *out)
{
    uint64_t digits = decimal.digits;
    int exponent = decimal.exponent + power;
    unsigned half = 0;

    for (; digits && exponent < 0; exponent++) {
        half = digits % 10 >= 5;
        digits /= 10;
    }
    if (exponent >= 0)
        digits += half;
    for (; digits && exponent > 0; exponent--) {
        if (digits > INT64_MAX / 10)
            return false;
        digits *= 10;
    }
    if (digits >= INT64_MAX || (decimal.negative && digits))
        return false;
    *out = (int64_t)digits;
    return true;
}
