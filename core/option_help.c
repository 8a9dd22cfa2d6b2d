/* The option table as --help and as a config file. */
#include <string.h>

#include "core/option_pages.h"

enum { WIDTH = 80, NAMES = 2, HELP = 29 };

const char option_units[] =
    "A count may end in k, M or G. A time ends in ns, us, ms, s, min or h. A "
    "size may end in kB, KiB, MB, MiB, GB or GiB. --no-NAME switches a flag "
    "off.";

const char option_sources[] =
    "The command line wins over the environment, that over the file of "
    "--config, and that over the defaults. The variable of --time is "
    "STARSWITCH_TIME, others alike, with _ for -; that of a flag is yes or no. "
    "The file has lines such as \"time = 10min\"; # begins a comment. One file "
    "may serve all programs.";

const char option_command[] = "starswitch-hub ctl COMMAND [--directory DIR]";

bool option_exit_code(enum program program, enum status status,
                      struct text *out)
{
    int code = status_exit_code(status);

    if (status == STATUS_SHORT && program != PROGRAM_HUB)
        return false;
    for (enum status other = 0; other < status; other++)
        if (status_exit_code(other) == code)
            return false;
    for (enum status other = status; other < STATUSES; other++)
        if (status_exit_code(other) == code)
            text_add(out, "%s%s", other == status ? "" : "; or ",
                     status_words(other));
    if (status == STATUS_OK && program != PROGRAM_SIM)
        text_add(out,
                 "; also after SIGTERM or Ctrl-C%s, once what there is to "
                 "save is saved; after a second one the signal's: a "
                 "shell says 143 or 130",
                 program == PROGRAM_HUB
                     ? " of a hub without --goal, --iterations or --epochs"
                     : "");
    return true;
}

static void print_option(const struct option *row, struct text *out)
{
    text_add(out, "%*s--%s%s%s", NAMES, "", row->name, *row->metavar ? " " : "",
             row->metavar);
    if (text_column(out) + 1 > HELP)
        text_add(out, "\n");
    text_pad(out, HELP);
    text_wrap(out, row->help, HELP, WIDTH);
    if (*row->text && row->type.kind != VALUE_FLAG) {
        char bytes[VALUE_TEXT_BYTES + 16];
        struct text words;

        text_init(&words, bytes, sizeof bytes);
        text_add(&words, "(default %s)", row->text);
        text_wrap(out, bytes, HELP, WIDTH);
    }
    text_add(out, "\n");
}

static void print_options(enum program program, struct text *out)
{
    const char *group = "";
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (!option_is_of(&rows[i], program))
            continue;
        if (strcmp(group, rows[i].group) != 0)
            text_add(out, "\n%s\n", rows[i].group);
        group = rows[i].group;
        print_option(&rows[i], out);
    }
}

static void print_paragraph(const char *title, const char *words,
                            struct text *out)
{
    text_add(out, "\n%s\n%*s", title, NAMES, "");
    text_wrap(out, words, NAMES, WIDTH);
    text_add(out, "\n");
}

void options_print_commands(struct text *out)
{
    enum { DOC = 14 };

    text_add(out, "\nCommands to a running hub\n%*s%s\n", NAMES, "",
             option_command);
    for (enum command command = 0; command < COMMAND_COUNT; command++) {
        text_add(out, "%*s%s", NAMES, "", command_words[command].text);
        text_pad(out, DOC);
        text_wrap(out, command_words[command].doc, DOC, WIDTH);
        text_add(out, "\n");
    }
}

static void print_actions(enum program program, struct text *out)
{
    enum { DOC = 14 };
    size_t count;
    const struct program_action *actions = program_actions(&count);

    for (size_t i = 0; i < count; i++) {
        if (actions[i].program != program)
            continue;
        text_add(out, "%*s%s %s\n", NAMES, "", actions[i].verb,
                 actions[i].arguments);
        text_pad(out, DOC);
        text_wrap(out, actions[i].what, DOC, WIDTH);
        text_add(out, "\n");
    }
}

static void print_examples(enum program program, struct text *out)
{
    size_t count;
    const struct program_item *examples = program_examples(&count);

    text_add(out, "\nExamples\n");
    for (size_t i = 0; i < count; i++)
        if (examples[i].program == program)
            text_add(out, "%*s# %s\n%*s%s\n", NAMES, "", examples[i].what,
                     NAMES, "", examples[i].text);
}

static void print_exit_codes(enum program program, struct text *out)
{
    char bytes[200];
    struct text words;

    text_add(out, "\nExit codes\n");
    for (enum status status = 0; status < STATUSES; status++) {
        text_init(&words, bytes, sizeof bytes);
        if (!option_exit_code(program, status, &words))
            continue;
        text_add(out, "%*s%2d  ", NAMES, "", status_exit_code(status));
        text_wrap(out, bytes, NAMES + 4, WIDTH);
        text_add(out, "\n");
    }
}

