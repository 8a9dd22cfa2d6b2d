#include "report/series.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"

static struct series *series_new(void)
{
    return calloc(1, sizeof(struct series));
}

static void samples_are_kept_one_by_one_while_there_is_room(void)
{
    struct series *series = series_new();

    for (int i = 0; i < SERIES_POINTS; i++)
        series_add(series, i, 2.0 * i);
    CHECK_EQUAL(SERIES_POINTS, series->count);
    CHECK_NEAR(2.0 * 7, series->points[7].value, 0);
    CHECK_NEAR(7, series->points[7].time, 0);
    free(series);
}

static void a_full_series_has_half_the_points_of_twice_the_samples(void)
{
    struct series *series = series_new();

    for (int i = 0; i < SERIES_POINTS + 2; i++)
        series_add(series, i, i);
    CHECK_EQUAL(SERIES_POINTS / 2 + 1, series->count);
    CHECK_EQUAL(2, series->per_point);
    CHECK_NEAR(0.5, series->points[0].value, 0);
    CHECK_NEAR(SERIES_POINTS + 0.5, series->points[series->count - 1].value, 0);
    free(series);
}

static void a_series_is_bounded_in_order_and_keeps_its_mean(void)
{
    enum { SAMPLES = 300000 };
    struct series *series = series_new();

    for (int i = 0; i < SAMPLES; i++) {
        series_add(series, i, 3.0 * i);
        if (!CHECK(series->count <= SERIES_POINTS))
            break;
    }
    CHECK(series->count >= SERIES_POINTS / 2);
    for (unsigned i = 1; i < series->count; i++)
        if (!CHECK(series->points[i - 1].time < series->points[i].time))
            break;
    for (unsigned i = 0; i < series->count; i++)
        CHECK_NEAR(3 * series->points[i].time, series->points[i].value, 1e-6);
    CHECK_NEAR(SAMPLES - 1, series->newest.time, 0);
    free(series);
}

static void what_is_no_number_is_passed_over(void)
{
    struct series *series = series_new();

    series_add(series, 1, NAN);
    series_add(series, INFINITY, 1);
    CHECK_EQUAL(0, series->count);
    CHECK_EQUAL(0, series->per_point);
    free(series);
}

void add_report_series_tests(CU_pSuite suite)
{
    TEST(samples_are_kept_one_by_one_while_there_is_room);
    TEST(a_full_series_has_half_the_points_of_twice_the_samples);
    TEST(a_series_is_bounded_in_order_and_keeps_its_mean);
    TEST(what_is_no_number_is_passed_over);
}
