/* Rabit's recovery on a hub: who was lost does its work again. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/patient.h"

static void rb_06_results_are_given_again_bit_for_bit(void)
{
    struct virtual_group *group = patient_new(3);
    unsigned char before[160];

    patient_checkpoint_all(group, 1);
    for (unsigned i = 0; i < 3; i++)
        patient_sum(group, i, 0.1 * (i + 1));
    patient_settle(group);
    memcpy(before, group->members[0].out, sizeof before);
    patient_sum_all(group, 5);
    patient_sum(group, 0, 9);
    patient_sum(group, 2, 9);
    virtual_run(group, SECOND);
    virtual_kill(group, 1);
    virtual_run(group, SECOND);
    virtual_start(group, 1);
    patient_load(group, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(1, virtual_told(group, 1)->version);
    patient_sum(group, 1, 12345); /* what it gives is not asked for */
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 1)->outcome);
    CHECK_EQUAL(0, memcmp(before, group->members[1].out, sizeof before));
    patient_sum(group, 1, 12345);
    virtual_run(group, SECOND);
    CHECK_NEAR(18, (double)virtual_float(group, 1, 0), 0);
    CHECK(group->members[0].asking);
    patient_sum(group, 1, 9); /* where the others wait */
    patient_settle(group);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(27, (double)virtual_float(group, i, 39), 0);
    virtual_destroy(&group);
}

/* Its own contribution was whole when it died: nobody has to wait. */
static void rb_06_what_was_whole_is_not_needed_again(void)
{
    struct virtual_group *group = patient_new(2);

    virtual_floats(group, 0, 30, 1); /* two segments: a window */
    virtual_floats(group, 1, 30, 4);
    virtual_call(group, 1, COLLECTIVE_ALLREDUCE);
    virtual_run(group, SECOND);
    virtual_kill(group, 1);
    virtual_run(group, SECOND);
    virtual_call(group, 0, COLLECTIVE_ALLREDUCE);
    patient_settle(group);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 0)->outcome);
    CHECK_NEAR(2.5, (double)virtual_float(group, 0, 29), 0);
    virtual_destroy(&group);
}

static void rb_07_survivors_wait_in_the_collective(void)
{
    struct virtual_group *group = patient_new(3);

    virtual_kill(group, 1);
    patient_sum(group, 0, 1);
    patient_sum(group, 2, 1);
    virtual_run(group, 20 * SECOND);
    CHECK(group->members[0].asking && group->members[2].asking);
    virtual_start(group, 1);
    patient_sum(group, 1, 1);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    virtual_destroy(&group);
}

static void rb_07_a_mismatch_names_the_call(void)
{
    struct virtual_group *group = patient_new(2);

    patient_sum_all(group, 1);
    patient_sum_all(group, 1);
    virtual_kill(group, 1);
    virtual_start(group, 1);
    patient_sum(group, 1, 1);
    patient_settle(group);
    virtual_floats(group, 1, 7, 1);
    virtual_call(group, 1, COLLECTIVE_BROADCAST);
    patient_settle(group);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 1)->outcome);
    CHECK_TEXT("call 1: broadcast of 28 bytes from rank 0 here, allreduce sum "
               "of 160 bytes f32 at n0",
               virtual_told(group, 1)->text);
    virtual_destroy(&group);
}

static void rb_07_a_checkpoint_of_nothing_is_refused(void)
{
    struct virtual_group *group = patient_new(2);

    virtual_floats(group, 0, 0, 0);
    virtual_call(group, 0, COLLECTIVE_CHECKPOINT);
    patient_settle(group);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK_TEXT("a checkpoint of zero bytes", virtual_told(group, 0)->text);
    virtual_destroy(&group);
}

static void rb_07_too_many_losses_are_an_error_not_a_hang(void)
{
    struct virtual_group *group = patient_new(2);

    patient_lazy_all(group, 5);
    virtual_kill(group, 0);
    virtual_kill(group, 1);
    virtual_run(group, SECOND);
    virtual_start(group, 0);
    patient_load(group, 0);
    patient_settle(group);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK_TEXT("version 1 was kept by its members only, and they are all lost",
               virtual_told(group, 0)->text);
    virtual_destroy(&group);
    /* A model that the hub has is there for whoever comes back. */
    group = patient_new(2);
    patient_checkpoint_all(group, 5);
    virtual_kill(group, 0);
    virtual_kill(group, 1);
    virtual_run(group, SECOND);
    virtual_start_all(group);
    patient_load(group, 0);
    patient_load(group, 1);
    patient_settle(group);
    CHECK_EQUAL(1, virtual_told(group, 1)->version);
    CHECK_NEAR(5, (double)virtual_float(group, 0, 0), 0);
    virtual_destroy(&group);
}

