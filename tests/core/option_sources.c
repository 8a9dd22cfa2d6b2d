#include <string.h>

#include "core/options.h"
#include "tests/check.h"

enum { WORDS_MAX = 16 };

static struct options options;
static struct why why;

/* Reads a command line, given as one text; a word in "" may have blanks. */
static enum status parse(enum program program, const char *line)
{
    char bytes[400], *words[WORDS_MAX];
    struct text text;
    int count = 0;
    char *at = bytes;

    text_init(&text, bytes, sizeof bytes);
    text_add(&text, "%s", line);
    while (*at && count < WORDS_MAX) {
        const char *end = *at == '"' ? "\"" : " ";

        at += *at == '"';
        words[count++] = at;
        at += strcspn(at, end);
        if (*at)
            *at++ = '\0';
        at += *at == ' ';
    }
    why = (struct why){""};
    return options_parse_arguments(&options, program, count, words, &why);
}

static enum status parse_hub(const char *line)
{
    options_defaults(&options);
    return parse(PROGRAM_HUB, line);
}

static enum status configure(const char *text)
{
    options_defaults(&options);
    why = (struct why){""};
    return options_parse_config_text(&options, PROGRAM_HUB, text, strlen(text),
                                     &why);
}

static void refused(const char *line, const char *sentence)
{
    CHECK_STATUS(STATUS_USAGE, parse_hub(line));
    CHECK_TEXT(sentence, why.text);
}

static void misconfigured(const char *text, const char *sentence)
{
    CHECK_STATUS(STATUS_CONFIG, configure(text));
    CHECK_TEXT(sentence, why.text);
}

static void a_value_stands_behind_its_option_or_an_equals_sign(void)
{
    CHECK_OK(parse_hub("hub --every 7 --delay=3 --listen=[::1]:80 --json"));
    CHECK_EQUAL(7, options.every);
    CHECK_EQUAL(3, options.delay);
    CHECK_TEXT("::1", options.listen.host);
    CHECK_EQUAL(80, options.listen.port);
    CHECK(options.json);
}

static void the_last_of_two_arguments_wins(void)
{
    CHECK_OK(parse_hub("hub --every 7 --json --every 8 --no-json"));
    CHECK_EQUAL(8, options.every);
    CHECK(!options.json);
}

static void a_flag_can_be_told_no(void)
{
    CHECK_OK(parse_hub("hub --no-dylu --insecure=yes --json=no"));
    CHECK(!options.dylu && options.insecure && !options.json);
    CHECK_EQUAL(OPTION_ARGUMENT, options.given.dylu);
}

static void h_is_short_for_help(void)
{
    CHECK_OK(parse_hub("hub -h"));
    CHECK(options.help);
}

static void a_missing_value_is_asked_for(void)
{
    const char *sentence =
        "--every needs a value: --every K (iterations between two offers; "
        "auto: with --policy auto as few as the network carries, else 20)";

    refused("hub --every", sentence);
    refused("hub --every --json", sentence);
}

static void a_word_that_is_no_option_is_refused(void)
{
    refused("hub now", "unexpected word now; settings are --name value, see "
                       "starswitch-hub --help");
    refused("hub --json yes", "unexpected word yes; settings are --name "
                              "value, see starswitch-hub --help");
    refused("hub -every 3", "unexpected word -every; settings are --name "
                            "value, see starswitch-hub --help");
    refused("hub --", "unexpected word --; settings are --name value, see "
                      "starswitch-hub --help");
    refused("hub --=3", "unexpected word --=3; settings are --name value, "
                        "see starswitch-hub --help");
}

static void the_beginning_of_an_option_is_not_the_option(void)
{
    refused("hub --ever 3", "unknown option --ever; did you mean --every?");
    refused("hub --no-every", "unknown option --no-every; see "
                              "starswitch-hub --help");
}

static void one_wrong_argument_spoils_them_all(void)
{
    refused("hub --delay 9 --every banana",
            "--every banana: expected a whole number such as 20, or auto");
    CHECK_EQUAL(VALUE_AUTO, options.delay);
}

/* Whether the line begins with the word; puts it behind that and a blank. */
static bool skip_word(const char **line, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*line, word, length) != 0 || (*line)[length] != ' ')
        return false;
    *line += length + 1;
    return true;
}

