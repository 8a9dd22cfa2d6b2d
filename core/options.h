/* Every setting of every program: one table (options.def), and a struct with
 * a member per row.
 *
 * Settings come from the command line, the environment, a config file and the
 * table's defaults; the first of these that has one wins, whatever order they
 * are read in. Reading them from the world is program/settings.h; here is only
 * text. A program calls options_defaults, then parses, then uses members:
 *
 *     if (options.given.outer_lr) outer.lr = options.outer_lr;
 *
 * A SECRET is a text that no page, file, error or recording ever shows.
 *
 * Errors are USAGE for the command line and CONFIG for the rest, with one
 * sentence that names the option, what is wrong and what would be right. A
 * call that fails changes nothing. */
#ifndef CORE_OPTIONS_H
#define CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/program.h"
#include "core/status.h"
#include "core/text.h"
#include "core/time.h"
#include "core/value.h"
#include "core/words.h"

/* Where a setting comes from; a later one wins over an earlier one. */
enum option_source {
    OPTION_DEFAULT,
    OPTION_CONFIG,
    OPTION_ENVIRONMENT,
    OPTION_ARGUMENT
};

/* The members of struct options, by the TYPE of their row. Not chosen: NAN
 * for a NUMBER, GOAL_NONE for a GOAL, an empty TEXT, a DURATION of 0. */
#define TYPE_COUNT uint64_t
#define TYPE_NUMBER double
#define TYPE_DURATION nanos
#define TYPE_BYTES uint64_t
#define TYPE_WINDOW uint64_t
#define TYPE_STEPS uint64_t
#define TYPE_RATE uint64_t
#define TYPE_TEXT value_text
#define TYPE_SECRET value_text
#define TYPE_FLAG bool
#define TYPE_CHOICE(list, LIST) enum list
#define TYPE_ENDPOINT struct endpoint
#define TYPE_ENDPOINTS struct endpoints
#define TYPE_GOAL struct goal

#define OPTION(name, TYPE, member, text, low, high, on, group, metavar, help)  \
    unsigned char member;
struct options_given {
#include "core/options.def"
};
#undef OPTION

#define OPTION(name, TYPE, member, text, low, high, on, group, metavar, help)  \
    TYPE_##TYPE member;
struct options {
#include "core/options.def"
    /* The enum option_source of each; 0: the default stands. */
    struct options_given given;
};
#undef OPTION

#undef TYPE_COUNT
#undef TYPE_NUMBER
#undef TYPE_DURATION
#undef TYPE_BYTES
#undef TYPE_WINDOW
#undef TYPE_STEPS
#undef TYPE_RATE
#undef TYPE_TEXT
#undef TYPE_SECRET
#undef TYPE_FLAG
#undef TYPE_CHOICE
#undef TYPE_ENDPOINT
#undef TYPE_ENDPOINTS
#undef TYPE_GOAL

/* A row of options.def. */
struct option {
    const char *name;
    struct value_type type;
    size_t offset, given; /* of the members in struct options */
    const char *text;     /* the default */
    const char *minimum, *maximum;
    unsigned programs; /* 1 << PROGRAM_HUB | ... */
    bool call;         /* on the command line only */
    const char *group, *metavar, *help;
};

static inline bool option_is_of(const struct option *row, enum program program)
{
    return (row->programs >> program) & 1;
}

/* The table, in its order, for whoever loops over it. */
const struct option *options_rows(size_t *count);

/* The row that a program has under this name, or NULL. */
const struct option *options_find(enum program program, const char *name);

/* Adds the environment variable of an option: STARSWITCH_OUTER_LR. */
void option_variable(const char *name, struct text *out);

/* The defaults of the table; nothing is given. */
void options_defaults(struct options *options);

/* Sets one option of the program from text, unless it is given by a source
 * that wins over this one; the text must be right even then. */
enum status options_set(struct options *options, enum program program,
                        const char *name, const char *text,
                        enum option_source source, struct why *why) MUST_CHECK;

/* Complains of a TEXT that turned out wrong later on as options_set would have,
 * by where it comes from: "STARSWITCH_POLICY=typo: " and `detail`. */
enum status options_blame(const struct options *options, const char *name,
                          const char *detail, struct why *why) MUST_CHECK;

/* Reads a command line: --name value, --name=value, for flags --name and
 * --no-name, -h for --help. arguments[0], the program's name, is skipped. */
enum status options_parse_arguments(struct options *options,
                                    enum program program, int count,
                                    char *const *arguments,
                                    struct why *why) MUST_CHECK;

/* Overwrites the secrets of a command line that has been read, so that whoever
 * lists processes does not see them for longer than it took. */
void options_hide_secrets(enum program program, int count,
                          char *const *arguments);

/* Reads a config file's text: lines `name = value`, # for comments, "..." with
 * \" and \\ around values that need it. The last of two equal names wins. As
 * one file may serve all programs, a setting that only another program has is
 * checked and passed over. Errors begin with "line 3: ". */
enum status options_parse_config_text(struct options *options,
                                      enum program program, const char *text,
                                      size_t size, struct why *why) MUST_CHECK;

/* Asks `lookup` for STARSWITCH_<NAME> of each option the program has, such as
 * STARSWITCH_OUTER_LR; NULL and "" are no answer. */
enum status options_parse_environment(struct options *options,
                                      enum program program,
                                      const char *(*lookup)(const char *name),
                                      struct why *why) MUST_CHECK;

/* CONFIG if `variable` (NAME=value of the environment) begins as ours do and
 * is none of any program's; says which one it is like. */
enum status options_check_variable(const char *variable,
                                   struct why *why) MUST_CHECK;

/* Room for any of the pages below. */
enum { OPTIONS_PAGE_BYTES = 32 * 1024 };

/* The text of --help, in 80 columns. */
void options_print_help(enum program program, struct text *out);

/* How the command `verb` is used, what it does, and the options of these names,
 * NULL at the end. Nothing: the program has none of that name. */
void options_print_action(enum program program, const char *verb,
                          const char *const *taken, struct text *out);

/* What ctl may tell a running hub. */
void options_print_commands(struct text *out);

/* The settings as a config file, each with its help as a comment; what is not
 * chosen is commented out. Reading it again gives the same settings. */
void options_print_config(const struct options *options, enum program program,
                          struct text *out);

/* One word for a shell: between '...' unless it would see anything in it. */
void options_print_word(const char *word, struct text *out);

/* What the command line has chosen, as words for a shell, each with a blank in
 * front: " --lan --every 20". No secrets. */
void options_print_line(const struct options *options, enum program program,
                        struct text *out);

/* The manual page, section 1, as troff source. */
void options_print_man(enum program program, struct text *out);

#endif
