/* Prints for tools/docs what completes starswitch's command lines in bash and
 * zsh: tools/completion.bash and tools/completion.zsh, which hold what is the
 * same for all programs, behind the rows of the tables.
 *
 *     star-completion          the paths of both
 *     star-completion PATH     the one of this path */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/options.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The words that a TEXT of the table may be. */
static const struct {
    const char *option, *word;
} names[] = {
#define PRESET(name, ...) {"policy", name},
#define GATE(name) {"gate", #name},
#define SELECT(name) {"select", #name},
#define REDUCE(name) {"reduce", #name},
#define MERGE(name) {"merge", #name},
#define RECEIVE(name) {"receive", #name},
#define DAMPING(name) {"damping", #name},
#define PREEMPT(name) {"preempt", #name},
#include "policies/policies.def"
#define CODEC(NAME, name, bits, use, valid, doc)                               \
    {"codec-up", #name}, {"codec-down", #name},
#include "codec/codecs.def"
#undef CODEC
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* As it is written: - for the _ of its row. */
static void print_word(const char *word)
{
    printf(" ");
    for (; *word; word++)
        printf("%c", *word == '_' ? '-' : *word);
}

/* A flag has a second name, unless it is a "no" itself. */
static bool has_opposite(const struct option *row)
{
    return row->type.kind == VALUE_FLAG && !row->call &&
           !begins(row->name, "no-");
}

/* Prints what may stand behind an option, each behind a blank; a path is
 * @file or @folder. False, printing nothing, if only its user knows. */
static bool print_values(const struct option *row)
{
    bool some = row->type.kind == VALUE_CHOICE;

    for (size_t i = 0; some && i < row->type.word_count; i++)
        printf(" %s", row->type.words[i].text);
    if (row->type.kind != VALUE_TEXT)
        return some;
    for (size_t i = 0; i < LENGTH(names); i++)
        if (strcmp(names[i].option, row->name) == 0) {
            print_word(names[i].word);
            some = true;
        }
    if (begins(row->metavar, "DIR") || begins(row->metavar, "FOLDER")) {
        printf(" @folder");
        return true;
    }
    if (begins(row->metavar, "FILE") || strcmp(row->name, "data") == 0) {
        printf(" @file");
        return true;
    }
    return some;
}

/* "hub" of starswitch-hub. */
static const char *short_name(enum program program)
{
    return strchr(programs[program].name, '-') + 1;
}

/* ---- bash: a list for each program, of names alone ---- */

static void print_names(enum program program)
{
    size_t count, actions;
    const struct option *rows = options_rows(&count);
    const struct program_action *action = program_actions(&actions);
    const char *name = short_name(program);

    printf("_starswitch_%s_commands='", name);
    for (size_t i = 0; i < actions; i++)
        if (action[i].program == program)
            printf(" %s", action[i].verb);
    printf("'\n_starswitch_%s_options='", name);
    for (size_t i = 0; i < count; i++) {
        if (!option_is_of(&rows[i], program))
            continue;
        printf("\n --%s", rows[i].name);
        if (has_opposite(&rows[i]))
            printf(" --no-%s", rows[i].name);
    }
    printf("'\n");
}

/* The names of an option in a program, as the pattern of a `case`. */
static const char *print_pattern(const struct option *row, enum program program,
                                 const char *before)
{
    printf("%s%s--%s", before, short_name(program), row->name);
    if (has_opposite(row))
        printf(" | %s--no-%s", short_name(program), row->name);
    return " | ";
}

/* The branches of a `case` over program and option: a second list, of those
 * whose values are known, prints "flag" for those that have none. */
static void print_cases(void)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        const char *before = "    ";

        for (enum program program = 0; program < PROGRAMS; program++)
            if (option_is_of(&rows[i], program))
                before = print_pattern(&rows[i], program, before);
        printf(") echo");
        if (rows[i].type.kind == VALUE_FLAG)
            printf(" @flag");
        else
            (void)print_values(&rows[i]);
        printf(" ;;\n");
    }
}

