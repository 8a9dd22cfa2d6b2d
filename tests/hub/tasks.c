#include "hub/ledger.h"
#include "tests/check.h"
#include "tests/hub/kept_centre.h"
#include "tests/hub/store.h"

static struct store store;

/* A hub with four tasks an epoch. */
static struct hub_fixture *hub_fixture_of(uint64_t epochs)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.tasks = 4;
    f->config.epochs = epochs;
    f->config.task_time = 20 * SECOND;
    return f;
}

static void fake_node_asks(struct hub_fixture *f, struct fake_node *node,
                           uint32_t tasks)
{
    struct msg msg = {.kind = MSG_ROOM};

    msg.room.tasks = tasks;
    hand_say(&f->hand, node->control, &msg, NULL);
}

static void fake_node_reports(struct hub_fixture *f, struct fake_node *node,
                              uint64_t task, bool done)
{
    struct msg msg = {.kind = MSG_REPORT};

    msg.report.task = task;
    msg.report.what = done ? TASK_REPORT_DONE : TASK_REPORT_FAILED;
    hand_say(&f->hand, node->control, &msg, NULL);
}

static void fake_node_claims(struct hub_fixture *f, struct fake_node *node,
                             uint64_t task)
{
    struct msg msg = {.kind = MSG_REPORT};

    msg.report.task = task;
    msg.report.what = TASK_REPORT_HELD;
    hand_say(&f->hand, node->control, &msg, NULL);
}

/* The task it was given last, 0: none yet. */
static uint64_t task_of(struct hub_fixture *f, const struct fake_node *node)
{
    const struct msg *msg = fake_node_heard(f, node, MSG_TASK);

    return msg ? msg->task.task : 0;
}

static uint64_t fake_node_works(struct hub_fixture *f, struct fake_node *node)
{
    uint64_t task;

    fake_node_asks(f, node, 1);
    task = task_of(f, node);
    fake_node_reports(f, node, task, true);
    return task;
}

static void ef_08_who_asks_is_given_a_task(void)
{
    struct hub_fixture *f = hub_fixture_of(0);
    struct fake_node a = fake_node_alone(f);
    const struct msg *msg;

    CHECK_EQUAL(0, task_of(f, &a));
    fake_node_asks(f, &a, 1);
    msg = fake_node_heard(f, &a, MSG_TASK);
    CHECK_EQUAL(0, msg->task.epoch);
    CHECK_EQUAL(4, msg->task.parts);
    CHECK(msg->task.part < 4);
    CHECK_EQUAL(1, hub_fixture_look(f)->tasks_doing);
    fake_node_reports(f, &a, msg->task.task, true);
    CHECK_EQUAL(1, hub_fixture_look(f)->tasks_done);
    hub_fixture_destroy(&f);
}

static void without_tasks_nobody_is_given_one(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_asks(f, &a, 1);
    fake_node_reports(f, &a, 1, true);
    CHECK_EQUAL(0, task_of(f, &a));
    CHECK_EQUAL(0, hub_fixture_look(f)->tasks);
    CHECK(!hub_fixture_node(f, "a")->gone);
    hub_fixture_destroy(&f);
}

/* Its own parameters will be thrown away. */
static void who_has_yet_to_take_the_centre_waits(void)
{
    struct hub_fixture *f = hub_fixture_of(0);
    struct fake_node a = fake_node_alone(f), b;

    b = fake_node_new(f, "b");
    b.hello.lineage = 9;
    fake_node_comes_again(f, &b);
    fake_node_asks(f, &b, 1);
    CHECK_EQUAL(0, task_of(f, &b));
    fake_node_credits(f, &b, 0, 0);
    hand_wait(&f->hand, 300 * MILLISECOND);
    CHECK(task_of(f, &b) != 0);
    fake_node_pings(f, &a, 1);
    hub_fixture_destroy(&f);
}

static void ed_02_a_lost_workers_task_returns_to_the_queue(void)
{
    struct hub_fixture *f = hub_fixture_of(0);
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");
    uint64_t lost;

    fake_node_asks(f, &b, 1);
    lost = task_of(f, &b);
    for (unsigned i = 0; i < 3; i++)
        (void)fake_node_works(f, &a);
    fake_node_asks(f, &a, 1);
    CHECK(lost != task_of(f, &a));
    fake_node_breaks(f, &b);
    fake_node_lives(f, &a, SECOND);
    CHECK(lost != task_of(f, &a));
    fake_node_lives(f, &a, 3 * SECOND);
    CHECK_EQUAL(lost, task_of(f, &a));
    fake_node_comes_again(f, &b);
    fake_node_reports(f, &b, lost, true);
    CHECK_EQUAL(3, hub_fixture_look(f)->tasks_done);
    fake_node_reports(f, &a, lost, true);
    CHECK_EQUAL(1, hub_fixture_look(f)->task_epoch);
    hub_fixture_destroy(&f);
}

