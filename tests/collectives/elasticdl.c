/* ElasticDL's all-reduce design on a hub. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/elastic.h"
#include "tests/collectives/patient.h"

enum { WORKERS = 4, PARAMETERS = 20 };

enum stage { BUILDING, BROADCASTING, AVERAGING };

/* A worker of a job: one number stands for its parameters. */
struct worker {
    double parameters;
    uint64_t epoch; /* in which they were last broadcast */
    enum stage stage;
    unsigned steps, failed;
};

/* What its program does next: builds; where the group is new to it, takes the
 * parameters of the oldest; averages gradients of its place plus one. */
static void go_on(struct virtual_group *group, struct worker *workers,
                  unsigned place)
{
    const struct msg_told *told = virtual_told(group, place);
    struct worker *worker = &workers[place];
    bool done = told->outcome == ENDING_SUCCESS;

    worker->failed += worker->stage == AVERAGING && !done;
    if (worker->stage == BROADCASTING && done && told->bytes)
        worker->parameters = (double)virtual_float(group, place, 0);
    if (worker->stage == AVERAGING && done) {
        worker->parameters -= (double)virtual_float(group, place, 0);
        worker->steps++;
    }
    if (worker->stage == AVERAGING || !done) {
        worker->stage = BUILDING;
        virtual_ask(group, place, ASK_BUILD);
    } else if (worker->stage == BUILDING && worker->epoch != told->epoch) {
        worker->stage = BROADCASTING;
        virtual_floats(group, place, PARAMETERS, worker->parameters);
        virtual_call(group, place, COLLECTIVE_BROADCAST);
    } else {
        worker->stage = AVERAGING;
        worker->epoch = told->epoch;
        elastic_average(group, place);
    }
}

/* Until worker 1 has done so many steps, and with it whoever took part. */
static void work(struct virtual_group *group, struct worker *workers,
                 unsigned steps)
{
    nanos until = group->now + 100 * SECOND;

    while (workers[1].steps < steps && group->now < until) {
        for (unsigned i = 0; i < group->count; i++)
            if (group->members[i].client && !group->members[i].asking)
                go_on(group, workers, i);
        virtual_run(group, 10 * MILLISECOND);
    }
    CHECK_EQUAL(steps, workers[1].steps);
}

static void check_equal_parameters(const struct virtual_group *group,
                                   const struct worker *workers)
{
    for (unsigned i = 0; i < group->count; i++)
        CHECK_NEAR(workers[1].parameters, workers[i].parameters, 0);
}

static void ed_02_a_lost_worker_costs_one_batch_a_new_one_is_like_all(void)
{
    struct virtual_group *group = elastic_started(WORKERS, false);
    struct worker workers[WORKERS] = {{.parameters = 100}};

    for (unsigned i = 0; i < WORKERS; i++) {
        virtual_ask(group, i, ASK_BUILD);
        workers[i].stage = BUILDING;
    }
    work(group, workers, 3);
    check_equal_parameters(group, workers);
    CHECK_NEAR(100 - 3 * 2.5, workers[2].parameters, 1e-5);
    /* The oldest is lost in the middle of a batch: the others fail in it, and
     * only in it. */
    for (unsigned i = 1; i < WORKERS; i++)
        go_on(group, workers, i);
    virtual_run(group, 100 * MILLISECOND);
    for (unsigned i = 1; i < WORKERS; i++)
        go_on(group, workers, i);
    virtual_run(group, 100 * MILLISECOND);
    virtual_kill(group, 0);
    work(group, workers, 5);
    CHECK_EQUAL(1, workers[1].failed);
    CHECK_EQUAL(0, virtual_told(group, 1)->rank);
    CHECK_EQUAL(3, virtual_told(group, 1)->size);
    /* It is started again with nothing, and is like the others after the next
     * collective: its parameters are theirs, not theirs its. */
    virtual_start(group, 0);
    workers[0] = (struct worker){.parameters = -5};
    virtual_ask(group, 0, ASK_BUILD);
    work(group, workers, 9);
    CHECK_EQUAL(4, virtual_told(group, 1)->size);
    CHECK_EQUAL(3, virtual_told(group, 0)->rank);
    check_equal_parameters(group, workers);
    virtual_destroy(&group);
}