static void rb_08_prepare_runs_only_for_what_cannot_be_replayed(void)
{
    struct virtual_group *group = patient_new(2);

    patient_sum_all(group, 1);
    CHECK_EQUAL(1, group->members[0].prepared);
    CHECK_EQUAL(1, group->members[1].prepared);
    virtual_kill(group, 1);
    virtual_start(group, 1);
    patient_sum(group, 1, 1);
    patient_settle(group);
    CHECK_EQUAL(1, group->members[1].prepared); /* replayed */
    patient_sum_all(group, 1);
    CHECK_EQUAL(2, group->members[1].prepared);
    virtual_destroy(&group);
}

/* ---- lazy models that somebody loads ---- */

/* Two segments: a window, so that who dies has brought all of it. */
static void average(struct virtual_group *group, unsigned place)
{
    virtual_floats(group, place, 30, 1);
    virtual_call(group, place, COLLECTIVE_ALLREDUCE);
}

/* With results that are kept. */
static void fill_the_hub(struct virtual_group *group)
{
    while (virtual_view(group).held < group->config.limit) {
        for (unsigned i = 0; i < group->count; i++) {
            virtual_floats(group, i, VIRTUAL_BYTES / sizeof(float), 1);
            virtual_call(group, i, COLLECTIVE_ALLREDUCE);
        }
        patient_settle(group);
        patient_check_all(group, ENDING_SUCCESS);
    }
}

static void come_back(struct virtual_group *group, unsigned place)
{
    virtual_kill(group, place);
    virtual_run(group, SECOND);
    virtual_start(group, place);
    patient_load(group, place);
}

/* While member 0 brings the model the others go on to the next version, which
 * it is asked for as well. */
static void rb_04_a_model_that_comes_too_late_is_asked_for_anew(void)
{
    struct virtual_group *group = patient_new(3);

    patient_lazy_all(group, 5);
    group->members[0].model_bytes = VIRTUAL_BYTES;
    average(group, 0);
    average(group, 2);
    virtual_run(group, SECOND);
    come_back(group, 2);
    virtual_run(group, 100 * MILLISECOND);
    CHECK_EQUAL(1, group->members[0].served);
    CHECK(group->members[2].asking);
    average(group, 1);
    virtual_run(group, 20 * MILLISECOND);
    virtual_call(group, 0, COLLECTIVE_LAZY);
    virtual_call(group, 1, COLLECTIVE_LAZY);
    virtual_run(group, 20 * MILLISECOND);
    CHECK_EQUAL(2, virtual_view(group).version);
    CHECK(group->members[2].asking);
    average(group, 0);
    average(group, 1);
    virtual_run(group, 10 * SECOND);
    CHECK_EQUAL(2, group->members[0].served);
    CHECK_EQUAL(2, virtual_told(group, 2)->version);
    average(group, 2);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    virtual_destroy(&group);
}

static void rb_04_a_model_without_room_is_refused_each_time(void)
{
    struct virtual_group *group = patient_new(2);

    patient_lazy_all(group, 5);
    fill_the_hub(group);
    virtual_call(group, 0, COLLECTIVE_BARRIER);
    come_back(group, 1);
    for (unsigned i = 0; i < 2; i++) {
        virtual_run(group, SECOND);
        CHECK(!group->members[1].asking);
        CHECK_TEXT("the model is more than the hub keeps",
                   virtual_told(group, 1)->text);
        CHECK_EQUAL(i + 1, group->members[0].served);
        patient_load(group, 1);
    }
    virtual_destroy(&group);
}

static void a_lazy_checkpoint_needs_no_room(void)
{
    struct virtual_group *group = patient_new(2);

    fill_the_hub(group);
    patient_lazy_all(group, 5);
    virtual_run(group, SECOND);
    CHECK_EQUAL(0, virtual_view(group).held);
    virtual_destroy(&group);
}

