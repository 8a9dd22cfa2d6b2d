#include "node/tasks.h"

#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void trainer_wants(struct node_fixture *f)
{
    const struct msg msg = {.kind = MSG_LOCAL_ROOM};

    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

static void trainer_finishes(struct node_fixture *f, uint64_t task, bool done)
{
    struct msg msg = {.kind = MSG_LOCAL_REPORT};

    msg.local_report.task = task;
    msg.local_report.done = done;
    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

static void hub_gives(struct node_fixture *f, uint64_t task)
{
    struct msg msg = {.kind = MSG_TASK};

    msg.task.task = task;
    msg.task.part = 3;
    msg.task.parts = 8;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

static unsigned reports(const struct node_fixture *f)
{
    return hand_count(&f->hand, PEER_CONTROL, MSG_REPORT);
}

static const struct msg_report *report(const struct node_fixture *f)
{
    return &node_fixture_sent(f, MSG_REPORT)->report;
}

/* A member whose trainer works on task 5. */
static struct node_fixture *node_fixture_at_work(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.tasks = 8;
    node_fixture_ready(f, 1);
    trainer_wants(f);
    hub_gives(f, 5);
    trainer_wants(f);
    return f;
}

static void a_task_is_asked_for_and_handed_over(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct msg_local_task *assign;

    node_fixture_ready(f, 1);
    CHECK(!node_fixture_sent(f, MSG_ROOM));
    trainer_wants(f);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_ROOM)->room.tasks);
    hub_gives(f, 5);
    assign = &node_fixture_told(f, MSG_LOCAL_TASK)->local_task;
    CHECK_EQUAL(5, assign->task);
    CHECK_EQUAL(3, assign->part);
    CHECK_EQUAL(8, assign->parts);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    trainer_wants(f);
    CHECK_EQUAL(2, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    node_fixture_destroy(&f);
}

static void what_was_wanted_without_a_hub_is_asked_for_later(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    trainer_wants(f);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_HOLD);
    hand_wait(&f->hand, SECOND);
    CHECK(!node_fixture_sent(f, MSG_ROOM));
    node_fixture_restarts(f, START_GO);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    node_fixture_destroy(&f);
}

static void ef_08_a_task_is_done_when_its_progress_is_merged(void)
{
    struct node_fixture *f = node_fixture_at_work();

    node_fixture_offers(f, 1, 3);
    trainer_finishes(f, 5, true);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    CHECK_EQUAL(0, reports(f));
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(0, reports(f));
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS - 1, VERDICT_MERGED);
    CHECK_EQUAL(0, reports(f));
    node_fixture_verdicts(f, 2, FIXTURE_CHUNKS - 1, 1, VERDICT_MERGED);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(5, report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    node_fixture_destroy(&f);
}

static void what_was_not_merged_is_in_the_next_offer(void)
{
    struct node_fixture *f = node_fixture_at_work();

    trainer_finishes(f, 5, true);
    node_fixture_offers(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, 1, VERDICT_EXPIRED);
    node_fixture_verdicts(f, 1, 1, 2, VERDICT_MERGED);
    CHECK_EQUAL(0, reports(f));
    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 2, VERB_REBASE, 5);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    node_fixture_destroy(&f);
}

/* Exchange 1 holds a part of the task's progress, exchange 2 the rest. */
static void an_older_offer_must_be_merged_as_well(void)
{
    struct node_fixture *f = node_fixture_at_work();

    node_fixture_offers(f, 1, 3);
    trainer_finishes(f, 5, true);
    node_fixture_offers(f, 2, 4);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(0, reports(f));
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_EXPIRED);
    CHECK_EQUAL(0, reports(f));
    node_fixture_offers(f, 3, 5);
    CHECK_EQUAL(0, reports(f));
    node_fixture_answers(f, 3, VERB_REBASE, 5);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    node_fixture_destroy(&f);
}

static void a_lost_gradient_spoils_its_task(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    trainer_wants(f);
    hub_gives(f, 5);
    trainer_wants(f);
    hub_gives(f, 6);
    node_fixture_offers(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_EXPIRED);
    CHECK_EQUAL(0, reports(f));
    trainer_finishes(f, 5, true);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(5, report(f)->task);
    CHECK_EQUAL(TASK_REPORT_FAILED, report(f)->what);
    trainer_wants(f);
    trainer_finishes(f, 6, true);
    node_fixture_offers(f, 2, 3);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(6, report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    node_fixture_destroy(&f);
}

static void a_task_that_is_given_up_is_reported_at_once(void)
{
    struct node_fixture *f = node_fixture_at_work();

    trainer_finishes(f, 5, false);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, report(f)->what);
    trainer_finishes(f, 5, true);
    trainer_finishes(f, 77, true);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    CHECK_EQUAL(1, reports(f));
    node_fixture_destroy(&f);
}

static void progress_that_is_thrown_away_gives_tasks_back(void)
{
    struct node_fixture *f = node_fixture_at_work();

    node_fixture_restarts(f, START_TAKE);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, report(f)->what);
    trainer_finishes(f, 5, true);
    CHECK_EQUAL(1, reports(f));
    node_fixture_destroy(&f);
}

static void parameters_that_are_replaced_give_tasks_back(void)
{
    struct node_fixture *f = node_fixture_at_work();

    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REPLACE, 5);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, report(f)->what);
    node_fixture_destroy(&f);
}

/* Comes back after a break; the hub has merged its exchanges up to `merged`. */
static void comes_back(struct node_fixture *f, uint64_t run, uint64_t life,
                       uint64_t merged)
{
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    node_fixture_connects(f);
    f->welcome.run = run;
    f->welcome.epoch = life << 32;
    f->welcome.merged = merged;
    node_fixture_welcomes(f, START_GO);
}

