#include "core/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/spelling.h"
#include "tests/check.h"

static struct options options;
static struct why why;

static enum status set(enum program program, const char *name, const char *text)
{
    why = (struct why){""};
    return options_set(&options, program, name, text, OPTION_ARGUMENT, &why);
}

/* Checks the sentence with which the hub refuses a setting. */
static void refused(const char *name, const char *text, const char *sentence)
{
    options_defaults(&options);
    CHECK_STATUS(STATUS_USAGE, set(PROGRAM_HUB, name, text));
    CHECK_TEXT(sentence, why.text);
}

static void the_defaults_are_those_of_the_table(void)
{
    options_defaults(&options);
    CHECK_EQUAL(VALUE_AUTO, options.every);
    CHECK_EQUAL(VALUE_AUTO, options.delay);
    CHECK_EQUAL(MISS_LATE, options.miss);
    CHECK_EQUAL(30 * SECOND, options.wait);
    CHECK_EQUAL(1 << 20, options.chunk);
    CHECK_TEXT("auto", options.policy);
    CHECK_TEXT("127.0.0.1", options.listen.host);
    CHECK_EQUAL(7541, options.listen.port);
    CHECK_EQUAL(SECOND, options.evaluate_centre);
    CHECK_EQUAL(2 * SECOND, options.evaluate);
    CHECK(!options.insecure && !options.json && !options.help);
    CHECK_EQUAL(0, options.given.every);
}

static void what_nobody_has_chosen_says_so(void)
{
    options_defaults(&options);
    CHECK(isnan(options.outer_lr));
    CHECK_EQUAL(GOAL_NONE, options.goal.kind);
    CHECK_EQUAL(0, options.time);
    CHECK_TEXT("", options.model);
}

static void what_is_set_is_given(void)
{
    options_defaults(&options);
    CHECK_OK(set(PROGRAM_HUB, "outer-lr", "0.7"));
    CHECK_NEAR(0.7, options.outer_lr, 0);
    CHECK_EQUAL(OPTION_ARGUMENT, options.given.outer_lr);
    CHECK_EQUAL(0, options.given.outer_momentum);
}

static void a_value_of_the_wrong_type_is_refused(void)
{
    refused("every", "banana",
            "--every banana: expected a whole number such as 20, or auto");
    refused("every", "",
            "--every \"\": expected a whole number such as 20, or auto");
    refused("wait", "50",
            "--wait 50: a time needs its unit: write 50ms, 2s, "
            "3min or 1h");
    refused("miss", "never", "--miss never: expected late, skip, wait or cut");
    refused("insecure", "maybe", "--insecure maybe: expected yes or no");
    refused("every", "1e40", "--every 1e40: is too large");
    refused("outer-lr", "fast",
            "--outer-lr fast: expected a number such as "
            "0.7");
}

static void a_value_out_of_its_bounds_is_refused(void)
{
    refused("every", "0",
            "--every 0: must be at least 1 (iterations between two offers; "
            "auto: with --policy auto as few as the network carries, else 20)");
    refused("chunk", "1GiB",
            "--chunk 1GiB: must be at most 64MiB (size of the pieces that "
            "parameters travel in; a run keeps the one that it began with)");
    refused("save", "1ns",
            "--save 1ns: must be at least 10ms (how often the "
            "centre is written)");
    refused("outer-momentum", "1",
            "--outer-momentum 1: must be at most 0.999999 (momentum of the "
            "outer step; schedule-free: share of the mean)");
}

static void a_bound_itself_is_allowed(void)
{
    options_defaults(&options);
    CHECK_OK(set(PROGRAM_HUB, "every", "1"));
    CHECK_OK(set(PROGRAM_HUB, "nodes", "64"));
    CHECK_OK(set(PROGRAM_HUB, "wait", "10min"));
    CHECK_OK(set(PROGRAM_HUB, "outer-momentum", "0"));
}

static void an_unknown_option_names_the_one_that_was_meant(void)
{
    refused("hlep", "1", "unknown option --hlep; did you mean --help?");
    refused("evry", "1", "unknown option --evry; did you mean --every?");
    refused("eval", "1s", "unknown option --eval; did you mean --evaluate?");
    refused("outer_lr", "1",
            "unknown option --outer_lr; did you mean --outer-lr?");
    refused("xyzzy", "1", "unknown option --xyzzy; see starswitch-hub --help");
    refused("", "1", "unknown option --\"\"; see starswitch-hub --help");
}

static void an_option_of_another_program_names_it(void)
{
    refused("dry-run", "yes",
            "--dry-run is an option of starswitch-node, not of "
            "starswitch-hub");
    CHECK_STATUS(STATUS_USAGE, set(PROGRAM_NODE, "policy", "mean"));
    CHECK_TEXT("--policy is an option of starswitch-hub, not of "
               "starswitch-node",
               why.text);
}

