#include "core/value.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/decimal.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct unit count_units[] = {
    {"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}};

/* Printed with the last one that divides the value, so in rising order. */
static const struct unit duration_units[] = {
    {"ns", 1},     {"us", MICROSECOND},  {"ms", MILLISECOND},
    {"s", SECOND}, {"min", 60 * SECOND}, {"h", 3600 * SECOND}};

static const struct unit byte_units[] = {
    {"", 1},         {"B", 1},         {"kB", 1000},       {"KiB", 1 << 10},
    {"MB", 1000000}, {"MiB", 1 << 20}, {"GB", 1000000000}, {"GiB", 1 << 30}};

/* In bits per second. */
static const struct unit rate_units[] = {
    {"B/s", 8},           {"kbit", 1000},
    {"kB/s", 8000},       {"KiB/s", 8 << 10},
    {"Mbit", 1000000},    {"MB/s", 8000000},
    {"MiB/s", 8 << 20},   {"Gbit", 1000000000},
    {"GB/s", 8000000000}, {"GiB/s", (uint64_t)8 << 30}};

/* How a flag may be written; printed as the first two. */
static const struct {
    const char *text;
    bool flag;
} flag_words[] = {{"no", false},  {"yes", true},  {"false", false},
                  {"true", true}, {"off", false}, {"on", true},
                  {"0", false},   {"1", true}};

static enum status expected(struct why *why, const char *what)
{
    return because(why, STATUS_USAGE, "expected %s", what);
}

/* The whole of `text` in one of the units; `what` is said when it is not. */
static enum status parse_measure(const char *text, const struct unit *units,
                                 size_t unit_count, const char *what,
                                 uint64_t *out, struct why *why)
{
    switch (measure_read(text, units, unit_count, out)) {
    case MEASURE_WHOLE:
        return STATUS_OK;
    case MEASURE_TOO_LARGE:
        return because(why, STATUS_USAGE, "is too large");
    default:
        return expected(why, what);
    }
}

static enum status parse_count(const struct value_type *type, const char *text,
                               union value *out, struct why *why)
{
    (void)type;
    return parse_measure(text, count_units, LENGTH(count_units),
                         "a whole number such as 20", &out->count, why);
}

static void print_count(const struct value_type *type, const union value *value,
                        struct text *out)
{
    (void)type;
    text_add(out, "%llu", (unsigned long long)value->count);
}

static enum status parse_number(const struct value_type *type, const char *text,
                                union value *out, struct why *why)
{
    struct decimal decimal;
    double number;

    (void)type;
    if (!decimal_read(&text, &decimal) || *text)
        return expected(why, "a number such as 0.7");
    if (!decimal_number(&decimal, &number))
        return expected(why, "a number of at most 15 digits");
    out->number = number;
    return STATUS_OK;
}

static void print_number(const struct value_type *type,
                         const union value *value, struct text *out)
{
    (void)type;
    number_print(value->number, 1, out);
}

static enum status parse_duration(const struct value_type *type,
                                  const char *text, union value *out,
                                  struct why *why)
{
    static const struct unit none = {"", 1};
    uint64_t duration = 0;
    enum status status;

    (void)type;
    if (measure_read(text, &none, 1, &duration) != MEASURE_NONSENSE)
        return because(why, STATUS_USAGE,
                       "a time needs its unit: write 50ms, 2s, 3min or 1h");
    status =
        parse_measure(text, duration_units, LENGTH(duration_units),
                      "a time such as 50ms, 2s, 3min or 1h", &duration, why);
    if (status != STATUS_OK)
        return status;
    if (duration >= (uint64_t)NEVER)
        return because(why, STATUS_USAGE, "is too large");
    out->duration = (nanos)duration;
    return STATUS_OK;
}

static void print_duration(const struct value_type *type,
                           const union value *value, struct text *out)
{
    uint64_t duration = (uint64_t)value->duration;
    const struct unit *unit = &duration_units[0];

    (void)type;
    for (size_t i = 0; i < LENGTH(duration_units); i++)
        if (duration && duration % duration_units[i].size == 0)
            unit = &duration_units[i];
    text_add(out, "%llu%s", (unsigned long long)(duration / unit->size),
             duration ? unit->name : "s");
}

static enum status parse_bytes(const struct value_type *type, const char *text,
                               union value *out, struct why *why)
{
    (void)type;
    return parse_measure(text, byte_units, LENGTH(byte_units),
                         "a number of bytes such as 1MiB or 500kB", &out->bytes,
                         why);
}

static void print_bytes(const struct value_type *type, const union value *value,
                        struct text *out)
{
    const struct unit *unit = &byte_units[0];

    (void)type;
    for (size_t i = 1; i < LENGTH(byte_units); i++)
        if (value->bytes && value->bytes % byte_units[i].size == 0)
            unit = &byte_units[i];
    text_add(out, "%llu%s", (unsigned long long)(value->bytes / unit->size),
             unit->name);
}

static enum status parse_window(const struct value_type *type, const char *text,
                                union value *out, struct why *why)
{
    if (strcmp(text, "auto") != 0)
        return parse_bytes(type, text, out, why);
    out->bytes = 0;
    return STATUS_OK;
}

static enum status parse_steps(const struct value_type *type, const char *text,
                               union value *out, struct why *why)
{
    (void)type;
    if (strcmp(text, "auto") != 0)
        return parse_measure(text, count_units, LENGTH(count_units),
                             "a whole number such as 20, or auto", &out->count,
                             why);
    out->count = VALUE_AUTO;
    return STATUS_OK;
}

static void print_steps(const struct value_type *type, const union value *value,
                        struct text *out)
{
    if (value->count == VALUE_AUTO)
        text_add(out, "auto");
    else
        print_count(type, value, out);
}

static void print_window(const struct value_type *type,
                         const union value *value, struct text *out)
{
    if (value->bytes)
        print_bytes(type, value, out);
    else
        text_add(out, "auto");
}

static enum status parse_rate(const struct value_type *type, const char *text,
                              union value *out, struct why *why)
{
    static const char *const such = "a rate such as 100Mbit, 12MB/s or none";
    uint64_t bits = 0;
    enum status status = STATUS_OK;

    (void)type;
    if (strcmp(text, "none") != 0) {
        status = parse_measure(text, rate_units, LENGTH(rate_units), such,
                               &bits, why);
        if (strcmp(text, "0") == 0 || (status == STATUS_OK && !bits))
            status = because(why, STATUS_USAGE,
                             "a rate of 0 carries nothing: for no limit say "
                             "none");
    }
    if (status == STATUS_OK && bits % 8)
        status = expected(why, such);
    if (status == STATUS_OK)
        out->bytes = bits / 8;
    return status;
}

static void print_rate(const struct value_type *type, const union value *value,
                       struct text *out)
{
    uint64_t bits = 8 * value->bytes;
    const struct unit *unit = &rate_units[0];

    (void)type;
    for (size_t i = 1; i < LENGTH(rate_units); i++)
        if (bits % rate_units[i].size == 0)
            unit = &rate_units[i];
    if (bits)
        text_add(out, "%llu%s", (unsigned long long)(bits / unit->size),
                 unit->name);
    else
        text_add(out, "none");
}

static enum status parse_text(const struct value_type *type, const char *text,
                              union value *out, struct why *why)
{
    size_t length = strlen(text);

    (void)type;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return expected(why, "a text without control characters");
    if (length >= VALUE_TEXT_BYTES)
        return expected(why, "at most 255 bytes");
    memset(out->text, 0, sizeof out->text);
    memcpy(out->text, text, length);
    return STATUS_OK;
}

static void print_text(const struct value_type *type, const union value *value,
                       struct text *out)
{
    (void)type;
    text_add(out, "%s", value->text);
}

static enum status parse_flag(const struct value_type *type, const char *text,
                              union value *out, struct why *why)
{
    (void)type;
    for (size_t i = 0; i < LENGTH(flag_words); i++)
        if (strcmp(text, flag_words[i].text) == 0) {
            out->flag = flag_words[i].flag;
            return STATUS_OK;
        }
    return expected(why, "yes or no");
}

static void print_flag(const struct value_type *type, const union value *value,
                       struct text *out)
{
    (void)type;
    text_add(out, "%s", flag_words[value->flag].text);
}

static enum status parse_choice(const struct value_type *type, const char *text,
                                union value *out, struct why *why)
{
    char all[200];
    struct text words;

    text_init(&words, all, sizeof all);
    for (unsigned i = 0; i < type->word_count; i++) {
        const char *word = type->words[i].text;

        if (strcmp(text, word) == 0) {
            out->choice = i;
            return STATUS_OK;
        }
        text_add(&words, "%s%s",
                 i == 0                     ? ""
                 : i + 1 < type->word_count ? ", "
                                            : " or ",
                 word);
    }
    return expected(why, all);
}

static void print_choice(const struct value_type *type,
                         const union value *value, struct text *out)
{
    assert(value->choice < type->word_count);
    text_add(out, "%s", type->words[value->choice].text);
}

static enum status parse_endpoint(const struct value_type *type,
                                  const char *text, union value *out,
                                  struct why *why)
{
    (void)type;
    return endpoint_parse(text, &out->endpoint, why);
}

static void print_endpoint(const struct value_type *type,
                           const union value *value, struct text *out)
{
    (void)type;
    endpoint_print(&value->endpoint, out);
}

static enum status parse_endpoints(const struct value_type *type,
                                   const char *text, union value *out,
                                   struct why *why)
{
    (void)type;
    return endpoints_parse(text, &out->endpoints, why);
}

static void print_endpoints(const struct value_type *type,
                            const union value *value, struct text *out)
{
    (void)type;
    endpoints_print(&value->endpoints, out);
}

static enum status parse_goal(const struct value_type *type, const char *text,
                              union value *out, struct why *why)
{
    (void)type;
    return goal_parse(text, &out->goal, why);
}

static void print_goal(const struct value_type *type, const union value *value,
                       struct text *out)
{
    (void)type;
    goal_print(&value->goal, out);
}

struct kind {
    size_t size;
    enum status (*parse)(const struct value_type *type, const char *text,
                         union value *out, struct why *why);
    void (*print)(const struct value_type *type, const union value *value,
                  struct text *out);
};

static const struct kind kinds[VALUE_KINDS] = {
    [VALUE_COUNT] = {sizeof(uint64_t), parse_count, print_count},
    [VALUE_NUMBER] = {sizeof(double), parse_number, print_number},
    [VALUE_DURATION] = {sizeof(nanos), parse_duration, print_duration},
    [VALUE_BYTES] = {sizeof(uint64_t), parse_bytes, print_bytes},
    [VALUE_WINDOW] = {sizeof(uint64_t), parse_window, print_window},
    [VALUE_STEPS] = {sizeof(uint64_t), parse_steps, print_steps},
    [VALUE_RATE] = {sizeof(uint64_t), parse_rate, print_rate},
    [VALUE_TEXT] = {sizeof(value_text), parse_text, print_text},
    [VALUE_SECRET] = {sizeof(value_text), parse_text, NULL},
    [VALUE_FLAG] = {sizeof(bool), parse_flag, print_flag},
    [VALUE_CHOICE] = {sizeof(unsigned), parse_choice, print_choice},
    [VALUE_ENDPOINT] = {sizeof(struct endpoint), parse_endpoint,
                        print_endpoint},
    [VALUE_ENDPOINTS] = {sizeof(struct endpoints), parse_endpoints,
                         print_endpoints},
    [VALUE_GOAL] = {sizeof(struct goal), parse_goal, print_goal},
};

size_t value_size(enum value_kind kind)
{
    return kinds[kind].size;
}

enum status value_parse(const struct value_type *type, const char *text,
                        union value *out, struct why *why)
{
    return kinds[type->kind].parse(type, text, out, why);
}

void value_print(const struct value_type *type, const union value *value,
                 struct text *out)
{
    if (kinds[type->kind].print)
        kinds[type->kind].print(type, value, out);
}

void value_clear(enum value_kind kind, union value *out)
{
    memset(out, 0, sizeof *out);
    if (kind == VALUE_NUMBER)
        out->number = NAN;
}

int value_compare(enum value_kind kind, const union value *a,
                  const union value *b)
{
    if (kind == VALUE_STEPS &&
        (a->count == VALUE_AUTO || b->count == VALUE_AUTO))
        return 0;
    switch (kind) {
    case VALUE_NUMBER:
        return (a->number > b->number) - (a->number < b->number);
    case VALUE_DURATION:
        return (a->duration > b->duration) - (a->duration < b->duration);
    case VALUE_COUNT:
    case VALUE_BYTES:
    case VALUE_WINDOW:
    case VALUE_STEPS:
    case VALUE_RATE:
        return (a->count > b->count) - (a->count < b->count);
    default:
        return 0;
    }
}