void options_print_help(enum program program, struct text *out)
{
    const struct program_info *info = &programs[program];

    text_add(out, "%s: %s\n\nUsage: %s %s[--NAME VALUE]...\n\n", info->name,
             info->summary, info->name, info->verb);
    text_wrap(out, info->description, 0, WIDTH);
    text_add(out, "\n");
    if (*info->verb) {
        text_add(out, "\nCommands\n");
        print_actions(program, out);
    }
    print_options(program, out);
    print_paragraph("Values", option_units, out);
    print_paragraph("Where settings come from", option_sources, out);
    if (program == PROGRAM_HUB)
        options_print_commands(out);
    print_examples(program, out);
    print_exit_codes(program, out);
}

void options_print_action(enum program program, const char *verb,
                          const char *const *taken, struct text *out)
{
    enum { USAGE = 7 };
    size_t count;
    const struct program_action *action = program_actions(&count);

    while (count &&
           (action->program != program || strcmp(action->verb, verb) != 0)) {
        action++;
        count--;
    }
    if (!count)
        return;
    text_add(out, "Usage: %s %s", programs[program].name, verb);
    text_wrap(out, action->arguments, USAGE, WIDTH);
    text_add(out, "\n\n");
    text_wrap(out, action->what, 0, WIDTH);
    text_add(out, "\n%s", *taken ? "\nOptions\n" : "");
    for (; *taken; taken++)
        print_option(options_find(program, *taken), out);
}

/* Adds a value as a config file holds it, in quotes where it needs them. */
static void print_quoted(const char *value, struct text *out)
{
    size_t length = strlen(value);
    bool plain = length && !strchr(value, '#') && !strchr(" \"", *value) &&
                 value[length - 1] != ' ';

    if (plain) {
        text_add(out, "%s", value);
        return;
    }
    text_add_character(out, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            text_add_character(out, '\\');
        text_add_character(out, *value);
    }
    text_add_character(out, '"');
}

/* Whether there is nothing to write: nobody has chosen, nor the table, or it
 * is secret. */
static bool is_open(const struct options *options, const struct option *row)
{
    return row->type.kind == VALUE_SECRET ||
           (!*row->text && !*((const unsigned char *)options + row->given));
}

static void print_value(const struct options *options, const struct option *row,
                        char bytes[ENDPOINTS_TEXT_BYTES])
{
    struct text text;
    union value value;

    memcpy(&value, (const char *)options + row->offset,
           value_size(row->type.kind));
    text_init(&text, bytes, ENDPOINTS_TEXT_BYTES);
    value_print(&row->type, &value, &text);
}

static void print_setting(const struct options *options,
                          const struct option *row, struct text *out)
{
    char bytes[ENDPOINTS_TEXT_BYTES];

    if (is_open(options, row)) {
        text_add(out, "# %s =\n", row->name);
        return;
    }
    print_value(options, row, bytes);
    text_add(out, "%s = ", row->name);
    print_quoted(bytes, out);
    text_add(out, "\n");
}

void options_print_config(const struct options *options, enum program program,
                          struct text *out)
{
    const char *group = "";
    size_t count;
    const struct option *rows = options_rows(&count);

    text_add(out, "# Settings of %s.\n", programs[program].name);
    for (size_t i = 0; i < count; i++) {
        if (!option_is_of(&rows[i], program) || rows[i].call)
            continue;
        if (strcmp(group, rows[i].group) != 0)
            text_add(out, "\n# ---- %s ----\n", rows[i].group);
        group = rows[i].group;
        text_add(out, "# %s\n", rows[i].help);
        print_setting(options, &rows[i], out);
    }
}

void options_print_word(const char *word, struct text *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:,=%+@";

    if (*word && !word[strspn(word, plain)]) {
        text_add(out, "%s", word);
        return;
    }
    text_add(out, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(out, "'\\''");
        else
            text_add_character(out, *word);
    text_add(out, "'");
}

void options_print_line(const struct options *options, enum program program,
                        struct text *out)
{
    char bytes[ENDPOINTS_TEXT_BYTES];
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        const struct option *row = &rows[i];

        if (!option_is_of(row, program) || row->type.kind == VALUE_SECRET ||
            *((const unsigned char *)options + row->given) != OPTION_ARGUMENT)
            continue;
        print_value(options, row, bytes);
        if (row->type.kind == VALUE_FLAG) {
            text_add(out, " --%s%s", strcmp(bytes, "no") ? "" : "no-",
                     row->name);
            continue;
        }
        text_add(out, " --%s ", row->name);
        options_print_word(bytes, out);
    }
}
