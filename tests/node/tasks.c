#include "node/tasks.h"

#include "tests/check.h"
#include "tests/node/desk.h"

static void trainer_wants(struct desk *desk)
{
    const struct msg msg = {.kind = MSG_IDLE};

    hand_say(&desk->hand, PEER_TRAINER, &msg, NULL);
}

static void trainer_finishes(struct desk *desk, uint64_t task, bool done)
{
    struct msg msg = {.kind = MSG_FINISH};

    msg.finish.task = task;
    msg.finish.done = done;
    hand_say(&desk->hand, PEER_TRAINER, &msg, NULL);
}

static void hub_gives(struct desk *desk, uint64_t task)
{
    struct msg msg = {.kind = MSG_TASK};

    msg.task.task = task;
    msg.task.part = 3;
    msg.task.parts = 8;
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

static unsigned reports(const struct desk *desk)
{
    return hand_count(&desk->hand, PEER_CONTROL, MSG_REPORT);
}

static const struct msg_report *report(const struct desk *desk)
{
    return &desk_sent(desk, MSG_REPORT)->report;
}

/* A member whose trainer works on task 5. */
static struct desk *desk_at_work(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    trainer_wants(desk);
    hub_gives(desk, 5);
    trainer_wants(desk);
    return desk;
}

static void a_task_is_asked_for_and_handed_over(void)
{
    struct desk *desk = desk_new();
    const struct msg_assign *assign;

    desk_ready(desk, 1);
    CHECK(!desk_sent(desk, MSG_ROOM));
    trainer_wants(desk);
    CHECK_EQUAL(1, desk_sent(desk, MSG_ROOM)->room.tasks);
    hub_gives(desk, 5);
    assign = &desk_told(desk, MSG_ASSIGN)->assign;
    CHECK_EQUAL(5, assign->task);
    CHECK_EQUAL(3, assign->part);
    CHECK_EQUAL(8, assign->parts);
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_CONTROL, MSG_ROOM));
    trainer_wants(desk);
    CHECK_EQUAL(2, hand_count(&desk->hand, PEER_CONTROL, MSG_ROOM));
    desk_destroy(&desk);
}

static void what_was_wanted_without_a_hub_is_asked_for_later(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    trainer_wants(desk);
    desk_connects(desk);
    desk_welcomes(desk, START_HOLD);
    hand_wait(&desk->hand, SECOND);
    CHECK(!desk_sent(desk, MSG_ROOM));
    desk_restarts(desk, START_GO);
    hand_wait(&desk->hand, SECOND);
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_CONTROL, MSG_ROOM));
    desk_destroy(&desk);
}

static void ef_08_a_task_is_done_when_its_progress_is_merged(void)
{
    struct desk *desk = desk_at_work();

    desk_offers(desk, 1, 3);
    trainer_finishes(desk, 5, true);
    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_applied(desk, 1);
    CHECK_EQUAL(0, reports(desk));
    desk_offers(desk, 2, 4);
    CHECK_EQUAL(0, reports(desk));
    desk_judges(desk, 2, 0, DESK_CHUNKS - 1, VERDICT_MERGED);
    CHECK_EQUAL(0, reports(desk));
    desk_judges(desk, 2, DESK_CHUNKS - 1, 1, VERDICT_MERGED);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(5, report(desk)->task);
    CHECK_EQUAL(1, report(desk)->done);
    desk_destroy(&desk);
}

static void what_was_not_merged_is_in_the_next_offer(void)
{
    struct desk *desk = desk_at_work();

    trainer_finishes(desk, 5, true);
    desk_offers(desk, 1, 3);
    desk_judges(desk, 1, 0, 1, VERDICT_EXPIRED);
    desk_judges(desk, 1, 1, 2, VERDICT_MERGED);
    CHECK_EQUAL(0, reports(desk));
    desk_offers(desk, 2, 4);
    desk_answers(desk, 2, VERB_REBASE, 5);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(1, report(desk)->done);
    desk_destroy(&desk);
}

/* Exchange 1 holds a part of the task's progress, exchange 2 the rest. */
static void an_older_offer_must_be_merged_as_well(void)
{
    struct desk *desk = desk_at_work();

    desk_offers(desk, 1, 3);
    trainer_finishes(desk, 5, true);
    desk_offers(desk, 2, 4);
    desk_judges(desk, 2, 0, DESK_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(0, reports(desk));
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_EXPIRED);
    CHECK_EQUAL(0, reports(desk));
    desk_offers(desk, 3, 5);
    CHECK_EQUAL(0, reports(desk));
    desk_answers(desk, 3, VERB_REBASE, 5);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(1, report(desk)->done);
    desk_destroy(&desk);
}

