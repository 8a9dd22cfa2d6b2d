#include "report/course.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/report/sample.h"

static struct hub_view view;

static void samples_come_five_times_a_second(void)
{
    struct course *course = course_new();

    sample_view(&view);
    for (int i = 0; i < 100; i++) {
        view.nodes[0].iteration++;
        course_look(course, (nanos)i * 10 * MILLISECOND, &view);
    }
    CHECK_EQUAL(5, course->node[0].loss.count);
    CHECK_EQUAL(1, course->node[1].loss.count);
    CHECK_EQUAL(1, course->accuracy.count);
    CHECK_EQUAL(5, course->megabytes.count);
    course_destroy(&course);
    CHECK(!course);
}

static void what_is_not_known_is_no_sample(void)
{
    struct course *course = course_new();

    sample_view(&view);
    view.score = NO_SCORE;
    view.accuracy = -1;
    course_look(course, 0, &view);
    CHECK_EQUAL(0, course->loss.count);
    CHECK_EQUAL(0, course->accuracy.count);
    CHECK_EQUAL(0, course->node[3].loss.count);
    course_destroy(&course);
}

static void the_last_score_is_not_missed(void)
{
    struct course *course = course_new();

    sample_view(&view);
    course_look(course, 0, &view);
    view.accuracy = 0.99;
    view.ended = true;
    course_look(course, MILLISECOND, &view);
    CHECK_NEAR(0.99, course->accuracy.newest.value, 0);
    course_destroy(&course);
}

static void a_place_taken_by_another_node_begins_anew(void)
{
    struct course *course = course_new();

    sample_view(&view);
    course_look(course, 0, &view);
    (void)snprintf(view.nodes[0].name, NODE_NAME_BYTES, "other");
    view.nodes[0].iteration = 1;
    course_look(course, SECOND, &view);
    CHECK_TEXT("other", course->node[0].name);
    CHECK_EQUAL(1, course->node[0].loss.count);
    course_destroy(&course);
}

static void the_first_and_the_last_notes_are_kept_in_order(void)
{
    struct course *course = course_new();
    struct note note = {.kind = NOTE_REFUSED};

    for (int i = 0; i < 1000; i++)
        course_note(course, i * SECOND, &note);
    CHECK_EQUAL(1000, course->notes[NOTE_REFUSED]);
    CHECK_EQUAL(COURSE_MOMENTS, course_moments(course));
    for (unsigned i = 0; i < COURSE_MOMENTS; i++)
        CHECK_EQUAL(i < COURSE_FIRST ? i : 1000 - COURSE_MOMENTS + i,
                    course_moment(course, i)->elapsed / SECOND);
    course_destroy(&course);
}

static void notes_for_debugging_are_only_counted(void)
{
    struct course *course = course_new();
    struct note note = {.kind = NOTE_ROUND};

    course_note(course, 0, &note);
    CHECK_EQUAL(0, course_moments(course));
    CHECK_EQUAL(1, course->notes[NOTE_ROUND]);
    course_destroy(&course);
}

void add_report_course_tests(CU_pSuite suite)
{
    TEST(samples_come_five_times_a_second);
    TEST(what_is_not_known_is_no_sample);
    TEST(the_last_score_is_not_missed);
    TEST(a_place_taken_by_another_node_begins_anew);
    TEST(the_first_and_the_last_notes_are_kept_in_order);
    TEST(notes_for_debugging_are_only_counted);
}