/* Worker 1 has no more data; the others learn it at their next collective,
 * finish alone, and all average their parameters a last time. */
static void ed_03_at_the_end_of_data_all_finish_alone_and_average(void)
{
    struct virtual_group *group = elastic_built(3, false);

    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    elastic_average(group, 0);
    virtual_run(group, SECOND);
    virtual_call(group, 1, COLLECTIVE_STOP);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_NO_NEED, virtual_told(group, 0)->outcome);
    elastic_average(group, 2);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_NO_NEED, virtual_told(group, 2)->outcome);
    virtual_call(group, 0, COLLECTIVE_STOP);
    virtual_run(group, SECOND);
    CHECK(group->members[0].asking && group->members[1].asking);
    virtual_call(group, 2, COLLECTIVE_STOP);
    CHECK(virtual_settle(group, SECOND));
    elastic_check_all(group, ENDING_SUCCESS);
    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(2, (double)virtual_float(group, i, 0), 0);
    virtual_destroy(&group);
}

/* A stop whose first caller dies does not keep the others from ending. */
static void ed_03_who_dies_while_stopping_stops_nobody(void)
{
    struct virtual_group *group = elastic_built(3, false);

    virtual_call(group, 1, COLLECTIVE_STOP);
    virtual_call(group, 0, COLLECTIVE_STOP);
    virtual_run(group, SECOND);
    virtual_kill(group, 1);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 0)->outcome);
    virtual_call(group, 0, COLLECTIVE_STOP);
    virtual_call(group, 2, COLLECTIVE_STOP);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 2)->outcome); /* as it was */
    virtual_call(group, 2, COLLECTIVE_STOP);
    CHECK(virtual_settle(group, SECOND));
    elastic_check_all(group, ENDING_SUCCESS);
    virtual_destroy(&group);
}

/* Rabit's gap: "the whole job blocks until the lost one is back". */
static void ed_05_what_cannot_be_recovered_never_blocks(void)
{
    struct virtual_group *group = elastic_built(3, false);
    nanos before;

    elastic_average(group, 0);
    elastic_average(group, 1);
    virtual_run(group, SECOND);
    virtual_kill(group, 2);
    before = group->now;
    CHECK(virtual_settle(group, SECOND));
    CHECK(group->now - before <= 10 * MILLISECOND);
    virtual_destroy(&group);

    group = patient_new(3);
    patient_lazy_all(group, 5);
    virtual_kill(group, 0); /* all that keep the model: it cannot be had */
    virtual_kill(group, 1);
    virtual_kill(group, 2);
    virtual_start(group, 0);
    before = group->now;
    patient_load(group, 0);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK(group->now - before <= SECOND);
    virtual_destroy(&group);
}

/* Rabit's other gap: "fixed size". */
static void ed_05_the_number_of_members_may_change(void)
{
    struct virtual_group *group = elastic_built(2, false);
    const unsigned sizes[] = {2, 3, 4, 3, 2};

    for (unsigned k = 0; k < 5; k++) {
        for (unsigned i = 0; i < 3; i++) /* whoever is new is taken in */
            elastic_average_all(group);
        CHECK_EQUAL(sizes[k], virtual_told(group, 1)->size);
        elastic_check_all(group, ENDING_SUCCESS);
        if (k < 2)
            (void)virtual_newcomer(group);
        else
            virtual_kill(group, k == 2 ? 0 : 3);
        virtual_run(group, SECOND);
    }
    virtual_destroy(&group);
    group = patient_new(3);
    patient_sum_all(group, 1);
    virtual_kill(group, 2);
    patient_sum(group, 0, 1);
    patient_sum(group, 1, 1);
    CHECK(virtual_settle(group, 40 * SECOND));
    CHECK_EQUAL(2, virtual_told(group, 0)->size);
    virtual_destroy(&group);
}

void add_collectives_elasticdl_tests(CU_pSuite suite)
{
    TEST(ed_02_a_lost_worker_costs_one_batch_a_new_one_is_like_all);
    TEST(ed_03_at_the_end_of_data_all_finish_alone_and_average);
    TEST(ed_03_who_dies_while_stopping_stops_nobody);
    TEST(ed_05_what_cannot_be_recovered_never_blocks);
    TEST(ed_05_the_number_of_members_may_change);
}
