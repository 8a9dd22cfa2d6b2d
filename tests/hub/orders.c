#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void status_is_answered_at_once_and_with_the_version(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    uint64_t ticket;

    fake_node_gives(f, &a, 1, 1);
    ticket = hub_fixture_order(f, COMMAND_STATUS, "");
    hub_fixture_answered(f, ticket, STATUS_OK, "running");
    CHECK_EQUAL(
        1, hand_last(&f->hand, PEER_OPERATOR, MSG_ANSWER)->msg.answer.version);
    CHECK(hand_note(&f->hand, NOTE_ORDERED) == NULL);
    hub_fixture_destroy(&f);
}

static void orders_come_from_nobody_but_the_operator(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_says(f, &a, MSG_ORDER);
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK_EQUAL(0, hand_count(&f->hand, PEER_OPERATOR, MSG_ANSWER));
    hub_fixture_destroy(&f);
}

/* ---- drain ---- */

static void a_drained_node_makes_its_last_offer_and_leaves(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");
    uint64_t ticket = hub_fixture_order(f, COMMAND_DRAIN, "b");

    hub_fixture_answered(f, ticket, STATUS_OK, "b makes its last offer");
    CHECK(fake_node_heard(f, &b, MSG_STOP) != NULL);
    CHECK(fake_node_heard(f, &a, MSG_STOP) == NULL);
    CHECK(hub_fixture_node(f, "b")->drained &&
          !hub_fixture_node(f, "a")->drained);
    fake_node_offers(f, &a, 1);
    fake_node_gives_last(f, &b, 1, 4);
    fake_node_delivers_all(f, &a, 1, 2);
    CHECK_NEAR(4, fake_node_result(f, &a, 1, 0), 0);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &b));
    CHECK_TEXT("b", hand_note(&f->hand, NOTE_LEFT)->subject);
    CHECK(hub_fixture_node(f, "b")->gone);
    CHECK(!hub_fixture_look(f)->ending);
    fake_node_gives(f, &a, 2, 1);
    CHECK_NEAR(5, fake_node_result(f, &a, 2, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_drained_node_that_offers_nothing_leaves_after_ten_seconds(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    fake_node_lives(f, &a, 9500 * MILLISECOND);
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &a));
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    hub_fixture_destroy(&f);
}

static void a_drained_node_comes_back_only_when_it_is_started_again(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    fake_node_gives_last(f, &a, 1, 1);
    hand_wait(&f->hand, SECOND);
    CHECK(hub_fixture_node(f, "a")->gone);
    fake_node_breaks(f, &a);
    hand_forget(&f->hand);
    fake_node_hello(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) == NULL);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    CHECK(hub_fixture_node(f, "a")->gone);
    fake_node_breaks(f, &a);
    a.hello.incarnation--; /* its clock was set back */
    fake_node_comes_again(f, &a);
    CHECK(!hub_fixture_node(f, "a")->gone &&
          !hub_fixture_node(f, "a")->drained);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    fake_node_lives(f, &a, 11 * SECOND);
    CHECK(!hub_fixture_node(f, "a")->gone);
    hub_fixture_destroy(&f);
}

/* Its bulk connection just before the order, and all just after it. */
static void a_drained_node_whose_connections_break_makes_its_last_offer(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    hand_leave(&f->hand, a.bulk);
    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &a));
    fake_node_breaks(f, &a);
    hand_wait(&f->hand, SECOND);
    hand_forget(&f->hand);
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    CHECK(fake_node_heard(f, &a, MSG_STOP) != NULL);
    fake_node_gives_last(f, &a, 1, 4);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    hub_fixture_destroy(&f);
}

static void who_was_lost_a_moment_ago_may_be_drained(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    uint64_t ticket;

    fake_node_breaks(f, &a);
    hand_wait(&f->hand, 2 * SECOND);
    ticket = hub_fixture_order(f, COMMAND_DRAIN, "a");
    hub_fixture_answered(f, ticket, STATUS_OK, "a makes its last offer");
    hand_forget(&f->hand);
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_STOP) != NULL);
    fake_node_breaks(f, &a);
    hand_wait(&f->hand, 10 * SECOND);
    ticket = hub_fixture_order(f, COMMAND_DRAIN, "a");
    hub_fixture_answered(f, ticket, STATUS_USAGE, "there is no node a");
    hub_fixture_destroy(&f);
}

