/* Rabit's checkpoints on a hub. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/patient.h"

static void rb_01_load_collectives_checkpoint_and_so_on(void)
{
    struct circle *circle = patient_new(3);

    for (unsigned i = 0; i < 3; i++)
        patient_load(circle, i);
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
    for (unsigned version = 0; version < 4; version++) {
        CHECK_EQUAL(version, patient_told(circle, 1)->version);
        patient_sum_all(circle, version);
        patient_check_all(circle, ENDING_SUCCESS);
        CHECK_NEAR(3 * version + 3, (double)circle_float(circle, 2, 0), 0);
        patient_checkpoint_all(circle, version);
    }
    circle_ask_all(circle, ASK_LEAVE);
    circle_run(circle, SECOND);
    CHECK_EQUAL(0, circle_view(circle).members);
    CHECK_EQUAL(0, circle_view(circle).held);
    circle_destroy(&circle);
}

static void rb_02_load_0_touches_nothing_a_restarted_one_has_it_all(void)
{
    struct circle *circle = patient_new(3);

    patient_load(circle, 0);
    patient_settle(circle);
    CHECK_EQUAL(0, patient_told(circle, 0)->version);
    CHECK_EQUAL(0xee, circle->members[0].out[0]); /* untouched */
    patient_checkpoint_all(circle, 3);
    patient_checkpoint_all(circle, 4);
    circle_kill(circle, 2);
    circle_run(circle, SECOND);
    circle_start(circle, 2);
    patient_load(circle, 2);
    patient_settle(circle);
    CHECK_EQUAL(2, patient_told(circle, 2)->version);
    CHECK_EQUAL(200, patient_told(circle, 2)->bytes);
    CHECK_NEAR(4, (double)circle_float(circle, 2, 49), 0);
    circle_destroy(&circle);
}

static void rb_03_a_checkpoint_is_one_version_together(void)
{
    struct circle *circle = patient_new(3);

    patient_sum_all(circle, 1);
    patient_sum_all(circle, 2);
    CHECK_EQUAL(2 * 160, circle_view(circle).held); /* the results */
    patient_checkpoint(circle, 0, 1);
    patient_checkpoint(circle, 1, 1);
    circle_run(circle, SECOND);
    CHECK(circle->members[0].asking); /* nobody is a version ahead */
    CHECK_EQUAL(0, circle_view(circle).version);
    patient_checkpoint(circle, 2, 1);
    patient_settle(circle);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(1, patient_told(circle, i)->version);
    circle_run(circle, SECOND);
    CHECK_EQUAL(200, circle_view(circle).held); /* the model alone */
    patient_sum_all(circle, 1);                 /* sequence 0 again */
    patient_check_all(circle, ENDING_SUCCESS);
    CHECK_EQUAL(1, patient_told(circle, 0)->version);
    circle_destroy(&circle);
}

/* ---- RB-4, RB-5 ---- */

static void rb_04_a_lazy_model_is_read_only_if_somebody_needs_it(void)
{
    struct circle *circle = patient_new(3);

    patient_sum_all(circle, 1);
    patient_lazy_all(circle, 7);
    patient_sum_all(circle, 1);
    patient_lazy_all(circle, 8);
    circle_run(circle, SECOND);
    CHECK_EQUAL(0, circle_view(circle).held); /* nobody has serialised it */
    patient_sum(circle, 0, 1);
    patient_sum(circle, 1, 2);
    circle_run(circle, SECOND);
    CHECK_EQUAL(0, circle->members[0].served + circle->members[1].served);
    circle_kill(circle, 2);
    circle_start(circle, 2);
    patient_load(circle, 2);
    circle_run(circle, SECOND);
    CHECK_EQUAL(1, circle->members[0].served + circle->members[1].served);
    CHECK_EQUAL(ENDING_SUCCESS, patient_told(circle, 2)->outcome);
    CHECK_EQUAL(2, patient_told(circle, 2)->version);
    CHECK_NEAR(8, (double)circle_float(circle, 2, 49), 0);
    patient_sum(circle, 2, 3);
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
    CHECK_NEAR(6, (double)circle_float(circle, 2, 0), 0);
    circle_destroy(&circle);
}

/* code3: the others have changed the model, and wait at the checkpoint: the
 * one that comes back gets the model of the version that begins. */
