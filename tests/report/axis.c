#include "report/axis.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

static char labels[400];

/* All labels of an axis, with blanks between them. */
static const char *labels_of(struct axis axis)
{
    struct text text;

    text_init(&text, labels, sizeof labels);
    for (unsigned i = 0; i < axis_ticks(&axis); i++) {
        text_add(&text, i ? " " : "");
        axis_label(&axis, i, &text);
    }
    return labels;
}

static void numbers_on_an_axis_are_round(void)
{
    CHECK_TEXT("0.0 0.5 1.0 1.5 2.0 2.5",
               labels_of(axis_of_values(0.27, 2.31, 5)));
    CHECK_TEXT("20 40 60 80 100", labels_of(axis_of_values(20.1, 87, 5)));
    CHECK_TEXT("-1 0 1", labels_of(axis_of_values(-1, 1, 2)));
}

static void an_axis_reaches_around_its_values(void)
{
    for (int i = -30; i < 30; i++) {
        double low = 0.37 * i;
        struct axis axis = axis_of_values(low, low + 1.234, 5);

        CHECK(axis.low <= low + 1e-6 && axis.high >= low + 1.234 - 1e-6);
        CHECK(axis_ticks(&axis) >= 3 && axis_ticks(&axis) <= 8);
    }
}

static void a_single_value_has_an_axis_too(void)
{
    struct axis axis = axis_of_values(0.5, 0.5, 5);

    CHECK(axis.low < 0.5 && axis.high > 0.5);
    axis = axis_of_values(0, 0, 5);
    CHECK(axis.low < 0 && axis.high > 0);
}

static void time_has_the_unit_that_suits_it(void)
{
    CHECK_TEXT("0 5 10 15 20 25 30", labels_of(axis_of_time(31, 10)));
    CHECK_TEXT("s", axis_of_time(31, 10).name);
    CHECK_TEXT("0 1 2 3 4 5 6 7 8 9 10", labels_of(axis_of_time(600, 10)));
    CHECK_TEXT("min", axis_of_time(600, 10).name);
    CHECK_TEXT("h", axis_of_time(36000, 10).name);
    CHECK(axis_ticks(&(struct axis){.high = 1, .step = 1e-9}) <= 20);
}

static void places_lie_between_the_ends(void)
{
    struct axis axis = axis_of_values(0, 10, 5);

    axis.from = 100;
    axis.to = 0;
    CHECK_NEAR(100, axis_place(&axis, 0), 1e-9);
    CHECK_NEAR(50, axis_place(&axis, 5), 1e-9);
    CHECK_NEAR(0, axis_place(&axis, 10), 1e-9);
}

void add_report_axis_tests(CU_pSuite suite)
{
    TEST(numbers_on_an_axis_are_round);
    TEST(an_axis_reaches_around_its_values);
    TEST(a_single_value_has_an_axis_too);
    TEST(time_has_the_unit_that_suits_it);
    TEST(places_lie_between_the_ends);
}
