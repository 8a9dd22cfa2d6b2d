/* Rabit's checkpoints on a hub. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/patient.h"

static void rb_01_load_collectives_checkpoint_and_so_on(void)
{
    struct virtual_group *group = patient_new(3);

    for (unsigned i = 0; i < 3; i++)
        patient_load(group, i);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    for (unsigned version = 0; version < 4; version++) {
        CHECK_EQUAL(version, virtual_told(group, 1)->version);
        patient_sum_all(group, version);
        patient_check_all(group, ENDING_SUCCESS);
        CHECK_NEAR(3 * version + 3, (double)virtual_float(group, 2, 0), 0);
        patient_checkpoint_all(group, version);
    }
    virtual_ask_all(group, ASK_LEAVE);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, virtual_view(group).members);
    CHECK_EQUAL(0, virtual_view(group).held);
    virtual_destroy(&group);
}

static void rb_02_load_0_touches_nothing_a_restarted_one_has_it_all(void)
{
    struct virtual_group *group = patient_new(3);

    patient_load(group, 0);
    patient_settle(group);
    CHECK_EQUAL(0, virtual_told(group, 0)->version);
    CHECK_EQUAL(0xee, group->members[0].out[0]); /* untouched */
    patient_checkpoint_all(group, 3);
    patient_checkpoint_all(group, 4);
    virtual_kill(group, 2);
    virtual_run(group, SECOND);
    virtual_start(group, 2);
    patient_load(group, 2);
    patient_settle(group);
    CHECK_EQUAL(2, virtual_told(group, 2)->version);
    CHECK_EQUAL(200, virtual_told(group, 2)->bytes);
    CHECK_NEAR(4, (double)virtual_float(group, 2, 49), 0);
    virtual_destroy(&group);
}

static void rb_03_a_checkpoint_is_one_version_together(void)
{
    struct virtual_group *group = patient_new(3);

    patient_sum_all(group, 1);
    patient_sum_all(group, 2);
    CHECK_EQUAL(2 * 160, virtual_view(group).held); /* the results */
    patient_checkpoint(group, 0, 1);
    patient_checkpoint(group, 1, 1);
    virtual_run(group, SECOND);
    CHECK(group->members[0].asking); /* nobody is a version ahead */
    CHECK_EQUAL(0, virtual_view(group).version);
    patient_checkpoint(group, 2, 1);
    patient_settle(group);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(1, virtual_told(group, i)->version);
    virtual_run(group, SECOND);
    CHECK_EQUAL(200, virtual_view(group).held); /* the model alone */
    patient_sum_all(group, 1);                  /* sequence 0 again */
    patient_check_all(group, ENDING_SUCCESS);
    CHECK_EQUAL(1, virtual_told(group, 0)->version);
    virtual_destroy(&group);
}

/* ---- RB-4, RB-5 ---- */

static void rb_04_a_lazy_model_is_read_only_if_somebody_needs_it(void)
{
    struct virtual_group *group = patient_new(3);

    patient_sum_all(group, 1);
    patient_lazy_all(group, 7);
    patient_sum_all(group, 1);
    patient_lazy_all(group, 8);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, virtual_view(group).held); /* nobody has serialised it */
    patient_sum(group, 0, 1);
    patient_sum(group, 1, 2);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, group->members[0].served + group->members[1].served);
    virtual_kill(group, 2);
    virtual_start(group, 2);
    patient_load(group, 2);
    virtual_run(group, SECOND);
    CHECK_EQUAL(1, group->members[0].served + group->members[1].served);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 2)->outcome);
    CHECK_EQUAL(2, virtual_told(group, 2)->version);
    CHECK_NEAR(8, (double)virtual_float(group, 2, 49), 0);
    patient_sum(group, 2, 3);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    CHECK_NEAR(6, (double)virtual_float(group, 2, 0), 0);
    virtual_destroy(&group);
}

/* code3: the others have changed the model, and wait at the checkpoint: the
 * one that comes back gets the model of the version that begins. */
