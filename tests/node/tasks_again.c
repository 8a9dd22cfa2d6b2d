/* What a node tells the next session of the tasks that it has, or has done. */
#include "node/tasks.h"
#include "tests/check.h"
#include "tests/node/tasker.h"

static void ef_08_a_new_session_is_told_what_the_node_has(void)
{
    struct node_fixture *f = tasker_new();

    tasker_finishes(f, 5, true);
    tasker_comes_back(f, f->welcome.run, 1, 0);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(5, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_HELD, tasker_report(f)->what);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_ROOM)->room.tasks);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    CHECK_EQUAL(2, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* Task 5 is done with exchange 1. */
static struct node_fixture *node_fixture_with_one_done(void)
{
    struct node_fixture *f = tasker_new();

    tasker_finishes(f, 5, true);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    return f;
}

static void ef_08_a_hub_that_was_killed_is_told_again_what_is_done(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    for (uint64_t life = 2; life < 4; life++) {
        tasker_comes_back(f, f->welcome.run, life, 1);
        CHECK_EQUAL(1, tasker_reports(f));
        CHECK_EQUAL(5, tasker_report(f)->task);
        CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    }
    node_fixture_destroy(&f);
}

/* The centre is back at a version without exchange 1, which is given again. */
static void ef_08_what_the_hub_lost_is_done_once_that_is_given_again(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    for (uint64_t life = 2; life < 4; life++) {
        tasker_comes_back(f, f->welcome.run, life, 0);
        CHECK_EQUAL(1, tasker_reports(f));
        CHECK_EQUAL(TASK_REPORT_HELD, tasker_report(f)->what);
    }
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(1, tasker_reports(f));
    node_fixture_answers(f, 2, VERB_REBASE, 6);
    CHECK_EQUAL(2, tasker_reports(f));
    CHECK_EQUAL(5, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void another_run_has_other_tasks(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    tasker_finishes(f, 6, true);
    tasker_comes_back(f, f->welcome.run + 1, 1, 0);
    CHECK_EQUAL(0, tasker_reports(f));
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    node_fixture_destroy(&f);
}

static void parameters_that_are_replaced_were_done_for_nothing(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 2, VERB_REPLACE, 5);
    node_fixture_applied(f, 2);
    tasker_comes_back(f, f->welcome.run, 2, 2);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_destroy(&f);
}

/* One that does these, and then has all of them merged. */
static void does(struct node_fixture *f, uint64_t first, uint64_t end,
                 uint64_t exchange)
{
    for (uint64_t task = first; task < end; task++) {
        tasker_is_given(f, task);
        tasker_finishes(f, task, true);
        tasker_wants(f);
    }
    node_fixture_offers(f, exchange, 3);
    node_fixture_verdicts(f, exchange, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    hand_forget(&f->hand);
}

/* What a node says to a hub that has all of its exchanges: how often it reports
 * each of the tasks from 1 on as done. */
static void counts(struct node_fixture *f, unsigned tasks, unsigned *told)
{
    struct event event = {.kind = EVENT_MESSAGE, .peer = PEER_CONTROL};
    struct msg msg = {.kind = MSG_WELCOME};
    struct effects said = {0};

    node_fixture_breaks(f);
    node_fixture_connects(f);
    msg.welcome = f->welcome;
    msg.welcome.session++;
    msg.welcome.merged = UINT64_MAX;
    event.now = f->hand.now;
    event.msg = &msg;
    f->hand.machine.step(f->hand.machine.self, &event, &said);
    for (unsigned i = 0; i < said.count; i++) {
        const struct msg_report *report = &said.list[i].msg.report;

        if (said.list[i].kind == EFFECT_SEND &&
            said.list[i].msg.kind == MSG_REPORT &&
            report->what == TASK_REPORT_DONE && report->task <= tasks)
            told[report->task]++;
    }
    effects_free(&said);
}

static void of_more_than_are_remembered_the_newest_are_told(void)
{
    enum { EACH = NODE_MAX_TASKS, TASKS = NODE_DONE_TASKS + EACH };
    unsigned told[TASKS + 1] = {0}, wrong = 0;
    struct node_fixture *f = node_fixture_new();

    f->welcome.tasks = TASKS;
    node_fixture_ready(f, 1);
    tasker_wants(f);
    for (uint64_t i = 0; i < TASKS / EACH; i++)
        does(f, 1 + i * EACH, 1 + (i + 1) * EACH, 1 + i);
    counts(f, TASKS, told);
    for (unsigned i = 0; i <= TASKS; i++)
        wrong += told[i] != (i > EACH);
    CHECK_EQUAL(0, wrong);
    node_fixture_destroy(&f);
}

void add_node_tasks_again_tests(CU_pSuite suite)
{
    TEST(ef_08_a_new_session_is_told_what_the_node_has);
    TEST(ef_08_a_hub_that_was_killed_is_told_again_what_is_done);
    TEST(ef_08_what_the_hub_lost_is_done_once_that_is_given_again);
    TEST(another_run_has_other_tasks);
    TEST(parameters_that_are_replaced_were_done_for_nothing);
    TEST(of_more_than_are_remembered_the_newest_are_told);
}
