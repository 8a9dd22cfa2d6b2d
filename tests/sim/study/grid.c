#include "sim/study/grid.h"

#include <string.h>

#include "tests/check.h"

static void check_refused(const char *text, const char *words)
{
    struct grid grid = {.count = 0};
    struct why why = {""};

    CHECK_STATUS(STATUS_USAGE, grid_parse(text, "over", &grid, &why));
    CHECK_CONTAINS(words, why.text);
    CHECK_CONTAINS("--over", why.text);
}

static void a_grid_has_a_place_for_every_combination(void)
{
    static const char *const names[] = {"every=10 delay=0", "every=10 delay=5",
                                        "every=20 delay=0", "every=20 delay=5",
                                        "every=50 delay=0", "every=50 delay=5"};
    struct grid grid = {.count = 0};
    struct why why = {""};

    CHECK_OK(grid_parse(" every=10,20,50  delay=0,5 ", "over", &grid, &why));
    CHECK_EQUAL(2, grid.count);
    CHECK_EQUAL(6, grid.places);
    for (unsigned i = 0; i < grid.places; i++) {
        char bytes[100];
        struct text text;

        text_init(&text, bytes, sizeof bytes);
        grid_name(&grid, i, &text);
        CHECK_TEXT(names[i], bytes);
    }
    CHECK_EQUAL(2, grid_value(&grid, 5, 0));
    CHECK_EQUAL(0, grid_value(&grid, 4, 1));
    CHECK_EQUAL(1, grid_sibling(&grid, 5, 0, 0));
    CHECK_EQUAL(4, grid_sibling(&grid, 5, 1, 0));
    CHECK_EQUAL(5, grid_sibling(&grid, 5, 1, 1));
}

static void a_place_sets_its_options_and_no_other(void)
{
    struct grid grid = {.count = 0};
    struct options options;
    struct why why = {""};

    options_defaults(&options);
    options.delay = 77;
    CHECK_OK(grid_parse("every=10,20 policy=mean,easgd dylu=no,yes", "over",
                        &grid, &why));
    grid_apply(&grid, 7, &options);
    CHECK_EQUAL(20, options.every);
    CHECK_TEXT("easgd", options.policy);
    CHECK(options.dylu);
    CHECK(options.given.every == OPTION_ARGUMENT);
    CHECK_EQUAL(77, options.delay);
}

static void one_option_needs_no_name(void)
{
    struct grid grid = {.count = 0};
    struct why why = {""};
    char bytes[100];
    struct text text;

    CHECK_OK(grid_parse("policy=mean,diloco", "policy", &grid, &why));
    text_init(&text, bytes, sizeof bytes);
    grid_name(&grid, 1, &text);
    CHECK_TEXT("diloco", bytes);
}

static void what_is_no_grid_is_refused_with_what_would_be(void)
{
    check_refused("", "such as \"every=10,20,50 delay=0,5\"");
    check_refused("every", "expected NAME=VALUE");
    check_refused("evry=10", "no option evry");
    check_refused("every=10,0", "every");
    check_refused("every=10,,20", "a value of every is missing");
    check_refused("every=10,20,10", "every has 10 twice");
    check_refused("every=10 every=20", "every is there twice");
}

static void what_results_depend_on_otherwise_is_not_varied(void)
{
    check_refused("seed=1,2", "give it beside them");
    check_refused("goal=0.1,0.2", "give it beside them");
    check_refused("workers=1,2", "give it beside them");
    check_refused("report=a,b", "give it beside them");
    check_refused("json=yes,no", "give it beside them");
}

static void more_combinations_than_4096_are_refused(void)
{
    struct grid grid = {.count = 0};
    struct why why = {""};

    CHECK_OK(grid_parse("every=1,2,3,4,5,6,7,8 delay=1,2,3,4,5,6,7,8 "
                        "nodes=1,2,3,4,5,6,7,8 fragments=1,2,3,4,5,6,7,8",
                        "over", &grid, &why));
    CHECK_EQUAL(4096, grid.places);
    check_refused("every=1,2,3,4,5,6,7,8 delay=1,2,3,4,5,6,7,8 "
                  "nodes=1,2,3,4,5,6,7,8 fragments=1,2,3,4,5,6,7,8,9",
                  "more than 4096 combinations");
}

void add_sim_study_grid_tests(CU_pSuite suite)
{
    TEST(a_grid_has_a_place_for_every_combination);
    TEST(a_place_sets_its_options_and_no_other);
    TEST(one_option_needs_no_name);
    TEST(what_is_no_grid_is_refused_with_what_would_be);
    TEST(what_results_depend_on_otherwise_is_not_varied);
    TEST(more_combinations_than_4096_are_refused);
}