static void a_node_is_drained_once(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_DRAIN, "a"), STATUS_OK,
                         "leaves");
    CHECK_EQUAL(1, fake_node_heard_count(f, &a, MSG_STOP));
    hub_fixture_destroy(&f);
}

/* ---- names ---- */

static void of_a_node_that_is_not_here_the_others_are_named(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b"), c;

    c = fake_node_comes(f, "c");
    fake_node_breaks(f, &b);
    fake_node_lives(f, &a, 11 * SECOND);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_DRAIN, "b"),
                         STATUS_USAGE, "there is no node b; there are: a, c");
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_PIN, "x"),
                         STATUS_USAGE, "there is no node x; there are: a, c");
    fake_node_breaks(f, &a);
    fake_node_breaks(f, &c);
    hand_wait(&f->hand, 11 * SECOND);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_DRAIN, "a"),
                         STATUS_USAGE, "there are: none");
    hub_fixture_destroy(&f);
}

static void of_many_nodes_some_are_named_and_the_others_counted(void)
{
    struct hub_fixture *f = hub_fixture_new();
    char text[MSG_TEXT_BYTES];
    const char *more;
    unsigned named = 1;

    hub_fixture_open(f);
    for (unsigned i = 0; i < 20; i++) {
        char name[NODE_NAME_BYTES];

        (void)snprintf(name, sizeof name, "machine-%u", i);
        (void)fake_node_comes(f, name);
    }
    (void)hub_fixture_answer(f, hub_fixture_order(f, COMMAND_PIN, "x"), text);
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
        named++;
    more = strstr(text, " and ");
    if (CHECK(named > 1 && more != NULL))
        CHECK_EQUAL(20, named + strtoul(more + 5, NULL, 10));
    CHECK_CONTAINS(" more", text);
    hub_fixture_destroy(&f);
}

/* ---- pin ---- */

static int pinned(struct hub_fixture *f, const char *name)
{
    return hub_fixture_node(f, name)->pinned;
}

static void a_pin_holds_until_it_is_taken_off(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node b;

    (void)fake_node_alone(f);
    b = fake_node_comes(f, "b");
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_PIN, "b"), STATUS_OK,
                         "b is");
    CHECK(pinned(f, "b") && !pinned(f, "a"));
    fake_node_breaks(f, &b);
    fake_node_comes_again(f, &b);
    CHECK(pinned(f, "b"));
    (void)hub_fixture_order(f, COMMAND_PIN, "x");
    CHECK(pinned(f, "b"));
    (void)hub_fixture_order(f, COMMAND_PIN, "a");
    CHECK(pinned(f, "a") && !pinned(f, "b"));
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_UNPIN, ""), STATUS_OK,
                         "policy");
    CHECK(!pinned(f, "a") && !pinned(f, "b"));
    hub_fixture_destroy(&f);
}

static void who_takes_a_pinned_nodes_place_is_not_pinned(void)
{
    enum { MOST = 3 };
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.most = MOST;
    a = fake_node_alone(f);
    (void)hub_fixture_order(f, COMMAND_PIN, "a");
    fake_node_breaks(f, &a);
    for (unsigned i = 0; i < MOST; i++) {
        hand_forget(&f->hand);
        (void)fake_node_comes(f, "new");
    }
    CHECK_EQUAL(MOST, hub_fixture_look(f)->count);
    for (unsigned i = 0; i < MOST; i++)
        CHECK(!f->view.nodes[i].pinned);
    hub_fixture_destroy(&f);
}

/* ---- stop and end ---- */

