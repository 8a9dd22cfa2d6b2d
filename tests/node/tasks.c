#include "node/tasks.h"

#include "core/fragment.h"
#include "tests/check.h"
#include "tests/node/tasker.h"

static void a_task_is_asked_for_and_handed_over(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct msg_local_task *assign;

    node_fixture_ready(f, 1);
    CHECK(!node_fixture_sent(f, MSG_ROOM));
    tasker_wants(f);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_ROOM)->room.tasks);
    tasker_is_given(f, 5);
    assign = &node_fixture_told(f, MSG_LOCAL_TASK)->local_task;
    CHECK_EQUAL(5, assign->task);
    CHECK_EQUAL(3, assign->part);
    CHECK_EQUAL(8, assign->parts);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    tasker_wants(f);
    CHECK_EQUAL(2, hand_count(&f->hand, PEER_CONTROL, MSG_ROOM));
    node_fixture_destroy(&f);
}

static void what_was_wanted_without_a_hub_is_asked_for_later(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    tasker_wants(f);
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
    struct node_fixture *f = tasker_new();

    node_fixture_offers(f, 1, 3);
    tasker_finishes(f, 5, true);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS - 1, VERDICT_MERGED);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_verdicts(f, 2, FIXTURE_CHUNKS - 1, 1, VERDICT_MERGED);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(5, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void what_was_not_merged_is_in_the_next_offer(void)
{
    struct node_fixture *f = tasker_new();

    tasker_finishes(f, 5, true);
    node_fixture_offers(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, 1, VERDICT_EXPIRED);
    node_fixture_verdicts(f, 1, 1, 2, VERDICT_MERGED);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 2, VERB_REBASE, 5);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* Exchange 1 holds a part of the task's progress, exchange 2 the rest. */
static void an_older_offer_must_be_merged_as_well(void)
{
    struct node_fixture *f = tasker_new();

    node_fixture_offers(f, 1, 3);
    tasker_finishes(f, 5, true);
    node_fixture_offers(f, 2, 4);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_EXPIRED);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_offers(f, 3, 5);
    CHECK_EQUAL(0, tasker_reports(f));
    node_fixture_answers(f, 3, VERB_REBASE, 5);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* A fragment of exchange `exchange` is merged, or has another verdict. */
static void gives_fragment(struct node_fixture *f, uint64_t exchange,
                           uint32_t fragment, enum verdict verdict)
{
    const struct msg_local_offer taken = {
        .exchange = exchange, .fragment = fragment, .fragments = 2};
    struct blob *values = hand_floats(f->hand.pool, fragment ? 4 : 6, 3);

    values->checksum = 0;
    node_fixture_takes(f, &taken, values);
    blob_unref(&values);
    node_fixture_verdicts(f, exchange, 0, FIXTURE_CHUNKS, verdict);
}

/* One whose trainer has finished task 5, with two fragments. */
static struct node_fixture *tasker_of_fragments(void)
{
    struct node_fixture *f = tasker_new();

    f->welcome.fragments = 2;
    node_fixture_restarts(f, START_GO);
    tasker_finishes(f, 5, true);
    return f;
}

static void each_fragment_of_a_task_must_be_merged(void)
{
    struct node_fixture *f = tasker_of_fragments();

    gives_fragment(f, 1, 0, VERDICT_MERGED);
    gives_fragment(f, 2, 0, VERDICT_MERGED);
    CHECK_EQUAL(0, tasker_reports(f));
    gives_fragment(f, 3, 1, VERDICT_MERGED);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* What was not merged is in its next offer, and others are not asked. */
static void a_fragment_that_was_not_merged_is_waited_for(void)
{
    struct node_fixture *f = tasker_of_fragments();

    gives_fragment(f, 1, 0, VERDICT_MERGED);
    gives_fragment(f, 2, 1, VERDICT_EXPIRED);
    gives_fragment(f, 3, 0, VERDICT_MERGED);
    CHECK_EQUAL(0, tasker_reports(f));
    gives_fragment(f, 4, 1, VERDICT_MERGED);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void a_last_offer_holds_all_fragments_of_a_task(void)
{
    struct node_fixture *f = tasker_of_fragments();
    const struct msg_local_offer last = {
        .exchange = 1, .last = 1, .fragment = FRAGMENT_ALL, .fragments = 2};
    struct blob *values = hand_floats(f->hand.pool, FIXTURE_ELEMENTS, 3);

    values->checksum = 0;
    node_fixture_takes(f, &last, values);
    blob_unref(&values);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* The hub was killed behind a fragment's merge, and goes on before it. */
static void a_fragment_that_the_hub_lost_is_waited_for(void)
{
    struct node_fixture *f = tasker_of_fragments();

    gives_fragment(f, 1, 0, VERDICT_MERGED);
    tasker_comes_back(f, f->welcome.run, 2, 0);
    gives_fragment(f, 2, 1, VERDICT_MERGED);
    CHECK_EQUAL(TASK_REPORT_HELD, tasker_report(f)->what);
    gives_fragment(f, 3, 0, VERDICT_MERGED);
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void a_lost_gradient_spoils_its_task(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    tasker_wants(f);
    tasker_is_given(f, 5);
    tasker_wants(f);
    tasker_is_given(f, 6);
    node_fixture_offers(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_EXPIRED);
    CHECK_EQUAL(0, tasker_reports(f));
    tasker_finishes(f, 5, true);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(5, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    tasker_wants(f);
    tasker_finishes(f, 6, true);
    node_fixture_offers(f, 2, 3);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(6, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* The node takes the result, and with it none of what it had learnt. */
static void what_the_policy_throws_away_spoils_its_tasks(void)
{
    struct node_fixture *f = tasker_new();

    tasker_finishes(f, 5, true);
    tasker_is_given(f, 6);
    tasker_wants(f); /* it has begun with 6 */
    tasker_is_given(f, 7);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers_as(f, 1, VERB_REBASE, 5, VERDICT_REFUTED);
    node_fixture_applied(f, 1);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(5, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    tasker_wants(f);
    node_fixture_offers(f, 2, 3);
    node_fixture_answers(f, 2, VERB_REBASE, 5);
    tasker_finishes(f, 6, true);
    CHECK_EQUAL(6, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    tasker_finishes(f, 7, true);
    node_fixture_offers(f, 3, 3);
    node_fixture_answers(f, 3, VERB_REBASE, 5);
    CHECK_EQUAL(7, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void a_task_that_is_given_up_is_reported_at_once(void)
{
    struct node_fixture *f = tasker_new();

    tasker_finishes(f, 5, false);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    tasker_finishes(f, 5, true);
    tasker_finishes(f, 77, true);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    CHECK_EQUAL(1, tasker_reports(f));
    node_fixture_destroy(&f);
}

static void progress_that_is_thrown_away_gives_tasks_back(void)
{
    struct node_fixture *f = tasker_new();

    node_fixture_restarts(f, START_TAKE);
    CHECK_EQUAL(0, tasker_reports(f));
    tasker_finishes(f, 5, true);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void parameters_that_are_replaced_give_tasks_back(void)
{
    struct node_fixture *f = tasker_new();

    node_fixture_offers(f, 1, 3);
    tasker_finishes(f, 5, true);
    node_fixture_answers(f, 1, VERB_REPLACE, 5);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

/* It was given back at once, and so was given again under the same number: the
 * end of what had been thrown away was taken for the end of that one. */
static void a_task_is_not_given_back_while_the_trainer_has_it(void)
{
    struct node_fixture *f = tasker_new();

    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REPLACE, 5);
    node_fixture_applied(f, 1);
    CHECK_EQUAL(0, tasker_reports(f));
    tasker_finishes(f, 5, true);
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    tasker_is_given(f, 5);
    node_fixture_offers(f, 2, 3);
    node_fixture_answers(f, 2, VERB_REBASE, 6);
    CHECK_EQUAL(1, tasker_reports(f));
    tasker_finishes(f, 5, true);
    node_fixture_offers(f, 3, 3);
    node_fixture_answers(f, 3, VERB_REBASE, 7);
    CHECK_EQUAL(2, tasker_reports(f));
    CHECK_EQUAL(TASK_REPORT_DONE, tasker_report(f)->what);
    node_fixture_destroy(&f);
}

static void the_last_offer_reports_before_the_goodbye(void)
{
    struct node_fixture *f = tasker_new();
    unsigned at_report = 0, at_bye = 0;

    tasker_finishes(f, 5, true);
    node_fixture_leaves(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    for (unsigned i = 0; i < f->hand.sent_count; i++) {
        if (f->hand.sent[i].msg.kind == MSG_REPORT)
            at_report = i;
        if (f->hand.sent[i].msg.kind == MSG_BYE)
            at_bye = i;
    }
    CHECK_EQUAL(1, tasker_reports(f));
    CHECK(at_report < at_bye);
    node_fixture_destroy(&f);
}

static void no_more_are_held_than_there_is_room_for(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    for (uint64_t i = 1; i <= NODE_MAX_TASKS; i++) {
        tasker_wants(f);
        tasker_is_given(f, i);
        tasker_finishes(f, i, true);
    }
    hand_forget(&f->hand);
    tasker_wants(f);
    hand_wait(&f->hand, SECOND);
    CHECK(!node_fixture_sent(f, MSG_ROOM));
    tasker_is_given(f, 100);
    CHECK_EQUAL(100, tasker_report(f)->task);
    CHECK_EQUAL(TASK_REPORT_FAILED, tasker_report(f)->what);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    CHECK_EQUAL(1 + NODE_MAX_TASKS, tasker_reports(f));
    hand_wait(&f->hand, SECOND);
    CHECK(node_fixture_sent(f, MSG_ROOM) != NULL);
    node_fixture_destroy(&f);
}

static void a_task_that_cannot_be_is_given_back(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg msg = {.kind = MSG_TASK};

    node_fixture_ready(f, 1);
    tasker_is_given(f, 9);
    CHECK_EQUAL(1, tasker_reports(f));
    tasker_wants(f);
    msg.task.task = 10;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
    CHECK_EQUAL(2, tasker_reports(f));
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
    TEST(each_fragment_of_a_task_must_be_merged);
    TEST(a_fragment_that_was_not_merged_is_waited_for);
    TEST(a_last_offer_holds_all_fragments_of_a_task);
    TEST(a_fragment_that_the_hub_lost_is_waited_for);
    TEST(a_lost_gradient_spoils_its_task);
    TEST(what_the_policy_throws_away_spoils_its_tasks);
    TEST(a_task_that_is_given_up_is_reported_at_once);
    TEST(progress_that_is_thrown_away_gives_tasks_back);
    TEST(parameters_that_are_replaced_give_tasks_back);
    TEST(a_task_is_not_given_back_while_the_trainer_has_it);
    TEST(the_last_offer_reports_before_the_goodbye);
    TEST(no_more_are_held_than_there_is_room_for);
    TEST(a_task_that_cannot_be_is_given_back);
}
