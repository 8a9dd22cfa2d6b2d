/* Rabit's recovery on a hub: who was lost does its work again. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/patient.h"

static void rb_06_results_are_given_again_bit_for_bit(void)
{
    struct circle *circle = patient_new(3);
    unsigned char before[160];

    patient_checkpoint_all(circle, 1);
    for (unsigned i = 0; i < 3; i++)
        patient_sum(circle, i, 0.1 * (i + 1));
    patient_settle(circle);
    memcpy(before, circle->members[0].out, sizeof before);
    patient_sum_all(circle, 5);
    patient_sum(circle, 0, 9);
    patient_sum(circle, 2, 9);
    circle_run(circle, SECOND);
    circle_kill(circle, 1);
    circle_run(circle, SECOND);
    circle_start(circle, 1);
    patient_load(circle, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(1, patient_told(circle, 1)->version);
    patient_sum(circle, 1, 12345); /* what it gives is not asked for */
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, patient_told(circle, 1)->outcome);
    CHECK_EQUAL(0, memcmp(before, circle->members[1].out, sizeof before));
    patient_sum(circle, 1, 12345);
    circle_run(circle, SECOND);
    CHECK_NEAR(18, (double)circle_float(circle, 1, 0), 0);
    CHECK(circle->members[0].asking);
    patient_sum(circle, 1, 9); /* where the others wait */
    patient_settle(circle);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(27, (double)circle_float(circle, i, 39), 0);
    circle_destroy(&circle);
}

/* Its own contribution was whole when it died: nobody has to wait. */
static void rb_06_what_was_whole_is_not_needed_again(void)
{
    struct circle *circle = patient_new(2);

    circle_floats(circle, 0, 30, 1); /* two segments: a window */
    circle_floats(circle, 1, 30, 4);
    circle_call(circle, 1, COLLECTIVE_ALLREDUCE);
    circle_run(circle, SECOND);
    circle_kill(circle, 1);
    circle_run(circle, SECOND);
    circle_call(circle, 0, COLLECTIVE_ALLREDUCE);
    patient_settle(circle);
    CHECK_EQUAL(ENDING_SUCCESS, patient_told(circle, 0)->outcome);
    CHECK_NEAR(2.5, (double)circle_float(circle, 0, 29), 0);
    circle_destroy(&circle);
}

static void rb_07_survivors_wait_in_the_collective(void)
{
    struct circle *circle = patient_new(3);

    circle_kill(circle, 1);
    patient_sum(circle, 0, 1);
    patient_sum(circle, 2, 1);
    circle_run(circle, 20 * SECOND);
    CHECK(circle->members[0].asking && circle->members[2].asking);
    circle_start(circle, 1);
    patient_sum(circle, 1, 1);
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
    circle_destroy(&circle);
}

static void rb_07_a_mismatch_names_the_call(void)
{
    struct circle *circle = patient_new(2);

    patient_sum_all(circle, 1);
    patient_sum_all(circle, 1);
    circle_kill(circle, 1);
    circle_start(circle, 1);
    patient_sum(circle, 1, 1);
    patient_settle(circle);
    circle_floats(circle, 1, 7, 1);
    circle_call(circle, 1, COLLECTIVE_BROADCAST);
    patient_settle(circle);
    CHECK_EQUAL(ENDING_ABORT, patient_told(circle, 1)->outcome);
    CHECK_TEXT("call 1: broadcast of 28 bytes from rank 0 here, allreduce sum "
               "of 160 bytes f32 at n0",
               patient_told(circle, 1)->text);
    circle_destroy(&circle);
}

static void rb_07_a_checkpoint_of_nothing_is_refused(void)
{
    struct circle *circle = patient_new(2);

    circle_floats(circle, 0, 0, 0);
    circle_call(circle, 0, COLLECTIVE_CHECKPOINT);
    patient_settle(circle);
    CHECK_EQUAL(ENDING_ABORT, patient_told(circle, 0)->outcome);
    CHECK_TEXT("a checkpoint of zero bytes", patient_told(circle, 0)->text);
    circle_destroy(&circle);
}

static void rb_07_too_many_losses_are_an_error_not_a_hang(void)
{
    struct circle *circle = patient_new(2);

    patient_lazy_all(circle, 5);
    circle_kill(circle, 0);
    circle_kill(circle, 1);
    circle_run(circle, SECOND);
    circle_start(circle, 0);
    patient_load(circle, 0);
    patient_settle(circle);
    CHECK_EQUAL(ENDING_ABORT, patient_told(circle, 0)->outcome);
    CHECK_TEXT("version 1 was kept by its members only, and they are all lost",
               patient_told(circle, 0)->text);
    circle_destroy(&circle);
    /* A model that the hub has is there for whoever comes back. */
    circle = patient_new(2);
    patient_checkpoint_all(circle, 5);
    circle_kill(circle, 0);
    circle_kill(circle, 1);
    circle_run(circle, SECOND);
    circle_start_all(circle);
    patient_load(circle, 0);
    patient_load(circle, 1);
    patient_settle(circle);
    CHECK_EQUAL(1, patient_told(circle, 1)->version);
    CHECK_NEAR(5, (double)circle_float(circle, 0, 0), 0);
    circle_destroy(&circle);
}

