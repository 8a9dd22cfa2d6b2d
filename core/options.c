#include "core/options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/spelling.h"

/* clang-format off */
#define KIND_COUNT {.kind = VALUE_COUNT}
#define KIND_NUMBER {.kind = VALUE_NUMBER}
#define KIND_DURATION {.kind = VALUE_DURATION}
#define KIND_BYTES {.kind = VALUE_BYTES}
#define KIND_WINDOW {.kind = VALUE_WINDOW}
#define KIND_STEPS {.kind = VALUE_STEPS}
#define KIND_RATE {.kind = VALUE_RATE}
#define KIND_TEXT {.kind = VALUE_TEXT}
#define KIND_SECRET {.kind = VALUE_SECRET}
#define KIND_FLAG {.kind = VALUE_FLAG}
#define KIND_CHOICE(list, LIST) {VALUE_CHOICE, list##_words, LIST##_COUNT}
#define KIND_ENDPOINT {.kind = VALUE_ENDPOINT}
#define KIND_ENDPOINTS {.kind = VALUE_ENDPOINTS}
#define KIND_GOAL {.kind = VALUE_GOAL}
/* clang-format on */

/* The words of the table's column PROGRAMS. */
enum {
    HUB = 1 << PROGRAM_HUB,
    NODE = 1 << PROGRAM_NODE,
    SIM = 1 << PROGRAM_SIM,
    CALL = 1 << PROGRAMS
};

static const struct option rows[] = {
#define OPTION(name, TYPE, member, text, low, high, on, group, metavar, help)  \
    {name,                                                                     \
     KIND_##TYPE,                                                              \
     offsetof(struct options, member),                                         \
     offsetof(struct options, given.member),                                   \
     text,                                                                     \
     low,                                                                      \
     high,                                                                     \
     (on) & ~(unsigned)CALL,                                                   \
     (CALL & (on)) != 0,                                                       \
     group,                                                                    \
     metavar,                                                                  \
     help},
#include "core/options.def"
#undef OPTION
};

enum { ROWS = sizeof rows / sizeof *rows };

/* A setting that somebody wants to make, for sentences about it. */
struct wish {
    const char *name, *text;
    enum option_source source;
    bool secret; /* the text */
};

const struct option *options_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

/* The row that one of the programs in the mask has. */
static const struct option *find(unsigned mask, const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if ((rows[i].programs & mask) && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const struct option *options_find(enum program program, const char *name)
{
    return find(1u << program, name);
}

static void store(struct options *options, const struct option *row,
                  const union value *value, enum option_source source)
{
    memcpy((char *)options + row->offset, value, value_size(row->type.kind));
    *((unsigned char *)options + row->given) = (unsigned char)source;
}

void option_variable(const char *name, struct text *out)
{
    text_add(out, "STARSWITCH_");
    for (; *name; name++)
        text_add_character(out, *name == '-' ? '_'
                                : *name >= 'a' && *name <= 'z'
                                    ? (char)(*name - 'a' + 'A')
                                    : *name);
}

void options_defaults(struct options *options)
{
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < ROWS; i++) {
        enum status status = STATUS_OK;
        union value value;

        value_clear(rows[i].type.kind, &value);
        if (*rows[i].text)
            status = value_parse(&rows[i].type, rows[i].text, &value, NULL);
        assert(status == STATUS_OK);
        store(options, &rows[i], &value, OPTION_DEFAULT);
    }
}

/* The status of a complaint about what this source says. */
static enum status blame(enum option_source source)
{
    return source == OPTION_ARGUMENT ? STATUS_USAGE : STATUS_CONFIG;
}

/* Adds a word of the user's, cut and without control characters. */
static void quote(struct text *out, const char *word)
{
    enum { SHOWN = 60 };

    if (!*word)
        text_add(out, "\"\"");
    for (size_t i = 0; i < SHOWN && word[i]; i++) {
        bool plain = (unsigned char)word[i] >= ' ' && word[i] != 0x7f;

        text_add_character(out, plain ? word[i] : '?');
    }
    if (strlen(word) > SHOWN)
        text_add(out, "...");
}

/* "--every banana: ..." in the form of the wish's source. */
static enum status complain(const struct wish *wish, const char *detail,
                            struct why *why)
{
    static const struct {
        const char *before, *between;
    } forms[] = {[OPTION_DEFAULT] = {"", " "},
                 [OPTION_CONFIG] = {"", " = "},
                 [OPTION_ENVIRONMENT] = {"", "="},
                 [OPTION_ARGUMENT] = {"--", " "}};
    char bytes[sizeof why->text];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "%s", forms[wish->source].before);
    if (wish->source == OPTION_ENVIRONMENT)
        option_variable(wish->name, &text);
    else
        quote(&text, wish->name);
    if (!wish->secret) {
        text_add(&text, "%s", forms[wish->source].between);
        quote(&text, wish->text);
    }
    return because(why, blame(wish->source), "%s: %s", bytes, detail);
}