/* ---- RB-11, and beyond Rabit ---- */

static void rb_11_who_does_not_come_back_in_time_is_given_up(void)
{
    struct virtual_group *group = patient_new(3);
    nanos before;

    patient_sum_all(group, 1);
    virtual_kill(group, 1);
    before = group->now;
    patient_sum(group, 0, 1);
    patient_sum(group, 2, 2);
    CHECK(virtual_settle(group, 40 * SECOND));
    CHECK(group->now - before >= 30 * SECOND);
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 0)->outcome);
    CHECK_TEXT("n1: not back within 30 s; the group goes on without",
               virtual_told(group, 0)->text);
    CHECK_EQUAL(2, virtual_told(group, 2)->size);
    patient_sum(group, 0, 1); /* the same call, among those who are left */
    patient_sum(group, 2, 2);
    patient_settle(group);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 0)->outcome);
    CHECK_NEAR(3, (double)virtual_float(group, 2, 0), 0);
    virtual_destroy(&group);
}

/* One more than a patient group was begun with is told so; it may take the
 * place of one that was given up. */
static void a_stranger_gets_a_place_that_is_free(void)
{
    struct virtual_group *group = patient_new(2);
    unsigned place;

    patient_sum_all(group, 1);
    place = virtual_newcomer(group);
    patient_sum(group, place, 1);
    patient_settle(group);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, place)->outcome);
    CHECK_TEXT("the group is full", virtual_told(group, place)->text);
    virtual_kill(group, 1);
    virtual_run(group, 40 * SECOND);
    virtual_kill(group, place);
    virtual_start(group, place);
    patient_sum(group, place, 9); /* the result that there is */
    patient_settle(group);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, place)->outcome);
    CHECK_NEAR(3, (double)virtual_float(group, place, 0), 0);
    patient_sum(group, place, 9);
    patient_sum(group, 0, 1);
    patient_settle(group);
    CHECK_NEAR(10, (double)virtual_float(group, 0, 0), 0);
    virtual_destroy(&group);
}

/* A hub that was started again has lost what they did: there is no way back,
 * whichever of its connections comes last. */
static void who_is_refused_does_not_sit_down_later(void)
{
    struct virtual_group *group = patient_new(2);
    struct msg msg = {.kind = MSG_JOINED,
                      .joined = {.run = 8, .session = 1, .part_bytes = 64}};
    struct event control = {.kind = EVENT_JOIN, .peer = PEER_CONTROL};
    struct event joined = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};
    struct event bulk = {.kind = EVENT_JOIN, .peer = PEER_BULK};

    patient_sum_all(group, 1);
    virtual_cut(group, 0);
    virtual_run(group, 10 * MILLISECOND);
    group->members[0].connect_at = NEVER;
    virtual_step(group, 0, &control);
    virtual_step(group, 0, &joined);
    virtual_step(group, 0, &bulk);
    patient_sum(group, 0, 1);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK_EQUAL(0, virtual_told(group, 0)->joined);
    CHECK_TEXT("the hub was started again, and has lost the group's results "
               "and checkpoints",
               virtual_told(group, 0)->text);
    virtual_destroy(&group);
}

static void a_lost_connection_is_nobodys_business(void)
{
    struct virtual_group *group = patient_new(3);

    patient_sum_all(group, 1);
    for (unsigned i = 0; i < 3; i++)
        patient_sum(group, i, i);
    virtual_run(group, 2 * MILLISECOND);
    virtual_cut(group, 1);
    patient_settle(group);
    patient_check_all(group, ENDING_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(3, (double)virtual_float(group, i, 0), 0);
    virtual_destroy(&group);
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
    TEST(rb_04_a_model_that_comes_too_late_is_asked_for_anew);
    TEST(rb_04_a_model_without_room_is_refused_each_time);
    TEST(a_lazy_checkpoint_needs_no_room);
    TEST(rb_11_who_does_not_come_back_in_time_is_given_up);
    TEST(a_stranger_gets_a_place_that_is_free);
    TEST(who_is_refused_does_not_sit_down_later);
    TEST(a_lost_connection_is_nobodys_business);
}
