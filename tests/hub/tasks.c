#include "hub/ledger.h"
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

/* A hub with four tasks an epoch. */
static struct bench *bench_of(uint64_t epochs)
{
    struct bench *bench = bench_new();

    bench->config.tasks = 4;
    bench->config.epochs = epochs;
    bench->config.task_time = 20 * SECOND;
    return bench;
}

static void guest_asks(struct bench *bench, struct guest *guest, uint32_t tasks)
{
    struct msg msg = {.kind = MSG_ROOM};

    msg.room.tasks = tasks;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

static void guest_reports(struct bench *bench, struct guest *guest,
                          uint64_t task, bool done)
{
    struct msg msg = {.kind = MSG_REPORT};

    msg.report.task = task;
    msg.report.done = done;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

/* The task it was given last, 0: none yet. */
static uint64_t task_of(struct bench *bench, const struct guest *guest)
{
    const struct msg *msg = guest_heard(bench, guest, MSG_TASK);

    return msg ? msg->task.task : 0;
}

static uint64_t guest_works(struct bench *bench, struct guest *guest)
{
    uint64_t task;

    guest_asks(bench, guest, 1);
    task = task_of(bench, guest);
    guest_reports(bench, guest, task, true);
    return task;
}

static void ef_08_who_asks_is_given_a_task(void)
{
    struct bench *bench = bench_of(0);
    struct guest a = guest_alone(bench);
    const struct msg *msg;

    CHECK_EQUAL(0, task_of(bench, &a));
    guest_asks(bench, &a, 1);
    msg = guest_heard(bench, &a, MSG_TASK);
    CHECK_EQUAL(0, msg->task.epoch);
    CHECK_EQUAL(4, msg->task.parts);
    CHECK(msg->task.part < 4);
    CHECK_EQUAL(1, bench_look(bench)->tasks_doing);
    guest_reports(bench, &a, msg->task.task, true);
    CHECK_EQUAL(1, bench_look(bench)->tasks_done);
    bench_destroy(&bench);
}

static void without_tasks_nobody_is_given_one(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_asks(bench, &a, 1);
    guest_reports(bench, &a, 1, true);
    CHECK_EQUAL(0, task_of(bench, &a));
    CHECK_EQUAL(0, bench_look(bench)->tasks);
    CHECK(!bench_node(bench, "a")->gone);
    bench_destroy(&bench);
}

/* Its own parameters will be thrown away. */
static void who_has_yet_to_take_the_centre_waits(void)
{
    struct bench *bench = bench_of(0);
    struct guest a = guest_alone(bench), b;

    b = guest_new(bench, "b");
    b.hello.lineage = 9;
    guest_comes_again(bench, &b);
    guest_asks(bench, &b, 1);
    CHECK_EQUAL(0, task_of(bench, &b));
    guest_credits(bench, &b, 0, 0);
    hand_wait(&bench->hand, 300 * MILLISECOND);
    CHECK(task_of(bench, &b) != 0);
    guest_pings(bench, &a, 1);
    bench_destroy(&bench);
}

static void ed_02_a_lost_workers_task_returns_to_the_queue(void)
{
    struct bench *bench = bench_of(0);
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");
    uint64_t lost;

    guest_asks(bench, &b, 1);
    lost = task_of(bench, &b);
    for (unsigned i = 0; i < 3; i++)
        (void)guest_works(bench, &a);
    guest_asks(bench, &a, 1);
    CHECK(lost != task_of(bench, &a));
    guest_breaks(bench, &b);
    CHECK_EQUAL(lost, task_of(bench, &a));
    guest_comes_again(bench, &b);
    guest_reports(bench, &b, lost, true);
    CHECK_EQUAL(3, bench_look(bench)->tasks_done);
    guest_reports(bench, &a, lost, true);
    CHECK_EQUAL(1, bench_look(bench)->task_epoch);
    bench_destroy(&bench);
}

static void ef_08_a_new_session_of_a_node_begins_without_tasks(void)
{
    struct bench *bench = bench_of(0);
    struct guest a = guest_alone(bench);

    guest_asks(bench, &a, 1);
    CHECK_EQUAL(1, bench_look(bench)->tasks_doing);
    guest_hello(bench, &a);
    CHECK_EQUAL(0, bench_look(bench)->tasks_doing);
    bench_destroy(&bench);
}

static void ef_08_a_task_that_takes_too_long_goes_to_another_node(void)
{
    struct bench *bench = bench_of(0);
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");
    uint64_t slow;

    guest_asks(bench, &a, 1);
    slow = task_of(bench, &a);
    guest_asks(bench, &b, 4);
    for (unsigned i = 0; i < 42; i++) {
        CHECK(slow != task_of(bench, &b));
        if (i < 40)
            hand_wait(&bench->hand, 490 * MILLISECOND);
        guest_pings(bench, &a, 1);
        guest_pings(bench, &b, 1);
    }
    hand_wait(&bench->hand, SECOND);
    CHECK_EQUAL(slow, task_of(bench, &b));
    bench_destroy(&bench);
}

static void ef_08_the_run_ends_after_so_many_epochs(void)
{
    struct bench *bench = bench_of(2);
    struct guest a = guest_alone(bench);

    for (unsigned i = 0; i < 8; i++) {
        CHECK(guest_heard(bench, &a, MSG_STOP) == NULL);
        CHECK_EQUAL(i / 4, bench_look(bench)->task_epoch);
        (void)guest_works(bench, &a);
    }
    CHECK_TEXT("2 epochs done", guest_heard(bench, &a, MSG_STOP)->stop.reason);
    CHECK_EQUAL(8, guest_heard_count(bench, &a, MSG_TASK));
    guest_asks(bench, &a, 1);
    CHECK_EQUAL(8, guest_heard_count(bench, &a, MSG_TASK));
    bench_destroy(&bench);
}

/* Ends an epoch and two tasks with a save, and gives the next hub to the
 * caller. */
static struct bench *saved_and_resumed(uint32_t tasks, enum status *status,
                                       struct why *why)
{
    struct bench *bench = bench_of(3);
    struct hub_saved saved = {.theta = store.theta, .state = store.state};
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    for (unsigned i = 0; i < 6; i++)
        (void)guest_works(bench, &a);
    guest_asks(bench, &a, 1);
    guest_gives(bench, &a, 1, 0.5);
    for (unsigned i = 0; i < 12; i++) {
        hand_wait(&bench->hand, SECOND);
        guest_pings(bench, &a, 1);
    }
    CHECK_EQUAL(1, store.saves);
    bench_destroy(&bench);
    bench = bench_of(3);
    bench->config.tasks = tasks;
    bench_open(bench);
    saved.schema = bench->schema;
    *status = hub_restore(bench->hub, &saved, why);
    return bench;
}

static void ef_08_a_hub_that_resumes_goes_on_with_what_is_done(void)
{
    enum status status;
    struct why why;
    struct bench *bench = saved_and_resumed(4, &status, &why);
    const struct hub_view *view = bench_look(bench);

    CHECK_OK(status);
    CHECK_EQUAL(1, view->task_epoch);
    CHECK_EQUAL(2, view->tasks_done);
    CHECK_EQUAL(0, view->tasks_doing);
    bench_destroy(&bench);
}

static void another_number_of_tasks_is_refused(void)
{
    enum status status;
    struct why why;
    struct bench *bench = saved_and_resumed(5, &status, &why);

    CHECK_STATUS(STATUS_CONFIG, status);
    CHECK_CONTAINS("--tasks 5", why.text);
    CHECK(!bench_look(bench)->founded);
    bench_destroy(&bench);
}

void add_hub_tasks_tests(CU_pSuite suite)
{
    TEST(ef_08_who_asks_is_given_a_task);
    TEST(without_tasks_nobody_is_given_one);
    TEST(who_has_yet_to_take_the_centre_waits);
    TEST(ed_02_a_lost_workers_task_returns_to_the_queue);
    TEST(ef_08_a_new_session_of_a_node_begins_without_tasks);
    TEST(ef_08_a_task_that_takes_too_long_goes_to_another_node);
    TEST(ef_08_the_run_ends_after_so_many_epochs);
    TEST(ef_08_a_hub_that_resumes_goes_on_with_what_is_done);
    TEST(another_number_of_tasks_is_refused);
}