static bool skip_action(const char **line, enum program program)
{
    size_t count;
    const struct program_action *actions = program_actions(&count);

    for (size_t i = 0; i < count; i++)
        if (actions[i].program == program && skip_word(line, actions[i].verb))
            return true;
    return false;
}

static void the_examples_of_the_help_are_right(void)
{
    size_t count;
    const struct program_item *examples = program_examples(&count);

    for (size_t i = 0; i < count; i++) {
        enum program program = examples[i].program;
        const char *rest = examples[i].text, *line = rest, *verb;

        CHECK(skip_word(&rest, programs[program].name));
        verb = rest;
        if (skip_action(&rest, program))
            line = verb;
        else
            CHECK(strcmp(programs[program].verb, "COMMAND ") != 0);
        options_defaults(&options);
        CHECK_OK(parse(program, line));
    }
}

static void a_config_file_has_a_setting_a_line(void)
{
    CHECK_OK(configure("# settings\n\n  every = 7   # k\r\n"
                       "\tdelay=3\nrecord = a#b\njson = yes"));
    CHECK_EQUAL(7, options.every);
    CHECK_EQUAL(3, options.delay);
    CHECK_TEXT("a#b", options.record);
    CHECK(options.json);
    CHECK_EQUAL(OPTION_CONFIG, options.given.json);
}

static void a_quoted_value_is_taken_as_it_is(void)
{
    CHECK_OK(configure("record = \" a # \\\"b\\\" c\\\\ \"  # quoted\n"));
    CHECK_TEXT(" a # \"b\" c\\ ", options.record);
    CHECK_OK(configure("record = \"\"\n"));
    CHECK_TEXT("", options.record);
    misconfigured("record = \"a\n",
                  "line 1: expected one \" at the end of the value");
    misconfigured("record = \"a\" b\n",
                  "line 1: expected one \" at the end of the value");
}

static void an_error_names_its_line(void)
{
    misconfigured("delay = 1\n\nevery = banana\n",
                  "line 3: every = banana: expected a whole number such as "
                  "20, or auto");
    CHECK_EQUAL(VALUE_AUTO, options.delay);
    misconfigured("every = 0",
                  "line 1: every = 0: must be at least 1 (iterations between "
                  "two offers; auto: with --policy auto as few as the "
                  "network carries, else 20)");
    misconfigured("every 20\n",
                  "line 1: expected name = value, such as every = 20");
    misconfigured("= 20\n",
                  "line 1: expected name = value, such as every = 20");
    misconfigured("\nevry = 20",
                  "line 2: unknown option evry; did you mean every?");
    misconfigured("help = yes\n",
                  "line 1: help = yes: is for the command line only");
}

static void a_line_without_end_and_a_zero_byte_are_refused(void)
{
    static char text[5000];

    memset(text, 'x', sizeof text - 1);
    misconfigured(text, "line 1: expected text of at most 1023 bytes");
    CHECK_STATUS(STATUS_CONFIG,
                 options_parse_config_text(&options, PROGRAM_HUB, "name = a\0b",
                                           10, &why));
    CHECK_TEXT("line 1: expected text of at most 1023 bytes", why.text);
}

static void one_config_file_serves_all_programs(void)
{
    CHECK_OK(configure("step-time = 50ms\nhub = 10.0.0.1\nevery = 9\n"));
    CHECK_EQUAL(9, options.every);
    CHECK_EQUAL(0, options.step_time);
    CHECK_EQUAL(0, options.given.hub);
    misconfigured("step-time = 50\n",
                  "line 1: step-time = 50: a time needs its unit: write "
                  "50ms, 2s, 3min or 1h");
}

static const char *look_up(const char *name)
{
    static const char *const variables[][2] = {
        {"STARSWITCH_EVERY", "30"}, {"STARSWITCH_OUTER_LR", "0.5"},
        {"STARSWITCH_JSON", "1"},   {"STARSWITCH_DELAY", ""},
        {"STARSWITCH_HELP", "1"},   {"STARSWITCH_HUB", "a b"}};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (strcmp(name, variables[i][0]) == 0)
            return variables[i][1];
    return NULL;
}

static void the_environment_is_asked_for_every_option(void)
{
    options_defaults(&options);
    CHECK_OK(options_parse_environment(&options, PROGRAM_HUB, look_up, &why));
    CHECK_EQUAL(30, options.every);
    CHECK_NEAR(0.5, options.outer_lr, 0);
    CHECK(options.json && !options.help);
    CHECK_EQUAL(VALUE_AUTO, options.delay);
    CHECK_EQUAL(OPTION_ENVIRONMENT, options.given.every);
}

