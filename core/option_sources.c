/* Where settings come from: the command line, a config file's text, the
 * environment. Each works on a copy, as a call that fails changes nothing. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "core/spelling.h"

/* Longer than any option's name and than any value with all of it escaped. */
enum { NAME_BYTES = 64, LINE_BYTES = 1024 };

/* A command line on its way through the reader. */
struct arguments {
    enum program program;
    int count, next;
    char *const *words;
};

/* Whether `name` is no-FLAG; then *flag is the row of FLAG. */
static bool is_negated(enum program program, const char *name,
                       const struct option **flag)
{
    if (strncmp(name, "no-", 3) != 0 || options_find(program, name))
        return false;
    *flag = options_find(program, name + 3);
    return *flag && (*flag)->type.kind == VALUE_FLAG;
}

/* The value of the option that has just been read: behind its "=", the next
 * word, or for a flag "yes". NULL if it is missing. */
static const char *value_of(struct arguments *arguments, const char *equals,
                            bool flag)
{
    const char *next = arguments->next < arguments->count
                           ? arguments->words[arguments->next]
                           : "--";

    if (equals)
        return equals + 1;
    if (flag)
        return "yes";
    if (strncmp(next, "--", 2) == 0)
        return NULL;
    arguments->next++;
    return next;
}

void options_hide_secrets(enum program program, int count,
                          char *const *arguments)
{
    for (int i = 1; i < count; i++) {
        char *word = arguments[i], *equals = strchr(word, '=');
        const struct option *row;
        char name[NAME_BYTES];

        if (strncmp(word, "--", 2) != 0)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="),
                       word + 2);
        row = options_find(program, name);
        if (!row || row->type.kind != VALUE_SECRET)
            continue;
        if (equals)
            explicit_bzero(equals + 1, strlen(equals + 1));
        else if (i + 1 < count)
            explicit_bzero(arguments[i + 1], strlen(arguments[i + 1]));
    }
}

static enum status missing(const struct option *row, struct why *why)
{
    return because(why, STATUS_USAGE, "--%s needs a value: --%s %s (%s)",
                   row->name, row->name, row->metavar, row->help);
}

static enum status parse_argument(struct options *options,
                                  struct arguments *arguments, const char *word,
                                  struct why *why)
{
    size_t dashes = strspn(word, "-");
    const char *equals = strchr(word, '=');
    size_t length = strcspn(word + dashes, "=");
    const struct option *row;
    const char *value;
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof name, "%.*s", (int)length, word + dashes);
    if (dashes == 1 && strcmp(word, "-h") == 0)
        (void)snprintf(name, sizeof name, "help");
    else if (dashes != 2 || !length)
        return because(why, STATUS_USAGE,
                       "unexpected word %.60s; settings are --name value, "
                       "see %s --help",
                       word, programs[arguments->program].name);
    if (!equals && is_negated(arguments->program, name, &row))
        return options_set(options, arguments->program, row->name, "no",
                           OPTION_ARGUMENT, why);
    row = options_find(arguments->program, name);
    value =
        row ? value_of(arguments, equals, row->type.kind == VALUE_FLAG) : "";
    if (!value)
        return missing(row, why);
    return options_set(options, arguments->program, name, value,
                       OPTION_ARGUMENT, why);
}

enum status options_parse_arguments(struct options *options,
                                    enum program program, int count,
                                    char *const *words, struct why *why)
{
    struct arguments arguments = {program, count, 1, words};
    struct options next = *options;

    while (arguments.next < count) {
        const char *word = words[arguments.next++];
        enum status status = parse_argument(&next, &arguments, word, why);

        if (status != STATUS_OK)
            return status;
    }
    *options = next;
    return STATUS_OK;
}

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\r';
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
    size_t length = strlen(text);

    while (length && is_blank(text[length - 1]))
        text[--length] = '\0';
    while (is_blank(*text))
        text++;
    return text;
}

/* Ends the text at a # that follows a blank or begins it. */
static void cut_comment(char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (text[i] == '#' && (i == 0 || is_blank(text[i - 1]))) {
            text[i] = '\0';
            return;
        }
}