static void stop_saves_and_tells_no_node_that_the_run_is_over(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_STOP, ""), STATUS_OK,
                         "until it is started again");
    CHECK(hub_ended(f->hub));
    CHECK(hub_fixture_look(f)->stopping && !hub_fixture_look(f)->ending);
    CHECK_EQUAL(1, store.version);
    CHECK(fake_node_heard(f, &a, MSG_STOP) == NULL);
    CHECK(fake_node_heard(f, &a, MSG_BYE) == NULL);
    hub_fixture_destroy(&f);
}

static void what_gathers_when_the_hub_stops_is_left_to_the_next_hub(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    store_lend(&store, f);
    a = fake_node_alone(f);
    b = fake_node_other(f);
    fake_node_offers(f, &a, 1);
    (void)hub_fixture_order(f, COMMAND_STOP, "");
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    CHECK(fake_node_heard(f, &b, MSG_BYE) == NULL);
    /* Also what comes before its process is over: it would be saved nowhere. */
    fake_node_gives(f, &b, 1, 1);
    fake_node_delivers_all(f, &a, 1, 1);
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* While it evaluates, the operator stops the hub, and eleven seconds pass. */
static void stop_meanwhile(struct job *job)
{
    struct hub_fixture *f = *(struct hub_fixture *const *)job->context;

    if (f && !hub_fixture_look(f)->stopping) {
        (void)hub_fixture_order(f, COMMAND_STOP, "");
        hand_wait(&f->hand, 11 * SECOND);
    }
    ((struct score_job *)job)->loss = 1;
}

/* Nothing of its round has moved: the centre is saved as it is. */
static void what_is_judged_when_the_hub_stops_is_left_to_the_next_hub(void)
{
    static const struct work slow = {.name = "slow", .run = stop_meanwhile};
    struct hub_fixture *f = hub_fixture_new(), *stops = NULL;
    struct fake_node a;

    f->config.policy = preset_find("soup")->policy;
    store_lend(&store, f);
    f->config.evaluate = &slow;
    f->config.evaluate_context = (const void *)&stops;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    stops = f;
    fake_node_gives(f, &a, 2, 1);
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(1, store.version);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    CHECK_EQUAL(VERDICT_COUNT, fake_node_verdict(f, &a, 2, 0));
    hub_fixture_destroy(&f);
}

static void end_ends_the_run_in_good_order(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_END, ""), STATUS_OK,
                         "last offers");
    CHECK(fake_node_heard(f, &a, MSG_STOP) != NULL);
    fake_node_gives_last(f, &a, 1, 1);
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(1, store.finals);
    hub_fixture_destroy(&f);
}

static void a_drained_node_does_not_hold_up_the_end(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    (void)hub_fixture_order(f, COMMAND_END, "");
    CHECK(!hub_ended(f->hub));
    fake_node_lives(f, &a, 11 * SECOND);
    CHECK(hub_ended(f->hub));
    hub_fixture_destroy(&f);
}

void add_hub_orders_tests(CU_pSuite suite)
{
    TEST(status_is_answered_at_once_and_with_the_version);
    TEST(orders_come_from_nobody_but_the_operator);
    TEST(a_drained_node_makes_its_last_offer_and_leaves);
    TEST(a_drained_node_that_offers_nothing_leaves_after_ten_seconds);
    TEST(a_drained_node_comes_back_only_when_it_is_started_again);
    TEST(a_drained_node_whose_connections_break_makes_its_last_offer);
    TEST(who_was_lost_a_moment_ago_may_be_drained);
    TEST(a_node_is_drained_once);
    TEST(of_a_node_that_is_not_here_the_others_are_named);
    TEST(of_many_nodes_some_are_named_and_the_others_counted);
    TEST(a_pin_holds_until_it_is_taken_off);
    TEST(who_takes_a_pinned_nodes_place_is_not_pinned);
    TEST(stop_saves_and_tells_no_node_that_the_run_is_over);
    TEST(what_gathers_when_the_hub_stops_is_left_to_the_next_hub);
    TEST(what_is_judged_when_the_hub_stops_is_left_to_the_next_hub);
    TEST(end_ends_the_run_in_good_order);
    TEST(a_drained_node_does_not_hold_up_the_end);
}
