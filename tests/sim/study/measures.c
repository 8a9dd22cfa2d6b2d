/* Numbers of a recording that is short enough to do the sums by hand. */
#include "sim/study/measures.h"

#include <string.h>

#include "core/score.h"
#include "tests/check.h"

static const char recording[] =
    "starswitch-record 1 hub\n"
    "set policy mean\n"
    "100 wake\n"
    "100.5 message 6 hello run=0 iteration=0 name=\"n1\" [90]\n"
    "100.5 message 8 hello run=0 iteration=0 name=\"n2\" [90]\n"
    "101 message 6 ping sent=1000000000 iteration=5 missed=0 waited=0\n"
    "101.9 message 6 offer exchange=1 iteration=10 samples=1\n"
    "102 message 7 chunk exchange=1 chunk=0 [4000]\n"
    "  send 7 result exchange=1 chunk=0 [4000]\n"
    "  note round_done \"\" \"version 1 merged 2 of 2\"\n"
    "102.2 done score #1 OK 1,0,0\n"
    "  note centre_scored \"\" \"version 1: loss 2.0000, "
    "test accuracy 10.00 %\"\n"
    "103 message 6 ping sent=3000000000 iteration=20 missed=0 "
    "waited=500000000\n"
    "103.5 message 6 offer exchange=2 iteration=30 samples=1\n"
    "103.9 message 7 chunk exchange=2 chunk=0 [1000]\n"
    "104 message 9 chunk exchange=2 chunk=0 [1000 3f]\n"
    "  send 7 result exchange=2 chunk=0 [3000]\n"
    "  send 9 result exchange=2 chunk=0 [3000]\n"
    "  note round_done \"\" \"version 2 merged 2 of 2\"\n"
    "105 message 6 offer exchange=3 iteration=40 samples=1\n"
    "106 message 7 chunk exchange=3 chunk=0 [2000]\n"
    "  note round_done \"\" \"version 3 merged 1 of 2\"\n"
    "106.1 done score #2 OK 3,0,0\n"
    "  note centre_scored \"\" \"version 3: loss 1.0000, "
    "test accuracy 50.00 %\"\n"
    "107 message 6 ping sent=7000000000 iteration=60 missed=1 "
    "waited=1500000000\n"
    "108 wake\n"
    "  note run_ending \"\" \"the time is over; version 3\"\n"
    "109 message 7 chunk exchange=4 chunk=0 [9000]\n"
    "  note round_done \"\" \"version 4 merged 1 of 2\"\n"
    "  note centre_scored \"\" \"version 4: loss 0.1000, "
    "test accuracy 90.00 %\"\n";

static struct measures measure(const struct goal *goal)
{
    struct measures measures;
    struct why why = {""};

    measures_begin(&measures, *goal);
    CHECK_OK(measures_add_all(&measures, recording, strlen(recording), &why));
    measures_end(&measures);
    return measures;
}

static void rounds_are_counted_and_timed_until_the_end_begins(void)
{
    struct measures measures = measure(&(struct goal){.kind = GOAL_NONE});

    CHECK_NEAR(3, measures.rounds, 0);
    CHECK_NEAR(2, measures.round_time, 1e-9);
    CHECK_NEAR(8, measures.end, 1e-9);
    CHECK_NEAR(1, measures.loss, 0);
    CHECK(measures.goal_time < 0);
    measures_free(&measures);
}

/* From the PINGs at 3 s and 7 s: those before the first round do not count. */
static void nodes_are_measured_between_their_pings(void)
{
    struct measures measures = measure(&(struct goal){.kind = GOAL_NONE});

    CHECK_EQUAL(2, measures.node_count);
    CHECK_TEXT("n1", measures.nodes[0].name);
    CHECK_NEAR(10, measures.nodes[0].rate, 1e-9);
    CHECK_NEAR(0, measures.nodes[1].rate, 0);
    CHECK_NEAR(10, measures.rate, 1e-9);
    CHECK_NEAR(0.25, measures.idle, 1e-9);
    CHECK_NEAR(3.0 / 40, measures.step, 1e-9);
    measures_free(&measures);
}

/* Six seconds, from the first round to the end. */
static void traffic_and_lateness_are_those_of_that_time(void)
{
    struct measures measures = measure(&(struct goal){.kind = GOAL_NONE});

    CHECK_NEAR(4000.0 / 6, measures.up, 1e-9);
    CHECK_NEAR(6000.0 / 6, measures.down, 1e-9);
    CHECK_NEAR(0.5, measures.late, 1e-9);
    measures_free(&measures);
}

/* Version 1 is of 102 s, version 3 of 106 s. */
static void the_time_to_a_goal_is_between_two_scored_versions(void)
{
    struct goal loss = {.kind = GOAL_LOSS, .value = 1.25};
    struct goal right = {.kind = GOAL_ACCURACY, .value = 0.2};
    struct goal better = {.kind = GOAL_LOSS, .value = 0.5};
    struct measures measures = measure(&loss);

    CHECK_NEAR(3, measures.goal_time, 1e-9);
    measures_free(&measures);
    measures = measure(&right);
    CHECK_NEAR(1, measures.goal_time, 1e-9);
    measures_free(&measures);
    measures = measure(&better);
    CHECK(measures.goal_time < 0);
    measures_free(&measures);
}

static void what_makes_no_sense_is_passed_over(void)
{
    static const char *const lines[] = {
        "",
        "  ",
        "set",
        "nonsense",
        "1 message",
        "2 message x ping sent=1",
        "3 message 6 ping sent= iteration=",
        "4 message 6 hello name=",
        "  note round_done",
        "  note centre_scored \"\" \"version x\"",
        "  send 7 result",
        "5 message 7 chunk ]["};
    struct measures measures;

    measures_begin(&measures, (struct goal){.kind = GOAL_LOSS, .value = 1});
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        measures_add(&measures, lines[i]);
    measures_end(&measures);
    CHECK_NEAR(0, measures.rounds, 0);
    CHECK_NEAR(0, measures.up + measures.down, 0);
    CHECK_EQUAL(0, measures.node_count);
    CHECK(!score_known(measures.loss));
    measures_free(&measures);
}

void add_sim_study_measures_tests(CU_pSuite suite)
{
    TEST(rounds_are_counted_and_timed_until_the_end_begins);
    TEST(nodes_are_measured_between_their_pings);
    TEST(traffic_and_lateness_are_those_of_that_time);
    TEST(the_time_to_a_goal_is_between_two_scored_versions);
    TEST(what_makes_no_sense_is_passed_over);
}