static void print_bash(void)
{
    printf("# bash completion of starswitch and its programs.\n"
           "# Made from core/options.def: make docs\n\n");
    for (enum program program = 0; program < PROGRAMS; program++)
        print_names(program);
    printf("_starswitch_ctl='");
    for (enum command command = 0; command < COMMAND_COUNT; command++)
        printf(" %s", command_words[command].text);
    printf("'\n\n_starswitch_values() { # PROGRAM--OPTION\n    case $1 in\n");
    print_cases();
    printf("    *) return 1 ;;\n    esac\n}\n\n");
}

/* ---- zsh: with what each means ---- */

/* In single quotes within brackets: the first of its clauses. */
static void print_meaning(const char *words)
{
    for (; *words && *words != ';'; words++) {
        if (*words == '\'')
            printf("'\\'");
        if (strchr("[]:\\", *words))
            printf("\\");
        printf("%c", *words);
    }
}

static void print_plain(const char *words)
{
    for (; *words; words++) {
        if (*words == ':')
            printf("\\");
        if (!strchr("[]", *words))
            printf("%c", *words);
    }
}

static void print_rows(enum program program)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    printf("_starswitch_%s_options=(\n", short_name(program));
    for (size_t i = 0; i < count; i++) {
        bool flag = rows[i].type.kind == VALUE_FLAG;

        if (!option_is_of(&rows[i], program))
            continue;
        printf("    '--%s%s[", rows[i].name, flag ? "" : "=");
        print_meaning(rows[i].help);
        printf("]");
        if (!flag) {
            printf(":");
            print_plain(rows[i].metavar);
            printf(":_starswitch_value");
            (void)print_values(&rows[i]);
        }
        printf("'\n");
        if (has_opposite(&rows[i]))
            printf("    '--no-%s[not\\: --%s]'\n", rows[i].name, rows[i].name);
    }
    printf(")\n");
}

static void print_zsh(void)
{
    size_t count;
    const struct program_action *actions = program_actions(&count);

    printf("#compdef starswitch starswitch-hub starswitch-node starswitch-sim\n"
           "# Made from core/options.def: make docs\n\n");
    for (enum program program = 0; program < PROGRAMS; program++) {
        print_rows(program);
        printf("_starswitch_%s_commands=(\n", short_name(program));
        for (size_t i = 0; i < count; i++) {
            if (actions[i].program != program)
                continue;
            printf("    '%s:", actions[i].verb);
            print_meaning(actions[i].what);
            printf("'\n");
        }
        printf(")\n");
    }
    printf("_starswitch_ctl=(\n");
    for (enum command command = 0; command < COMMAND_COUNT; command++) {
        printf("    '%s:", command_words[command].text);
        print_meaning(command_words[command].doc);
        printf("'\n");
    }
    printf(")\n\n");
}

/* Prints a file of this folder. */
static bool print_rest(const char *path)
{
    char bytes[4096];
    size_t length;
    FILE *file = fopen(path, "r");

    if (!file) {
        perror(path);
        return false;
    }
    while ((length = fread(bytes, 1, sizeof bytes, file)) > 0)
        (void)fwrite(bytes, 1, length, stdout);
    return fclose(file) == 0;
}

static const struct {
    const char *path;
    void (*print)(void);
    const char *rest;
} pages[] = {
    {"packaging/completion/starswitch.bash", print_bash,
     "tools/completion.bash"},
    {"packaging/completion/_starswitch", print_zsh, "tools/completion.zsh"},
};

int main(int count, char **arguments)
{
    for (size_t i = 0; i < LENGTH(pages); i++) {
        if (count < 2) {
            printf("%s\n", pages[i].path);
        } else if (strcmp(arguments[1], pages[i].path) == 0) {
            pages[i].print();
            return print_rest(pages[i].rest) && !ferror(stdout) ? 0 : 74;
        }
    }
    if (count < 2)
        return 0;
    (void)fprintf(stderr, "no page %s; without an argument I list them\n",
                  arguments[1]);
    return 64;
}