static void ef_08_a_new_session_is_told_what_the_node_has(void)
{
    struct node_fixture *f = node_fixture_at_work();

    trainer_finishes(f, 5, true);
    comes_back(f, f->welcome.run, 1, 0);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(5, report(f)->task);
    CHECK_EQUAL(TASK_REPORT_HELD, report(f)->what);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_ROOM)->room.tasks);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    CHECK_EQUAL(2, reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    node_fixture_destroy(&f);
}

/* Task 5 is done with exchange 1. */
static struct node_fixture *node_fixture_with_one_done(void)
{
    struct node_fixture *f = node_fixture_at_work();

    trainer_finishes(f, 5, true);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    return f;
}

static void ef_08_a_hub_that_was_killed_is_told_again_what_is_done(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    for (uint64_t life = 2; life < 4; life++) {
        comes_back(f, f->welcome.run, life, 1);
        CHECK_EQUAL(1, reports(f));
        CHECK_EQUAL(5, report(f)->task);
        CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    }
    node_fixture_destroy(&f);
}

/* The centre is back at a version without exchange 1, which is given again. */
static void ef_08_what_the_hub_lost_is_done_once_that_is_given_again(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    comes_back(f, f->welcome.run, 2, 0);
    CHECK_EQUAL(1, reports(f));
    CHECK_EQUAL(TASK_REPORT_HELD, report(f)->what);
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(1, reports(f));
    node_fixture_answers(f, 2, VERB_REBASE, 6);
    CHECK_EQUAL(2, reports(f));
    CHECK_EQUAL(5, report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, report(f)->what);
    node_fixture_destroy(&f);
}

static void another_run_has_other_tasks(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    trainer_finishes(f, 6, true);
    comes_back(f, f->welcome.run + 1, 1, 0);
    CHECK_EQUAL(0, reports(f));
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    node_fixture_destroy(&f);
}

static void parameters_that_are_replaced_were_done_for_nothing(void)
{
    struct node_fixture *f = node_fixture_with_one_done();

    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 2, VERB_REPLACE, 5);
    node_fixture_applied(f, 2);
    comes_back(f, f->welcome.run, 2, 2);
    CHECK_EQUAL(0, reports(f));
    node_fixture_destroy(&f);
}

static void the_last_offer_reports_before_the_goodbye(void)
{
    struct node_fixture *f = node_fixture_at_work();
    unsigned at_report = 0, at_bye = 0;

    trainer_finishes(f, 5, true);
    node_fixture_leaves(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    for (unsigned i = 0; i < f->hand.sent_count; i++) {
        if (f->hand.sent[i].msg.kind == MSG_REPORT)
            at_report = i;
        if (f->hand.sent[i].msg.kind == MSG_BYE)
            at_bye = i;
    }
    CHECK_EQUAL(1, reports(f));
    CHECK(at_report < at_bye);
    node_fixture_destroy(&f);
}

static void no_more_are_held_than_there_is_room_for(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    for (uint64_t i = 1; i <= NODE_MAX_TASKS; i++) {
        trainer_wants(f);
        hub_gives(f, i);
        trainer_finishes(f, i, true);
    }
    hand_forget(&f->hand);
    trainer_wants(f);
    hand_wait(&f->hand, SECOND);
    CHECK(!node_fixture_sent(f, MSG_ROOM));
    hub_gives(f, 100);
    CHECK_EQUAL(100, report(f)->task);
    CHECK_EQUAL(TASK_REPORT_FAILED, report(f)->what);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    CHECK_EQUAL(1 + NODE_MAX_TASKS, reports(f));
    hand_wait(&f->hand, SECOND);
    CHECK(node_fixture_sent(f, MSG_ROOM) != NULL);
    node_fixture_destroy(&f);
}

static void a_task_that_cannot_be_is_given_back(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg msg = {.kind = MSG_TASK};

    node_fixture_ready(f, 1);
    hub_gives(f, 9);
    CHECK_EQUAL(1, reports(f));
    trainer_wants(f);
    msg.task.task = 10;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
    CHECK_EQUAL(2, reports(f));
    CHECK(!node_fixture_told(f, MSG_LOCAL_TASK));
    node_fixture_destroy(&f);
}

void add_node_tasks_tests(CU_pSuite suite)
{
    TEST(a_task_is_asked_for_and_handed_over);
    TEST(what_was_wanted_without_a_hub_is_asked_for_later);
    TEST(ef_08_a_task_is_done_when_its_progress_is_merged);
    TEST(what_was_not_merged_is_in_the_next_offer);
    TEST(an_older_offer_must_be_merged_as_well);
    TEST(a_lost_gradient_spoils_its_task);
    TEST(a_task_that_is_given_up_is_reported_at_once);
    TEST(progress_that_is_thrown_away_gives_tasks_back);
    TEST(parameters_that_are_replaced_give_tasks_back);
    TEST(ef_08_a_new_session_is_told_what_the_node_has);
    TEST(ef_08_a_hub_that_was_killed_is_told_again_what_is_done);
    TEST(ef_08_what_the_hub_lost_is_done_once_that_is_given_again);
    TEST(another_run_has_other_tasks);
    TEST(parameters_that_are_replaced_were_done_for_nothing);
    TEST(the_last_offer_reports_before_the_goodbye);
    TEST(no_more_are_held_than_there_is_room_for);
    TEST(a_task_that_cannot_be_is_given_back);
}