static void a_lost_gradient_spoils_its_task(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_GRADIENT;
    desk_ready(desk, 1);
    trainer_wants(desk);
    hub_gives(desk, 5);
    trainer_wants(desk);
    hub_gives(desk, 6);
    desk_offers(desk, 1, 3);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_EXPIRED);
    CHECK_EQUAL(0, reports(desk));
    trainer_finishes(desk, 5, true);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(5, report(desk)->task);
    CHECK_EQUAL(0, report(desk)->done);
    trainer_wants(desk);
    trainer_finishes(desk, 6, true);
    desk_offers(desk, 2, 3);
    desk_judges(desk, 2, 0, DESK_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(6, report(desk)->task);
    CHECK_EQUAL(1, report(desk)->done);
    desk_destroy(&desk);
}

static void a_task_that_is_given_up_is_reported_at_once(void)
{
    struct desk *desk = desk_at_work();

    trainer_finishes(desk, 5, false);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(0, report(desk)->done);
    trainer_finishes(desk, 5, true);
    trainer_finishes(desk, 77, true);
    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REBASE, 5);
    CHECK_EQUAL(1, reports(desk));
    desk_destroy(&desk);
}

static void progress_that_is_thrown_away_gives_tasks_back(void)
{
    struct desk *desk = desk_at_work();

    desk_restarts(desk, START_TAKE);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(0, report(desk)->done);
    trainer_finishes(desk, 5, true);
    CHECK_EQUAL(1, reports(desk));
    desk_destroy(&desk);
}

static void parameters_that_are_replaced_give_tasks_back(void)
{
    struct desk *desk = desk_at_work();

    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REPLACE, 5);
    CHECK_EQUAL(1, reports(desk));
    CHECK_EQUAL(0, report(desk)->done);
    desk_destroy(&desk);
}

static void a_new_session_begins_without_tasks(void)
{
    struct desk *desk = desk_at_work();

    trainer_finishes(desk, 5, true);
    desk_breaks(desk);
    desk_connects(desk);
    desk_welcomes(desk, START_GO);
    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REBASE, 5);
    CHECK_EQUAL(0, reports(desk));
    hand_wait(&desk->hand, SECOND);
    CHECK_EQUAL(3, hand_count(&desk->hand, PEER_CONTROL, MSG_ROOM));
    desk_destroy(&desk);
}

static void the_last_offer_reports_before_the_goodbye(void)
{
    struct desk *desk = desk_at_work();
    unsigned at_report = 0, at_bye = 0;

    trainer_finishes(desk, 5, true);
    desk_leaves(desk, 1, 3);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_MERGED);
    for (unsigned i = 0; i < desk->hand.sent_count; i++) {
        if (desk->hand.sent[i].msg.kind == MSG_REPORT)
            at_report = i;
        if (desk->hand.sent[i].msg.kind == MSG_BYE)
            at_bye = i;
    }
    CHECK_EQUAL(1, reports(desk));
    CHECK(at_report < at_bye);
    desk_destroy(&desk);
}

static void no_more_are_held_than_there_is_room_for(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    for (uint64_t i = 1; i <= NODE_MAX_TASKS; i++) {
        trainer_wants(desk);
        hub_gives(desk, i);
        trainer_finishes(desk, i, true);
    }
    hand_forget(&desk->hand);
    trainer_wants(desk);
    hand_wait(&desk->hand, SECOND);
    CHECK(!desk_sent(desk, MSG_ROOM));
    hub_gives(desk, 100);
    CHECK_EQUAL(100, report(desk)->task);
    CHECK_EQUAL(0, report(desk)->done);
    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REBASE, 5);
    CHECK_EQUAL(1 + NODE_MAX_TASKS, reports(desk));
    hand_wait(&desk->hand, SECOND);
    CHECK(desk_sent(desk, MSG_ROOM) != NULL);
    desk_destroy(&desk);
}

static void a_task_that_cannot_be_is_given_back(void)
{
    struct desk *desk = desk_new();
    struct msg msg = {.kind = MSG_TASK};

    desk_ready(desk, 1);
    hub_gives(desk, 9);
    CHECK_EQUAL(1, reports(desk));
    trainer_wants(desk);
    msg.task.task = 10;
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
    CHECK_EQUAL(2, reports(desk));
    CHECK(!desk_told(desk, MSG_ASSIGN));
    desk_destroy(&desk);
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
    TEST(a_new_session_begins_without_tasks);
    TEST(the_last_offer_reports_before_the_goodbye);
    TEST(no_more_are_held_than_there_is_room_for);
    TEST(a_task_that_cannot_be_is_given_back);
}