static void rb_08_prepare_runs_only_for_what_cannot_be_replayed(void)
{
    struct circle *circle = patient_new(2);

    patient_sum_all(circle, 1);
    CHECK_EQUAL(1, circle->members[0].prepared);
    CHECK_EQUAL(1, circle->members[1].prepared);
    circle_kill(circle, 1);
    circle_start(circle, 1);
    patient_sum(circle, 1, 1);
    patient_settle(circle);
    CHECK_EQUAL(1, circle->members[1].prepared); /* replayed */
    patient_sum_all(circle, 1);
    CHECK_EQUAL(2, circle->members[1].prepared);
    circle_destroy(&circle);
}

/* ---- RB-11, and beyond Rabit ---- */

static void rb_11_who_does_not_come_back_in_time_is_given_up(void)
{
    struct circle *circle = patient_new(3);
    nanos before;

    patient_sum_all(circle, 1);
    circle_kill(circle, 1);
    before = circle->now;
    patient_sum(circle, 0, 1);
    patient_sum(circle, 2, 2);
    CHECK(circle_settle(circle, 40 * SECOND));
    CHECK(circle->now - before >= 30 * SECOND);
    CHECK_EQUAL(ENDING_FAIL, patient_told(circle, 0)->outcome);
    CHECK_TEXT("n1: not back within 30 s; the group goes on without",
               patient_told(circle, 0)->text);
    CHECK_EQUAL(2, patient_told(circle, 2)->size);
    patient_sum(circle, 0, 1); /* the same call, among those who are left */
    patient_sum(circle, 2, 2);
    patient_settle(circle);
    CHECK_EQUAL(ENDING_SUCCESS, patient_told(circle, 0)->outcome);
    CHECK_NEAR(3, (double)circle_float(circle, 2, 0), 0);
    circle_destroy(&circle);
}

/* One more than a patient group was begun with is told so; it may take the
 * place of one that was given up. */
static void a_stranger_gets_a_place_that_is_free(void)
{
    struct circle *circle = patient_new(2);
    unsigned place;

    patient_sum_all(circle, 1);
    place = circle_newcomer(circle);
    patient_sum(circle, place, 1);
    patient_settle(circle);
    CHECK_EQUAL(ENDING_ABORT, patient_told(circle, place)->outcome);
    CHECK_TEXT("the group is full", patient_told(circle, place)->text);
    circle_kill(circle, 1);
    circle_run(circle, 40 * SECOND);
    circle_kill(circle, place);
    circle_start(circle, place);
    patient_sum(circle, place, 9); /* the result that there is */
    patient_settle(circle);
    CHECK_EQUAL(ENDING_SUCCESS, patient_told(circle, place)->outcome);
    CHECK_NEAR(3, (double)circle_float(circle, place, 0), 0);
    patient_sum(circle, place, 9);
    patient_sum(circle, 0, 1);
    patient_settle(circle);
    CHECK_NEAR(10, (double)circle_float(circle, 0, 0), 0);
    circle_destroy(&circle);
}

/* A hub that was started again has lost what they did: there is no way back,
 * whichever of its connections comes last. */
static void who_is_refused_does_not_sit_down_later(void)
{
    struct circle *circle = patient_new(2);
    struct msg msg = {.kind = MSG_JOINED,
                      .joined = {.run = 8, .session = 1, .part_bytes = 64}};
    struct event control = {.kind = EVENT_JOIN, .peer = PEER_CONTROL};
    struct event joined = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};
    struct event bulk = {.kind = EVENT_JOIN, .peer = PEER_BULK};

    patient_sum_all(circle, 1);
    circle_cut(circle, 0);
    circle_run(circle, 10 * MILLISECOND);
    circle->members[0].connect_at = NEVER;
    circle_step(circle, 0, &control);
    circle_step(circle, 0, &joined);
    circle_step(circle, 0, &bulk);
    patient_sum(circle, 0, 1);
    CHECK_EQUAL(ENDING_ABORT, patient_told(circle, 0)->outcome);
    CHECK_EQUAL(0, patient_told(circle, 0)->joined);
    CHECK_TEXT("the hub was started again, and has lost the group's results "
               "and checkpoints",
               patient_told(circle, 0)->text);
    circle_destroy(&circle);
}

static void a_lost_connection_is_nobodys_business(void)
{
    struct circle *circle = patient_new(3);

    patient_sum_all(circle, 1);
    for (unsigned i = 0; i < 3; i++)
        patient_sum(circle, i, i);
    circle_run(circle, 2 * MILLISECOND);
    circle_cut(circle, 1);
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(3, (double)circle_float(circle, i, 0), 0);
    circle_destroy(&circle);
}

void add_collectives_rabit_recovery_tests(CU_pSuite suite)
{
    TEST(rb_06_results_are_given_again_bit_for_bit);
    TEST(rb_06_what_was_whole_is_not_needed_again);
    TEST(rb_07_survivors_wait_in_the_collective);
    TEST(rb_07_a_mismatch_names_the_call);
    TEST(rb_07_a_checkpoint_of_nothing_is_refused);
    TEST(rb_07_too_many_losses_are_an_error_not_a_hang);
    TEST(rb_08_prepare_runs_only_for_what_cannot_be_replayed);
    TEST(rb_11_who_does_not_come_back_in_time_is_given_up);
    TEST(a_stranger_gets_a_place_that_is_free);
    TEST(who_is_refused_does_not_sit_down_later);
    TEST(a_lost_connection_is_nobodys_business);
}