/* A node says first what it has of its former session. */
static void ef_08_a_session_that_breaks_costs_a_node_no_task(void)
{
    struct hub_fixture *f = hub_fixture_of(0);
    struct fake_node a = fake_node_alone(f);
    uint64_t task;

    fake_node_asks(f, &a, 2);
    task = task_of(f, &a);
    CHECK_EQUAL(2, hub_fixture_look(f)->tasks_doing);
    fake_node_hello(f, &a);
    CHECK_EQUAL(2, hub_fixture_look(f)->tasks_doing);
    fake_node_claims(f, &a, task);
    fake_node_asks(f, &a, 0);
    CHECK_EQUAL(1, hub_fixture_look(f)->tasks_doing);
    fake_node_reports(f, &a, task, true);
    CHECK_EQUAL(1, hub_fixture_look(f)->tasks_done);
    hub_fixture_destroy(&f);
}

static void ef_08_a_task_that_takes_too_long_goes_to_another_node(void)
{
    struct hub_fixture *f = hub_fixture_of(0);
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");
    uint64_t slow;

    fake_node_asks(f, &a, 1);
    slow = task_of(f, &a);
    fake_node_asks(f, &b, 4);
    for (unsigned i = 0; i < 42; i++) {
        CHECK(slow != task_of(f, &b));
        if (i < 40)
            hand_wait(&f->hand, 490 * MILLISECOND);
        fake_node_pings(f, &a, 1);
        fake_node_pings(f, &b, 1);
    }
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(slow, task_of(f, &b));
    hub_fixture_destroy(&f);
}

static void ef_08_the_run_ends_after_so_many_epochs(void)
{
    struct hub_fixture *f = hub_fixture_of(2);
    struct fake_node a = fake_node_alone(f);

    for (unsigned i = 0; i < 8; i++) {
        CHECK(fake_node_heard(f, &a, MSG_STOP) == NULL);
        CHECK_EQUAL(i / 4, hub_fixture_look(f)->task_epoch);
        (void)fake_node_works(f, &a);
    }
    CHECK_TEXT("2 epochs done", fake_node_heard(f, &a, MSG_STOP)->stop.reason);
    CHECK_EQUAL(8, fake_node_heard_count(f, &a, MSG_TASK));
    fake_node_asks(f, &a, 1);
    CHECK_EQUAL(8, fake_node_heard_count(f, &a, MSG_TASK));
    hub_fixture_destroy(&f);
}

/* Ends an epoch and two tasks with a save, and gives the next hub to the
 * caller. */
static struct hub_fixture *
saved_and_resumed(uint32_t tasks, enum status *status, struct why *why)
{
    struct hub_fixture *f = hub_fixture_of(3);
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    for (unsigned i = 0; i < 6; i++)
        (void)fake_node_works(f, &a);
    fake_node_asks(f, &a, 1);
    fake_node_gives(f, &a, 1, 0.5);
    for (unsigned i = 0; i < 12; i++) {
        hand_wait(&f->hand, SECOND);
        fake_node_pings(f, &a, 1);
    }
    CHECK_EQUAL(1, store.saves);
    hub_fixture_destroy(&f);
    f = hub_fixture_of(3);
    f->config.tasks = tasks;
    hub_fixture_open(f);
    *status = store_restore(&store, f, store.state, why);
    return f;
}

static void ef_08_a_hub_that_resumes_goes_on_with_what_is_done(void)
{
    enum status status;
    struct why why;
    struct hub_fixture *f = saved_and_resumed(4, &status, &why);
    const struct hub_view *view = hub_fixture_look(f);

    CHECK_OK(status);
    CHECK_EQUAL(1, view->task_epoch);
    CHECK_EQUAL(2, view->tasks_done);
    CHECK_EQUAL(0, view->tasks_doing);
    hub_fixture_destroy(&f);
}

/* A hub that was killed in epoch 0, of which it had saved nothing, and its
 * nodes a and b, which say what they have. */
