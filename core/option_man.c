/* The option table as a manual page, in the man macros of troff. */
#include <string.h>

#include "core/option_pages.h"

/* Adds text so that troff takes none of it for a command: a hyphen is an
 * ASCII one, and a line may begin with a point. */
static void print_plain(const char *words, struct text *out)
{
    if (*words == '.' || *words == '\'')
        text_add(out, "\\&");
    for (; *words; words++) {
        if (*words == '-')
            text_add(out, "\\-");
        else if (*words == '\\')
            text_add(out, "\\e");
        else
            text_add_character(out, *words);
    }
}

static void print_line(const char *words, struct text *out)
{
    print_plain(words, out);
    text_add(out, "\n");
}

/* Sentences as running text, one per line as man pages have it. */
static void print_sentences(const char *words, struct text *out)
{
    while (*words) {
        const char *end = strstr(words, ". ");
        size_t length = end ? (size_t)(end - words) + 1 : strlen(words);
        char sentence[400];
        struct text text;

        text_init(&text, sentence, sizeof sentence);
        text_add(&text, "%.*s", (int)length, words);
        print_line(sentence, out);
        words += length + strspn(words + length, " ");
    }
}

static void print_section(const char *title, struct text *out)
{
    text_add(out, ".SH %s\n", title);
}

/* A tagged paragraph whose tag is bold. */
static void print_tag(const char *tag, struct text *out)
{
    text_add(out, ".TP\n\\fB");
    print_plain(tag, out);
    text_add(out, "\\fR\n");
}

static void print_option(const struct option *row, struct text *out)
{
    text_add(out, ".TP\n\\fB\\-\\-");
    print_plain(row->name, out);
    text_add(out, "\\fR");
    if (*row->metavar) {
        text_add(out, " \\fI");
        print_plain(row->metavar, out);
        text_add(out, "\\fR");
    }
    text_add(out, "\n");
    print_line(row->help, out);
    if (*row->text && row->type.kind != VALUE_FLAG) {
        text_add(out, "(default ");
        print_plain(row->text, out);
        text_add(out, ")\n");
    }
}

static void print_options(enum program program, struct text *out)
{
    const char *group = "";
    size_t count;
    const struct option *rows = options_rows(&count);

    print_section("OPTIONS", out);
    print_sentences(option_units, out);
    for (size_t i = 0; i < count; i++) {
        if (!option_is_of(&rows[i], program))
            continue;
        if (strcmp(group, rows[i].group) != 0)
            text_add(out, ".SS %s\n", rows[i].group);
        group = rows[i].group;
        print_option(&rows[i], out);
    }
}

static void print_commands(struct text *out)
{
    print_section("COMMANDS TO A RUNNING HUB", out);
    print_line(option_command, out);
    for (enum command command = 0; command < COMMAND_COUNT; command++) {
        print_tag(command_words[command].text, out);
        print_line(command_words[command].doc, out);
    }
}

static void print_actions(enum program program, struct text *out)
{
    size_t count;
    const struct program_action *actions = program_actions(&count);

    print_section("COMMANDS", out);
    for (size_t i = 0; i < count; i++) {
        char tag[120];
        struct text text;

        if (actions[i].program != program)
            continue;
        text_init(&text, tag, sizeof tag);
        text_add(&text, "%s %s", actions[i].verb, actions[i].arguments);
        print_tag(tag, out);
        print_line(actions[i].what, out);
    }
}

static void print_environment(enum program program, struct text *out)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    print_section("ENVIRONMENT", out);
    print_sentences(option_sources, out);
    for (size_t i = 0; i < count; i++) {
        char variable[64];
        struct text text;

        if (!option_is_of(&rows[i], program) || rows[i].call)
            continue;
        text_init(&text, variable, sizeof variable);
        option_variable(rows[i].name, &text);
        print_tag(variable, out);
        text_add(out, "as \\fB\\-\\-");
        print_plain(rows[i].name, out);
        text_add(out, "\\fR\n");
    }
}

static void print_files(enum program program, struct text *out)
{
    size_t count;
    const struct program_item *places = program_places(&count);

    print_section("FILES", out);
    for (size_t i = 0; i < count; i++)
        if (places[i].program == program) {
            print_tag(places[i].text, out);
            print_line(places[i].what, out);
        }
    print_tag("FILE", out);
    print_line("the settings that --config names; see ENVIRONMENT", out);
}

static void print_exit_status(enum program program, struct text *out)
{
    print_section("EXIT STATUS", out);
    for (enum status status = 0; status < STATUSES; status++) {
        char bytes[200], code[8];
        struct text words, tag;

        text_init(&words, bytes, sizeof bytes);
        text_init(&tag, code, sizeof code);
        if (!option_exit_code(program, status, &words))
            continue;
        text_add(&tag, "%d", status_exit_code(status));
        print_tag(code, out);
        print_line(bytes, out);
    }
}

static void print_examples(enum program program, struct text *out)
{
    size_t count;
    const struct program_item *examples = program_examples(&count);

    print_section("EXAMPLES", out);
    for (size_t i = 0; i < count; i++) {
        if (examples[i].program != program)
            continue;
        text_add(out, ".PP\n");
        print_line(examples[i].what, out);
        text_add(out, ".PP\n.RS 4\n.EX\n");
        print_line(examples[i].text, out);
        text_add(out, ".EE\n.RE\n");
    }
}

/* The front command, and the other programs in the table's order. */
static void print_see_also(enum program program, struct text *out)
{
    print_section("SEE ALSO", out);
    text_add(out, ".BR starswitch (1)");
    for (enum program other = 0; other < PROGRAMS; other++) {
        if (other == program)
            continue;
        text_add(out, ",\n.BR ");
        print_plain(programs[other].name, out);
        text_add(out, " (1)");
    }
    text_add(out, "\n");
}

void options_print_man(enum program program, struct text *out)
{
    const struct program_info *info = &programs[program];

    text_add(out, ".\\\" Made from core/options.def: make docs\n.TH ");
    for (const char *at = info->name; *at; at++)
        text_add_character(
            out, *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at);
    text_add(out, " 1 \"\" starswitch \"User Commands\"\n");
    print_section("NAME", out);
    text_add(out, "%s \\- ", info->name);
    print_line(info->summary, out);
    print_section("SYNOPSIS", out);
    text_add(out, ".B ");
    print_plain(info->name, out);
    if (*info->verb)
        text_add(out, "\n.I %.*s", (int)strlen(info->verb) - 1, info->verb);
    text_add(out, "\n.RI [\\-\\- NAME \" VALUE\" ]...\n");
    print_section("DESCRIPTION", out);
    print_sentences(info->description, out);
    if (*info->verb)
        print_actions(program, out);
    print_options(program, out);
    if (program == PROGRAM_HUB)
        print_commands(out);
    print_environment(program, out);
    print_files(program, out);
    print_exit_status(program, out);
    print_examples(program, out);
    print_see_also(program, out);
}