static void what_is_refused_is_quoted_safely(void)
{
    char text[400], expected[sizeof why.text];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refused("every", "\033[2J\n",
            "--every ?[2J?: expected a whole number such as 20, or auto");
    (void)snprintf(
        expected, sizeof expected,
        "--every %.60s...: expected a whole number such as 20, or auto", text);
    refused("every", text, expected);
}

static void what_is_refused_changes_nothing(void)
{
    struct options before;

    options_defaults(&options);
    before = options;
    CHECK_STATUS(STATUS_USAGE, set(PROGRAM_HUB, "every", "0"));
    CHECK_STATUS(STATUS_USAGE, set(PROGRAM_HUB, "listen", "a b"));
    CHECK_STATUS(STATUS_USAGE, set(PROGRAM_HUB, "none", ""));
    CHECK(same_bytes(&before, &options, sizeof before));
}

static void a_stronger_source_wins_whatever_the_order(void)
{
    static const char *const values[] = {"", "11", "12", "13"};
    enum { SOURCES = OPTION_ARGUMENT };

    for (int orders = 0; orders < SOURCES * SOURCES; orders++) {
        int best = 0, next[2] = {1 + orders % SOURCES, 1 + orders / SOURCES};

        options_defaults(&options);
        for (int i = 0; i < 2; i++) {
            best = next[i] > best ? next[i] : best;
            CHECK_OK(options_set(&options, PROGRAM_HUB, "every",
                                 values[next[i]], (enum option_source)next[i],
                                 &why));
        }
        CHECK_EQUAL(10 + best, options.every);
        CHECK_EQUAL(best, options.given.every);
    }
}

static void a_weaker_source_must_be_right_all_the_same(void)
{
    options_defaults(&options);
    CHECK_OK(set(PROGRAM_HUB, "every", "5"));
    CHECK_STATUS(STATUS_CONFIG, options_set(&options, PROGRAM_HUB, "every", "0",
                                            OPTION_CONFIG, &why));
    CHECK_TEXT("every = 0: must be at least 1 (iterations between two "
               "offers; auto: with --policy auto as few as the network "
               "carries, else 20)",
               why.text);
    CHECK_EQUAL(5, options.every);
}

static void every_row_is_sound(void)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        const char *bounds[] = {rows[i].text, rows[i].minimum, rows[i].maximum};
        union value value;

        for (int j = 0; j < 3; j++)
            CHECK(!*bounds[j] || value_parse(&rows[i].type, bounds[j], &value,
                                             NULL) == STATUS_OK);
        CHECK(*rows[i].help && *rows[i].group && rows[i].programs);
        CHECK_EQUAL(rows[i].type.kind == VALUE_FLAG, !*rows[i].metavar);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(rows[i].name, rows[j].name) != 0 ||
                  !(rows[i].programs & rows[j].programs));
    }
}

static void a_default_is_within_its_bounds(void)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++)
        for (enum program program = 0; program < PROGRAMS; program++)
            if (option_is_of(&rows[i], program) && *rows[i].text)
                CHECK_OK(set(program, rows[i].name, rows[i].text));
}

static void the_words_of_a_choice_are_its_metavar(void)
{
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        char bytes[100];
        struct text words;

        text_init(&words, bytes, sizeof bytes);
        for (unsigned j = 0; j < rows[i].type.word_count; j++)
            text_add(&words, "%s%s", j ? "|" : "", rows[i].type.words[j].text);
        if (rows[i].type.kind == VALUE_CHOICE)
            CHECK_TEXT(bytes, rows[i].metavar);
    }
}

static void words_are_as_far_apart_as_letters_differ(void)
{
    CHECK_EQUAL(0, spelling_distance("every", "every"));
    CHECK_EQUAL(1, spelling_distance("evry", "every"));
    CHECK_EQUAL(3, spelling_distance("kitten", "sitting"));
    CHECK_EQUAL(5, spelling_distance("", "every"));
    CHECK_EQUAL(5, spelling_distance("every", ""));
}

void add_core_options_tests(CU_pSuite suite)
{
    TEST(the_defaults_are_those_of_the_table);
    TEST(what_nobody_has_chosen_says_so);
    TEST(what_is_set_is_given);
    TEST(a_value_of_the_wrong_type_is_refused);
    TEST(a_value_out_of_its_bounds_is_refused);
    TEST(a_bound_itself_is_allowed);
    TEST(an_unknown_option_names_the_one_that_was_meant);
    TEST(an_option_of_another_program_names_it);
    TEST(what_is_refused_is_quoted_safely);
    TEST(what_is_refused_changes_nothing);
    TEST(a_stronger_source_wins_whatever_the_order);
    TEST(a_weaker_source_must_be_right_all_the_same);
    TEST(every_row_is_sound);
    TEST(a_default_is_within_its_bounds);
    TEST(the_words_of_a_choice_are_its_metavar);
    TEST(words_are_as_far_apart_as_letters_differ);
}
