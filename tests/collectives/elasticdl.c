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
static void go_on(struct circle *circle, struct worker *workers, unsigned place)
{
    const struct msg_told *told = elastic_told(circle, place);
    struct worker *worker = &workers[place];
    bool done = told->outcome == ENDING_SUCCESS;

    worker->failed += worker->stage == AVERAGING && !done;
    if (worker->stage == BROADCASTING && done && told->bytes)
        worker->parameters = (double)circle_float(circle, place, 0);
    if (worker->stage == AVERAGING && done) {
        worker->parameters -= (double)circle_float(circle, place, 0);
        worker->steps++;
    }
    if (worker->stage == AVERAGING || !done) {
        worker->stage = BUILDING;
        circle_ask(circle, place, ASK_BUILD);
    } else if (worker->stage == BUILDING && worker->epoch != told->epoch) {
        worker->stage = BROADCASTING;
        circle_floats(circle, place, PARAMETERS, worker->parameters);
        circle_call(circle, place, COLLECTIVE_BROADCAST);
    } else {
        worker->stage = AVERAGING;
        worker->epoch = told->epoch;
        elastic_average(circle, place);
    }
}

/* Until worker 1 has done so many steps, and with it whoever took part. */
static void work(struct circle *circle, struct worker *workers, unsigned steps)
{
    nanos until = circle->now + 100 * SECOND;

    while (workers[1].steps < steps && circle->now < until) {
        for (unsigned i = 0; i < circle->count; i++)
            if (circle->members[i].client && !circle->members[i].asking)
                go_on(circle, workers, i);
        circle_run(circle, 10 * MILLISECOND);
    }
    CHECK_EQUAL(steps, workers[1].steps);
}

static void check_equal_parameters(const struct circle *circle,
                                   const struct worker *workers)
{
    for (unsigned i = 0; i < circle->count; i++)
        CHECK_NEAR(workers[1].parameters, workers[i].parameters, 0);
}

static void ed_02_a_lost_worker_costs_one_batch_a_new_one_is_like_all(void)
{
    struct circle *circle = elastic_started(WORKERS, false);
    struct worker workers[WORKERS] = {{.parameters = 100}};

    for (unsigned i = 0; i < WORKERS; i++) {
        circle_ask(circle, i, ASK_BUILD);
        workers[i].stage = BUILDING;
    }
    work(circle, workers, 3);
    check_equal_parameters(circle, workers);
    CHECK_NEAR(100 - 3 * 2.5, workers[2].parameters, 1e-5);
    /* The oldest is lost in the middle of a batch: the others fail in it, and
     * only in it. */
    for (unsigned i = 1; i < WORKERS; i++)
        go_on(circle, workers, i);
    circle_run(circle, 100 * MILLISECOND);
    for (unsigned i = 1; i < WORKERS; i++)
        go_on(circle, workers, i);
    circle_run(circle, 100 * MILLISECOND);
    circle_kill(circle, 0);
    work(circle, workers, 5);
    CHECK_EQUAL(1, workers[1].failed);
    CHECK_EQUAL(0, elastic_told(circle, 1)->rank);
    CHECK_EQUAL(3, elastic_told(circle, 1)->size);
    /* It is started again with nothing, and is like the others after the next
     * collective: its parameters are theirs, not theirs its. */
    circle_start(circle, 0);
    workers[0] = (struct worker){.parameters = -5};
    circle_ask(circle, 0, ASK_BUILD);
    work(circle, workers, 9);
    CHECK_EQUAL(4, elastic_told(circle, 1)->size);
    CHECK_EQUAL(3, elastic_told(circle, 0)->rank);
    check_equal_parameters(circle, workers);
    circle_destroy(&circle);
}

/* Worker 1 has no more data; the others learn it at their next collective,
 * finish alone, and all average their parameters a last time. */