static struct hub_fixture *killed(struct fake_node *a, struct fake_node *b)
{
    static const char state[] =
        "run 7\nepoch 21474836480\nversion 2\nlineage 5\nchunk 4\n"
        "exact 0 0 0\nbest 1 0.5\ntasks 4 0 0\nnode 1 1 1 0 0 a\n"
        "node 1 2 1 0 0 b\n";
    static const float theta[FIXTURE_ELEMENTS];
    struct hub_fixture *f = hub_fixture_of(0);
    struct fake_node *nodes[] = {a, b};
    struct hub_saved saved = {
        .schema = f->schema, .theta = theta, .state = state};
    struct why why;

    hub_fixture_open(f);
    CHECK_OK(hub_restore(f->hub, &saved, &why));
    for (unsigned i = 0; i < 2; i++) {
        *nodes[i] = fake_node_new(f, i ? "b" : "a");
        nodes[i]->hello.node_low = 1 + i;
        nodes[i]->hello.run = 7;
        nodes[i]->hello.lineage = 5;
        fake_node_comes_again(f, nodes[i]);
    }
    CHECK_EQUAL(START_GO, kept_centre_start(f, b));
    return f;
}

static void ef_08_a_hub_that_was_killed_gives_out_what_no_node_has(void)
{
    struct fake_node a = {0}, b = {0};
    struct hub_fixture *f = killed(&a, &b);

    fake_node_asks(f, &b, 4);
    CHECK_EQUAL(0, fake_node_heard_count(f, &b, MSG_TASK));
    fake_node_claims(f, &a, 1);
    fake_node_reports(f, &a, 3, true);
    CHECK_EQUAL(0, fake_node_heard_count(f, &b, MSG_TASK));
    fake_node_asks(f, &a, 0);
    CHECK_EQUAL(2, fake_node_heard_count(f, &b, MSG_TASK));
    CHECK_EQUAL(3, hub_fixture_look(f)->tasks_doing);
    CHECK_EQUAL(1, hub_fixture_look(f)->tasks_done);
    fake_node_reports(f, &a, 1, true);
    CHECK_EQUAL(2, hub_fixture_look(f)->tasks_done);
    hub_fixture_destroy(&f);
}

static void who_says_nothing_is_not_waited_for_long(void)
{
    struct fake_node a = {0}, b = {0};
    struct hub_fixture *f = killed(&a, &b);

    fake_node_asks(f, &b, 4);
    fake_node_lives(f, &b, SECOND);
    CHECK_EQUAL(0, fake_node_heard_count(f, &b, MSG_TASK));
    fake_node_pings(f, &a, 1);
    fake_node_lives(f, &b, 3 * SECOND);
    CHECK_EQUAL(4, fake_node_heard_count(f, &b, MSG_TASK));
    hub_fixture_destroy(&f);
}

static void who_is_lost_is_not_waited_for(void)
{
    struct fake_node a = {0}, b = {0};
    struct hub_fixture *f = killed(&a, &b);

    fake_node_asks(f, &b, 4);
    fake_node_claims(f, &a, 1);
    fake_node_breaks(f, &a);
    CHECK_EQUAL(3, fake_node_heard_count(f, &b, MSG_TASK));
    hub_fixture_destroy(&f);
}

static void another_number_of_tasks_is_refused(void)
{
    enum status status;
    struct why why;
    struct hub_fixture *f = saved_and_resumed(5, &status, &why);

    CHECK_STATUS(STATUS_CONFIG, status);
    CHECK_CONTAINS("the run has 4 tasks: say --tasks 4", why.text);
    CHECK(!hub_fixture_look(f)->founded);
    hub_fixture_destroy(&f);
}

void add_hub_tasks_tests(CU_pSuite suite)
{
    TEST(ef_08_who_asks_is_given_a_task);
    TEST(without_tasks_nobody_is_given_one);
    TEST(who_has_yet_to_take_the_centre_waits);
    TEST(ed_02_a_lost_workers_task_returns_to_the_queue);
    TEST(ef_08_a_session_that_breaks_costs_a_node_no_task);
    TEST(ef_08_a_task_that_takes_too_long_goes_to_another_node);
    TEST(ef_08_the_run_ends_after_so_many_epochs);
    TEST(ef_08_a_hub_that_resumes_goes_on_with_what_is_done);
    TEST(ef_08_a_hub_that_was_killed_gives_out_what_no_node_has);
    TEST(who_says_nothing_is_not_waited_for_long);
    TEST(who_is_lost_is_not_waited_for);
    TEST(another_number_of_tasks_is_refused);
}