/* Takes the quotes off "..." in place; false unless that is all there is,
 * but for a comment. */
static bool unquote(char *text)
{
    char *from = text + 1, *into = text;

    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
            from++;
        *into++ = *from;
    }
    if (!*from++)
        return false;
    from = trim(from);
    *into = '\0';
    return !*from || *from == '#';
}

static enum status parse_line(struct options *options, enum program program,
                              char *line, struct why *why)
{
    char *name = trim(line);
    char *value = strchr(name, '=');

    if (!*name || *name == '#')
        return STATUS_OK;
    if (!value || value == name)
        return because(why, STATUS_CONFIG,
                       "expected name = value, such as every = 20");
    *value++ = '\0';
    value = trim(value);
    if (*value != '"') {
        cut_comment(value);
        value = trim(value);
    } else if (!unquote(value)) {
        return because(why, STATUS_CONFIG,
                       "expected one \" at the end of the value");
    }
    return options_set(options, program, trim(name), value, OPTION_CONFIG, why);
}

enum status options_parse_config_text(struct options *options,
                                      enum program program, const char *text,
                                      size_t size, struct why *why)
{
    struct options next = *options;
    enum status status = STATUS_OK;
    struct why detail = {""};
    char line[LINE_BYTES];

    for (unsigned number = 1; size; number++) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;

        if (length >= sizeof line || memchr(text, '\0', length)) {
            status =
                because(&detail, STATUS_CONFIG,
                        "expected text of at most %d bytes", LINE_BYTES - 1);
        } else {
            memcpy(line, text, length);
            line[length] = '\0';
            status = parse_line(&next, program, line, &detail);
        }
        if (status != STATUS_OK)
            return because(why, status, "line %u: %s", number, detail.text);
        length += end != NULL;
        text += length;
        size -= length;
    }
    *options = next;
    return STATUS_OK;
}

/* The Python package's, which programs that it starts have, too. */
static bool is_of_python(const char *name)
{
    static const char *const all[] = {"DISABLE", "ELASTIC", "LIBRARY", "NODE",
                                      "PROGRAMS"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], name) == 0)
            return true;
    return false;
}

enum status options_check_variable(const char *variable, struct why *why)
{
    static const char prefix[] = "STARSWITCH_";
    size_t count, length = strcspn(variable, "=");
    const struct option *rows = options_rows(&count);
    char name[NAME_BYTES], known[NAME_BYTES], nearest[NAME_BYTES] = "";
    unsigned least = UINT_MAX;

    if (strncmp(variable, prefix, sizeof prefix - 1) != 0)
        return STATUS_OK;
    (void)snprintf(name, sizeof name, "%.*s", (int)length, variable);
    if (is_of_python(name + sizeof prefix - 1))
        return STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        struct text text;
        unsigned distance;

        text_init(&text, known, sizeof known);
        option_variable(rows[i].name, &text);
        distance = spelling_distance(known + sizeof prefix - 1,
                                     name + sizeof prefix - 1);
        if (!distance)
            return STATUS_OK;
        if (distance < least)
            memcpy(nearest, known, sizeof nearest);
        least = distance < least ? distance : least;
    }
    return because(why, STATUS_CONFIG,
                   "the environment has %.60s, and no setting is called so: "
                   "did you mean %s?",
                   name, nearest);
}

enum status options_parse_environment(struct options *options,
                                      enum program program,
                                      const char *(*lookup)(const char *name),
                                      struct why *why)
{
    struct options next = *options;
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        char variable[NAME_BYTES];
        struct text text;
        const char *value;
        enum status status;

        if (rows[i].call || !option_is_of(&rows[i], program))
            continue;
        text_init(&text, variable, sizeof variable);
        option_variable(rows[i].name, &text);
        value = lookup(variable);
        if (!value || !*value)
            continue;
        status = options_set(&next, program, rows[i].name, value,
                             OPTION_ENVIRONMENT, why);
        if (status != STATUS_OK)
            return status;
    }
    *options = next;
    return STATUS_OK;
}
