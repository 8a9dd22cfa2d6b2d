#include "report/dots.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"

static char bytes[1 << 17];

static void draw(const struct dots *dots)
{
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    dots_draw(dots, &text);
    CHECK(!text.cut);
}

static unsigned count_of(const char *part)
{
    unsigned count = 0;

    for (const char *at = bytes; (at = strstr(at, part)); at++)
        count++;
    return count;
}

static void each_value_is_a_dot_and_each_row_has_its_median(void)
{
    static const double first[] = {10, 20, 30}, second[] = {40, 50};
    const struct dots dots = {
        .title = "Time",
        .unit = "s",
        .rows = {{"a<b", first, 3, 20, 0}, {"c", second, 2, 45, 9}},
        .count = 2};

    draw(&dots);
    CHECK_EQUAL(5, count_of("<circle"));
    CHECK_EQUAL(3, count_of("<circle class=\"c0\""));
    CHECK_EQUAL(2, count_of("<circle class=\"c1\""));
    CHECK_EQUAL(2, count_of("class=\"median\""));
    CHECK_CONTAINS("a&lt;b", bytes);
    /* 0 to 50, from 170 to 830: a median of 45 is at 764. */
    CHECK_CONTAINS("x1=\"764.0\"", bytes);
}

static void what_is_missing_is_counted_and_not_drawn(void)
{
    static const double values[] = {10, INFINITY, INFINITY};
    const struct dots dots = {.title = "Time",
                              .missing = "not reached",
                              .rows = {{"a", values, 3, INFINITY, 0}},
                              .count = 1};

    draw(&dots);
    CHECK_EQUAL(1, count_of("<circle"));
    CHECK_EQUAL(0, count_of("class=\"median\""));
    CHECK_CONTAINS("2 not reached", bytes);
    CHECK_EQUAL(0, count_of("inf"));
    CHECK_EQUAL(0, count_of("nan"));
}

static void without_rows_or_values_it_draws_no_nonsense(void)
{
    static const double values[] = {INFINITY};
    struct dots dots = {.title = "Time", .missing = "not reached"};

    draw(&dots);
    CHECK_CONTAINS("nothing to draw", bytes);
    dots.rows[0] = (struct dots_row){"a", values, 1, INFINITY, 0};
    dots.count = 1;
    draw(&dots);
    CHECK_CONTAINS("1 not reached", bytes);
    CHECK_EQUAL(0, count_of("inf"));
    CHECK_EQUAL(0, count_of("nan"));
}

static void of_very_many_dots_some_are_drawn(void)
{
    static double values[4096];
    struct dots dots = {
        .title = "Time", .rows = {{"a", values, 4096, 2048, 0}}, .count = 1};

    for (unsigned i = 0; i < 4096; i++)
        values[i] = i;
    draw(&dots);
    CHECK(count_of("<circle") <= 501);
    CHECK(count_of("<circle") > 250);
}

void add_report_dots_tests(CU_pSuite suite)
{
    TEST(each_value_is_a_dot_and_each_row_has_its_median);
    TEST(what_is_missing_is_counted_and_not_drawn);
    TEST(without_rows_or_values_it_draws_no_nonsense);
    TEST(of_very_many_dots_some_are_drawn);
}
