#include <string.h>

#include "core/options.h"
#include "tests/check.h"

static char page[OPTIONS_PAGE_BYTES];
static struct options options;
static struct why why;

static void print(enum program program,
                  void (*printer)(enum program program, struct text *out))
{
    struct text out;

    text_init(&out, page, sizeof page);
    printer(program, &out);
    CHECK(!out.cut);
    CHECK_EQUAL('\n', page[out.length - 1]);
}

static void print_config(enum program program)
{
    struct text out;

    text_init(&out, page, sizeof page);
    options_print_config(&options, program, &out);
    CHECK(!out.cut);
}

/* Whether the page has a line "<before><name><end>..." for an option. */
static bool has_row(const char *before, const char *name, const char *ends)
{
    char line[100];
    struct text text;

    text_init(&text, line, sizeof line);
    text_add(&text, "\n%s%s", before, name);
    for (const char *at = page; (at = strstr(at, line)); at++)
        if (strchr(ends, at[text.length]))
            return true;
    return false;
}

static void help_fits_80_columns(void)
{
    for (enum program program = 0; program < PROGRAMS; program++) {
        print(program, options_print_help);
        for (const char *line = page; *line; line += strcspn(line, "\n") + 1)
            CHECK(strcspn(line, "\n") <= 80);
    }
}

static void help_has_every_option_of_its_program_and_no_other(void)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    for (enum program program = 0; program < PROGRAMS; program++) {
        print(program, options_print_help);
        for (size_t i = 0; i < count; i++) {
            bool belongs = options_find(program, rows[i].name) != NULL;

            CHECK_EQUAL(belongs, has_row("  --", rows[i].name, " \n"));
        }
    }
}

static void help_of_a_command_has_its_own_arguments(void)
{
    static const char *const taken[] = {"for", "once", NULL};
    size_t count;
    const struct program_action *actions = program_actions(&count);
    struct text out;

    for (size_t i = 0; i < count; i++) {
        text_init(&out, page, sizeof page);
        options_print_action(actions[i].program, actions[i].verb, taken + 2,
                             &out);
        CHECK(strncmp("Usage: starswitch-", page, 18) == 0);
        CHECK(!has_row("  --", "once", " \n"));
        for (const char *line = page; *line; line += strcspn(line, "\n") + 1)
            CHECK(strcspn(line, "\n") <= 80);
    }
    text_init(&out, page, sizeof page);
    options_print_action(PROGRAM_HUB, "keygen", taken, &out);
    CHECK_CONTAINS("Usage: starswitch-hub keygen [DIR] [--rotate]", page);
    CHECK(has_row("  --", "once", " \n") && has_row("  --", "for", " "));
    CHECK(!has_row("  --", "policy", " \n"));
}

static void help_shows_defaults_units_examples_and_exit_codes(void)
{
    print(PROGRAM_HUB, options_print_help);
    CHECK_CONTAINS("\n  --wait TIME                longest wait for a result, "
                   "with --miss wait or\n                             --delay "
                   "0 (default 30s)\n",
                   page);
    CHECK_CONTAINS("ns, us, ms, s, min or h", page);
    CHECK_CONTAINS("\nExamples\n", page);
    CHECK_CONTAINS("\n  64  the command line or a call is wrong\n", page);
    CHECK_CONTAINS("STARSWITCH_", page);
    print(PROGRAM_HUB, options_print_man);
    CHECK_CONTAINS("Ctrl\\-C of a hub without \\-\\-goal, ", page);
}

static void a_manual_page_has_all_sections_and_options(void)
{
    static const char *const sections[] = {
        "NAME",  "SYNOPSIS",    "DESCRIPTION", "OPTIONS", "ENVIRONMENT",
        "FILES", "EXIT STATUS", "EXAMPLES",    "SEE ALSO"};
    size_t count;
    const struct option *rows = options_rows(&count);

    for (enum program program = 0; program < PROGRAMS; program++) {
        print(program, options_print_man);
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
            CHECK(has_row(".SH ", sections[i], "\n"));
        for (size_t i = 0; i < count; i++)
            if (option_is_of(&rows[i], program))
                CHECK_CONTAINS(rows[i].metavar, page);
    }
}

static void a_manual_page_has_no_line_that_troff_would_misread(void)
{
    for (enum program program = 0; program < PROGRAMS; program++) {
        print(program, options_print_man);
        for (const char *line = page; *line; line += strcspn(line, "\n") + 1) {
            CHECK(*line != '\'' && *line != ' ' && *line != '\n');
            CHECK(*line != '.' || strchr(".\\SPTEBIR", line[1]));
        }
    }
}

/* Settings that differ from the defaults, in every type. */
static void set_much(enum program program)
{
    static const char *const settings[][2] = {
        {"every", "1.5k"},          {"outer-lr", "0.123456789"},
        {"wait", "1500us"},         {"chunk", "1.5MiB"},
        {"insecure", "yes"},        {"miss", "wait"},
        {"listen", "[::1]"},        {"goal", "87.5%"},
        {"time", "3min"},           {"record", " \"#\\ x# "},
        {"directory", "a#b"},       {"model", ""},
        {"name", "pc 1"},           {"step-time", "50ms"},
        {"outer-momentum", "1e-8"}, {"seed", "18446744073709551615"}};

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (options_find(program, settings[i][0]))
            CHECK_OK(options_set(&options, program, settings[i][0],
                                 settings[i][1], OPTION_ARGUMENT, &why));
}

static void settings_printed_as_a_config_file_are_read_back(void)
{
    static char once[OPTIONS_PAGE_BYTES];

    for (int much = 0; much < 2; much++)
        for (enum program program = 0; program < PROGRAMS; program++) {
            options_defaults(&options);
            if (much)
                set_much(program);
            print_config(program);
            memcpy(once, page, sizeof once);
            options_defaults(&options);
            CHECK_OK(options_parse_config_text(&options, program, once,
                                               strlen(once), &why));
            print_config(program);
            CHECK_TEXT(once, page);
        }
}

static void a_config_file_is_short_of_nothing(void)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    options_defaults(&options);
    print_config(PROGRAM_NODE);
    for (size_t i = 0; i < count; i++)
        if (option_is_of(&rows[i], PROGRAM_NODE))
            CHECK_EQUAL(!rows[i].call, has_row("", rows[i].name, " ") ||
                                           has_row("# ", rows[i].name, " "));
}

void add_core_option_help_tests(CU_pSuite suite)
{
    TEST(help_fits_80_columns);
    TEST(help_has_every_option_of_its_program_and_no_other);
    TEST(help_of_a_command_has_its_own_arguments);
    TEST(help_shows_defaults_units_examples_and_exit_codes);
    TEST(a_manual_page_has_all_sections_and_options);
    TEST(a_manual_page_has_no_line_that_troff_would_misread);
    TEST(settings_printed_as_a_config_file_are_read_back);
    TEST(a_config_file_is_short_of_nothing);
}