static void an_error_names_its_variable(void)
{
    options_defaults(&options);
    CHECK_STATUS(STATUS_CONFIG, options_parse_environment(
                                    &options, PROGRAM_NODE, look_up, &why));
    CHECK_TEXT("STARSWITCH_HUB=a b: expected a host such as 192.168.1.10, "
               "pc0:7541 or [fe80::1]:7541",
               why.text);
}

static void arguments_win_over_environment_over_config_over_defaults(void)
{
    const char *config = "every = 40\nouter-lr = 0.4\ndelay = 14\n";

    CHECK_OK(parse_hub("hub --every 50"));
    CHECK_OK(options_parse_environment(&options, PROGRAM_HUB, look_up, &why));
    CHECK_OK(options_parse_config_text(&options, PROGRAM_HUB, config,
                                       strlen(config), &why));
    CHECK_EQUAL(50, options.every);
    CHECK_NEAR(0.5, options.outer_lr, 0);
    CHECK_EQUAL(14, options.delay);
    CHECK_EQUAL(64, options.staleness);
}

static void a_variable_that_is_nearly_one_of_ours_is_named(void)
{
    CHECK_OK(options_check_variable("HOME=/root", &why));
    CHECK_OK(options_check_variable("STARSWITCH_EVERY=20", &why));
    CHECK_OK(options_check_variable("STARSWITCH_LIBRARY=/x.so", &why));
    CHECK_OK(options_check_variable("STARSWITCH_OUTER_LR=0.5", &why));
    CHECK_STATUS(STATUS_CONFIG,
                 options_check_variable("STARSWITCH_EVRY=20", &why));
    CHECK_TEXT("the environment has STARSWITCH_EVRY, and no setting is called "
               "so: did you mean STARSWITCH_EVERY?",
               why.text);
}

static void a_line_is_printed_as_it_was_typed(void)
{
    char bytes[400];
    struct text out;

    CHECK_OK(parse_hub("hub --lan --every 20 --directory \"it's here\" "
                       "--no-json --goal 87%"));
    CHECK_OK(options_parse_environment(&options, PROGRAM_HUB, look_up, &why));
    text_init(&out, bytes, sizeof bytes);
    options_print_line(&options, PROGRAM_HUB, &out);
    CHECK_CONTAINS(" --lan", bytes);
    CHECK_CONTAINS(" --every 20", bytes);
    CHECK_CONTAINS(" --directory 'it'\\''s here'", bytes);
    CHECK_CONTAINS(" --no-json", bytes);
    CHECK_CONTAINS(" --goal 87%", bytes);
    CHECK(!strstr(bytes, "outer-lr"));
    CHECK_OK(parse(PROGRAM_NODE, "node --key secret --name pc1"));
    text_init(&out, bytes, sizeof bytes);
    options_print_line(&options, PROGRAM_NODE, &out);
    CHECK_CONTAINS(" --name pc1", bytes);
    CHECK(!strstr(bytes, "secret"));
}

void add_core_option_sources_tests(CU_pSuite suite)
{
    TEST(a_value_stands_behind_its_option_or_an_equals_sign);
    TEST(the_last_of_two_arguments_wins);
    TEST(a_flag_can_be_told_no);
    TEST(h_is_short_for_help);
    TEST(a_missing_value_is_asked_for);
    TEST(a_word_that_is_no_option_is_refused);
    TEST(the_beginning_of_an_option_is_not_the_option);
    TEST(one_wrong_argument_spoils_them_all);
    TEST(the_examples_of_the_help_are_right);
    TEST(a_config_file_has_a_setting_a_line);
    TEST(a_quoted_value_is_taken_as_it_is);
    TEST(an_error_names_its_line);
    TEST(a_line_without_end_and_a_zero_byte_are_refused);
    TEST(one_config_file_serves_all_programs);
    TEST(the_environment_is_asked_for_every_option);
    TEST(an_error_names_its_variable);
    TEST(a_variable_that_is_nearly_one_of_ours_is_named);
    TEST(a_line_is_printed_as_it_was_typed);
    TEST(arguments_win_over_environment_over_config_over_defaults);
}