static enum status check_bounds(const struct option *row,
                                const union value *value, struct why *why)
{
    static const struct {
        int sign;
        const char *words;
    } sides[] = {{-1, "at least"}, {1, "at most"}};

    for (int i = 0; i < 2; i++) {
        const char *text = i == 0 ? row->minimum : row->maximum;
        union value bound = {0};
        enum status status;

        if (!*text)
            continue;
        status = value_parse(&row->type, text, &bound, NULL);
        assert(status == STATUS_OK);
        if (value_compare(row->type.kind, value, &bound) == sides[i].sign)
            return because(why, STATUS_USAGE, "must be %s %s (%s)",
                           sides[i].words, text, row->help);
    }
    return STATUS_OK;
}

/* Whether two letters side by side have changed their places. */
static bool is_swapped(const char *name, const char *known)
{
    size_t at = 0;

    while (name[at] && name[at] == known[at])
        at++;
    return name[at] && known[at] && name[at] == known[at + 1] &&
           name[at + 1] == known[at] &&
           strcmp(name + at + 2, known + at + 2) == 0;
}

/* Whether `known` is what somebody who wrote `name` may have meant; the less,
 * the likelier. A beginning is as good as one wrong letter. */
static unsigned doubt(const char *name, const char *known)
{
    if ((*name && strncmp(known, name, strlen(name)) == 0) ||
        is_swapped(name, known))
        return 1;
    return spelling_distance(name, known);
}

/* The option of the program that is spelt most like `name`, or NULL. */
static const struct option *nearest(enum program program, const char *name)
{
    const struct option *best = NULL;
    unsigned least = 3;

    for (size_t i = 0; i < ROWS; i++) {
        unsigned distance = doubt(name, rows[i].name);

        if (!option_is_of(&rows[i], program) || distance >= least ||
            distance >= strlen(rows[i].name))
            continue;
        least = distance;
        best = &rows[i];
    }
    return best;
}

static enum status unknown(enum program program, const struct wish *wish,
                           struct why *why)
{
    const char *dashes = wish->source == OPTION_ARGUMENT ? "--" : "";
    const struct option *meant = nearest(program, wish->name);
    enum status status = blame(wish->source);
    char bytes[80];
    struct text shown;

    text_init(&shown, bytes, sizeof bytes);
    quote(&shown, wish->name);
    for (enum program other = 0; other < PROGRAMS; other++)
        if (options_find(other, wish->name))
            return because(why, status, "%s%s is an option of %s, not of %s",
                           dashes, bytes, programs[other].name,
                           programs[program].name);
    if (meant)
        return because(why, status, "unknown option %s%s; did you mean %s%s?",
                       dashes, bytes, dashes, meant->name);
    return because(why, status, "unknown option %s%s; see %s --help", dashes,
                   bytes, programs[program].name);
}

enum status options_set(struct options *options, enum program program,
                        const char *name, const char *text,
                        enum option_source source, struct why *why)
{
    const struct option *row = options_find(program, name);
    struct wish wish = {name, text, source, false};
    enum status status;
    union value value;
    struct why detail;

    if (!row && source == OPTION_CONFIG)
        row = find(~0u, name);
    if (!row)
        return unknown(program, &wish, why);
    wish.secret = row->type.kind == VALUE_SECRET;
    if (row->call && source != OPTION_ARGUMENT)
        return complain(&wish, "is for the command line only", why);
    status = value_parse(&row->type, text, &value, &detail);
    if (status == STATUS_OK)
        status = check_bounds(row, &value, &detail);
    if (status != STATUS_OK)
        return complain(&wish, detail.text, why);
    if (option_is_of(row, program) &&
        *((unsigned char *)options + row->given) <= source)
        store(options, row, &value, source);
    return STATUS_OK;
}

enum status options_blame(const struct options *options, const char *name,
                          const char *detail, struct why *why)
{
    const struct option *row = find(~0u, name);
    const char *base = (const char *)options;
    enum option_source source = (enum option_source)base[row->given];
    struct wish wish = {name, base + row->offset, source, false};
    struct why sentence;
    enum status status;

    if (source != OPTION_CONFIG)
        return complain(&wish, detail, why);
    status = complain(&wish, detail, &sentence);
    return because(why, status, "%.120s: %s", options->config, sentence.text);
}