static void rb_04_a_loss_after_the_last_collective(void)
{
    struct circle *circle = patient_new(3);

    patient_lazy_all(circle, 7);
    patient_sum_all(circle, 1);
    circle_kill(circle, 2);
    for (unsigned i = 0; i < 2; i++) {
        circle_floats(circle, i, 50, 8);
        memcpy(circle->members[i].model, circle->members[i].in, 200);
        circle_call(circle, i, COLLECTIVE_LAZY);
    }
    circle_run(circle, SECOND);
    circle_start(circle, 2);
    patient_load(circle, 2);
    circle_run(circle, SECOND);
    CHECK_EQUAL(2, patient_told(circle, 0)->version);
    CHECK(circle->members[2].asking); /* until somebody is in a collective */
    patient_sum(circle, 0, 1);
    patient_sum(circle, 1, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(2, patient_told(circle, 2)->version);
    CHECK_NEAR(8, (double)circle_float(circle, 2, 0), 0);
    patient_sum(circle, 2, 1);
    patient_settle(circle);
    patient_check_all(circle, ENDING_SUCCESS);
    circle_destroy(&circle);
}

/* Rank 0 is at the checkpoint already, and its model is the next one's: it is
 * not read for somebody who needs this one's. */
static void rb_04_a_model_is_not_read_while_it_may_change(void)
{
    struct circle *circle = patient_new(3);

    patient_lazy_all(circle, 7);
    circle_kill(circle, 2);
    circle_floats(circle, 0, 50, 8);
    memcpy(circle->members[0].model, circle->members[0].in, 200);
    circle_call(circle, 0, COLLECTIVE_LAZY);
    circle_run(circle, SECOND);
    circle_start(circle, 2);
    patient_load(circle, 2);
    circle_run(circle, SECOND);
    CHECK_EQUAL(0, circle->members[0].served);
    CHECK(circle->members[2].asking);
    circle_floats(circle, 1, 50, 8);
    memcpy(circle->members[1].model, circle->members[1].in, 200);
    circle_call(circle, 1, COLLECTIVE_LAZY);
    circle_run(circle, SECOND);
    patient_sum(circle, 0, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(2, patient_told(circle, 2)->version);
    CHECK_NEAR(8, (double)circle_float(circle, 2, 0), 0);
    circle_destroy(&circle);
}

/* One that has the model and asks for it is not asked itself. */
static void rb_04_who_asks_for_the_model_gets_it_from_another(void)
{
    struct circle *circle = patient_new(2);

    patient_lazy_all(circle, 7);
    patient_load(circle, 0);
    patient_sum(circle, 1, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, patient_told(circle, 0)->outcome);
    CHECK_EQUAL(1, circle->members[1].served);
    CHECK_NEAR(7, (double)circle_float(circle, 0, 0), 0);
    circle_destroy(&circle);
}

static void rb_05_the_version_counts_checkpoints_a_world_of_one(void)
{
    struct circle *circle = patient_new(1);

    for (unsigned version = 1; version < 4; version++) {
        patient_checkpoint_all(circle, 1);
        CHECK_EQUAL(version, patient_told(circle, 0)->version);
    }
    patient_load(circle, 0); /* of a world of one */
    patient_settle(circle);
    CHECK_EQUAL(0, patient_told(circle, 0)->bytes);
    CHECK_EQUAL(0, circle_view(circle).held);
    CHECK_EQUAL(3, patient_told(circle, 0)->version);
    circle_destroy(&circle);
    circle = patient_new(2);
    for (unsigned version = 1; version < 4; version++) {
        patient_checkpoint_all(circle, 1);
        CHECK_EQUAL(version, patient_told(circle, 1)->version);
    }
    circle_destroy(&circle);
}

void add_collectives_rabit_tests(CU_pSuite suite)
{
    TEST(rb_01_load_collectives_checkpoint_and_so_on);
    TEST(rb_02_load_0_touches_nothing_a_restarted_one_has_it_all);
    TEST(rb_03_a_checkpoint_is_one_version_together);
    TEST(rb_04_a_lazy_model_is_read_only_if_somebody_needs_it);
    TEST(rb_04_a_loss_after_the_last_collective);
    TEST(rb_04_a_model_is_not_read_while_it_may_change);
    TEST(rb_04_who_asks_for_the_model_gets_it_from_another);
    TEST(rb_05_the_version_counts_checkpoints_a_world_of_one);
}