static void rb_04_a_loss_after_the_last_collective(void)
{
    struct virtual_group *group = patient_new(3);

    patient_lazy_all(group, 7);
    patient_sum_all(group, 1);
    virtual_kill(group, 2);
    for (unsigned i = 0; i < 2; i++) {
        virtual_floats(group, i, 50, 8);
        memcpy(group->members[i].model, group->members[i].in, 200);
        virtual_call(group, i, COLLECTIVE_LAZY);
    }
    virtual_run(group, SECOND);
    virtual_start(group, 2);
    patient_load(group, 2);
    virtual_run(group, SECOND);
    CHECK_EQUAL(2, virtual_told(group, 0)->version);
    CHECK(group->members[2].asking); /* until somebody is in a collective */
    patient_sum(group, 0, 1);
    patient_sum(group, 1, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(2, virtual_told(group, 2)->version);
    CHECK_NEAR(8, (double)virtual_float(group, 2, 0), 0);
    patient_sum(group, 2, 1);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    virtual_destroy(&group);
}

/* Rank 0 is at the checkpoint already, and its model is the next one's: it is
 * not read for somebody who needs this one's. */
static void rb_04_a_model_is_not_read_while_it_may_change(void)
{
    struct virtual_group *group = patient_new(3);

    patient_lazy_all(group, 7);
    virtual_kill(group, 2);
    virtual_floats(group, 0, 50, 8);
    memcpy(group->members[0].model, group->members[0].in, 200);
    virtual_call(group, 0, COLLECTIVE_LAZY);
    virtual_run(group, SECOND);
    virtual_start(group, 2);
    patient_load(group, 2);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, group->members[0].served);
    CHECK(group->members[2].asking);
    virtual_floats(group, 1, 50, 8);
    memcpy(group->members[1].model, group->members[1].in, 200);
    virtual_call(group, 1, COLLECTIVE_LAZY);
    virtual_run(group, SECOND);
    patient_sum(group, 0, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(2, virtual_told(group, 2)->version);
    CHECK_NEAR(8, (double)virtual_float(group, 2, 0), 0);
    virtual_destroy(&group);
}

/* One that has the model and asks for it is not asked itself. */
static void rb_04_who_asks_for_the_model_gets_it_from_another(void)
{
    struct virtual_group *group = patient_new(2);

    patient_lazy_all(group, 7);
    patient_load(group, 0);
    patient_sum(group, 1, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 0)->outcome);
    CHECK_EQUAL(1, group->members[1].served);
    CHECK_NEAR(7, (double)virtual_float(group, 0, 0), 0);
    virtual_destroy(&group);
}

static void rb_05_the_version_counts_checkpoints_a_world_of_one(void)
{
    struct virtual_group *group = patient_new(1);

    for (unsigned version = 1; version < 4; version++) {
        patient_checkpoint_all(group, 1);
        CHECK_EQUAL(version, virtual_told(group, 0)->version);
    }
    patient_load(group, 0); /* of a world of one */
    patient_settle(group);
    CHECK_EQUAL(0, virtual_told(group, 0)->bytes);
    CHECK_EQUAL(0, virtual_view(group).held);
    CHECK_EQUAL(3, virtual_told(group, 0)->version);
    virtual_destroy(&group);
    group = patient_new(2);
    for (unsigned version = 1; version < 4; version++) {
        patient_checkpoint_all(group, 1);
        CHECK_EQUAL(version, virtual_told(group, 1)->version);
    }
    virtual_destroy(&group);
}

/* It would be told to load a checkpoint of a group that it is not for. */
static void who_asks_for_another_number_of_members_is_told_both(void)
{
    struct virtual_group *group = patient_new(2);

    patient_checkpoint_all(group, 1);
    virtual_kill(group, 1);
    group->members[1].config.size = 3;
    virtual_start(group, 1);
    patient_sum(group, 1, 1);
    patient_settle(group);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 1)->outcome);
    CHECK_TEXT("the group was begun with 2 members, this one asks for 3",
               virtual_told(group, 1)->text);
    virtual_destroy(&group);
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
    TEST(who_asks_for_another_number_of_members_is_told_both);
}