static void ed_03_at_the_end_of_data_all_finish_alone_and_average(void)
{
    struct circle *circle = elastic_built(3, false);

    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    elastic_average(circle, 0);
    circle_run(circle, SECOND);
    circle_call(circle, 1, COLLECTIVE_STOP);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_NO_NEED, elastic_told(circle, 0)->outcome);
    elastic_average(circle, 2);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_NO_NEED, elastic_told(circle, 2)->outcome);
    circle_call(circle, 0, COLLECTIVE_STOP);
    circle_run(circle, SECOND);
    CHECK(circle->members[0].asking && circle->members[1].asking);
    circle_call(circle, 2, COLLECTIVE_STOP);
    CHECK(circle_settle(circle, SECOND));
    elastic_check_all(circle, ENDING_SUCCESS);
    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(2, (double)circle_float(circle, i, 0), 0);
    circle_destroy(&circle);
}

/* A stop whose first caller dies does not keep the others from ending. */
static void ed_03_who_dies_while_stopping_stops_nobody(void)
{
    struct circle *circle = elastic_built(3, false);

    circle_call(circle, 1, COLLECTIVE_STOP);
    circle_call(circle, 0, COLLECTIVE_STOP);
    circle_run(circle, SECOND);
    circle_kill(circle, 1);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, 0)->outcome);
    circle_call(circle, 0, COLLECTIVE_STOP);
    circle_call(circle, 2, COLLECTIVE_STOP);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, 2)->outcome); /* as it was */
    circle_call(circle, 2, COLLECTIVE_STOP);
    CHECK(circle_settle(circle, SECOND));
    elastic_check_all(circle, ENDING_SUCCESS);
    circle_destroy(&circle);
}

/* Rabit's gap: "the whole job blocks until the lost one is back". */
static void ed_05_what_cannot_be_recovered_never_blocks(void)
{
    struct circle *circle = elastic_built(3, false);
    nanos before;

    elastic_average(circle, 0);
    elastic_average(circle, 1);
    circle_run(circle, SECOND);
    circle_kill(circle, 2);
    before = circle->now;
    CHECK(circle_settle(circle, SECOND));
    CHECK(circle->now - before <= 10 * MILLISECOND);
    circle_destroy(&circle);

    circle = patient_new(3);
    patient_lazy_all(circle, 5);
    circle_kill(circle, 0); /* all that keep the model: it cannot be had */
    circle_kill(circle, 1);
    circle_kill(circle, 2);
    circle_start(circle, 0);
    before = circle->now;
    patient_load(circle, 0);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_ABORT, patient_told(circle, 0)->outcome);
    CHECK(circle->now - before <= SECOND);
    circle_destroy(&circle);
}

/* Rabit's other gap: "fixed size". */
static void ed_05_the_number_of_members_may_change(void)
{
    struct circle *circle = elastic_built(2, false);
    const unsigned sizes[] = {2, 3, 4, 3, 2};

    for (unsigned k = 0; k < 5; k++) {
        for (unsigned i = 0; i < 3; i++) /* whoever is new is taken in */
            elastic_average_all(circle);
        CHECK_EQUAL(sizes[k], elastic_told(circle, 1)->size);
        elastic_check_all(circle, ENDING_SUCCESS);
        if (k < 2)
            (void)circle_newcomer(circle);
        else
            circle_kill(circle, k == 2 ? 0 : 3);
        circle_run(circle, SECOND);
    }
    circle_destroy(&circle);
    circle = patient_new(3);
    patient_sum_all(circle, 1);
    circle_kill(circle, 2);
    patient_sum(circle, 0, 1);
    patient_sum(circle, 1, 1);
    CHECK(circle_settle(circle, 40 * SECOND));
    CHECK_EQUAL(2, patient_told(circle, 0)->size);
    circle_destroy(&circle);
}

void add_collectives_elasticdl_tests(CU_pSuite suite)
{
    TEST(ed_02_a_lost_worker_costs_one_batch_a_new_one_is_like_all);
    TEST(ed_03_at_the_end_of_data_all_finish_alone_and_average);
    TEST(ed_03_who_dies_while_stopping_stops_nobody);
    TEST(ed_05_what_cannot_be_recovered_never_blocks);
    TEST(ed_05_the_number_of_members_may_change);
}
