#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void status_is_answered_at_once_and_with_the_version(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    uint64_t ticket;

    guest_gives(bench, &a, 1, 1);
    ticket = bench_order(bench, COMMAND_STATUS, "");
    bench_answered(bench, ticket, STATUS_OK, "running");
    CHECK_EQUAL(
        1,
        hand_last(&bench->hand, PEER_OPERATOR, MSG_ANSWER)->msg.answer.version);
    CHECK(hand_note(&bench->hand, NOTE_ORDERED) == NULL);
    bench_destroy(&bench);
}

static void orders_come_from_nobody_but_the_operator(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_says(bench, &a, MSG_ORDER);
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK_EQUAL(0, hand_count(&bench->hand, PEER_OPERATOR, MSG_ANSWER));
    bench_destroy(&bench);
}

/* ---- drain ---- */

static void a_drained_node_makes_its_last_offer_and_leaves(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");
    uint64_t ticket = bench_order(bench, COMMAND_DRAIN, "b");

    bench_answered(bench, ticket, STATUS_OK, "b makes its last offer");
    CHECK(guest_heard(bench, &b, MSG_STOP) != NULL);
    CHECK(guest_heard(bench, &a, MSG_STOP) == NULL);
    CHECK(bench_node(bench, "b")->drained && !bench_node(bench, "a")->drained);
    guest_offers(bench, &a, 1);
    guest_gives_last(bench, &b, 1, 4);
    guest_delivers_all(bench, &a, 1, 2);
    CHECK_NEAR(4, guest_result(bench, &a, 1, 0), 0);
    hand_wait(&bench->hand, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &b));
    CHECK_TEXT("b", hand_note(&bench->hand, NOTE_LEFT)->subject);
    CHECK(bench_node(bench, "b")->gone);
    CHECK(!bench_look(bench)->ending);
    guest_gives(bench, &a, 2, 1);
    CHECK_NEAR(5, guest_result(bench, &a, 2, 0), 0);
    bench_destroy(&bench);
}

static void a_drained_node_that_offers_nothing_leaves_after_ten_seconds(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    (void)bench_order(bench, COMMAND_DRAIN, "a");
    guest_lives(bench, &a, 9500 * MILLISECOND);
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

static void a_drained_node_comes_back_only_when_it_is_started_again(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    (void)bench_order(bench, COMMAND_DRAIN, "a");
    guest_gives_last(bench, &a, 1, 1);
    hand_wait(&bench->hand, SECOND);
    CHECK(bench_node(bench, "a")->gone);
    guest_breaks(bench, &a);
    hand_forget(&bench->hand);
    guest_hello(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) == NULL);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    CHECK(bench_node(bench, "a")->gone);
    guest_breaks(bench, &a);
    a.hello.incarnation--; /* its clock was set back */
    guest_comes_again(bench, &a);
    CHECK(!bench_node(bench, "a")->gone && !bench_node(bench, "a")->drained);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    guest_lives(bench, &a, 11 * SECOND);
    CHECK(!bench_node(bench, "a")->gone);
    bench_destroy(&bench);
}

/* Its bulk connection just before the order, and all just after it. */
static void a_drained_node_whose_connections_break_makes_its_last_offer(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    hand_leave(&bench->hand, a.bulk);
    (void)bench_order(bench, COMMAND_DRAIN, "a");
    hand_wait(&bench->hand, SECOND);
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    guest_breaks(bench, &a);
    hand_wait(&bench->hand, SECOND);
    hand_forget(&bench->hand);
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_gives_last(bench, &a, 1, 4);
    CHECK_EQUAL(1, bench_look(bench)->version);
    hand_wait(&bench->hand, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

static void who_was_lost_a_moment_ago_may_be_drained(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    uint64_t ticket;

    guest_breaks(bench, &a);
    hand_wait(&bench->hand, 2 * SECOND);
    ticket = bench_order(bench, COMMAND_DRAIN, "a");
    bench_answered(bench, ticket, STATUS_OK, "a makes its last offer");
    hand_forget(&bench->hand);
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_breaks(bench, &a);
    hand_wait(&bench->hand, 10 * SECOND);
    ticket = bench_order(bench, COMMAND_DRAIN, "a");
    bench_answered(bench, ticket, STATUS_USAGE, "there is no node a");
    bench_destroy(&bench);
}

static void a_node_is_drained_once(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    (void)bench_order(bench, COMMAND_DRAIN, "a");
    bench_answered(bench, bench_order(bench, COMMAND_DRAIN, "a"), STATUS_OK,
                   "leaves");
    CHECK_EQUAL(1, guest_heard_count(bench, &a, MSG_STOP));
    bench_destroy(&bench);
}

/* ---- names ---- */

static void of_a_node_that_is_not_here_the_others_are_named(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b"), c;

    c = guest_comes(bench, "c");
    guest_breaks(bench, &b);
    guest_lives(bench, &a, 11 * SECOND);
    bench_answered(bench, bench_order(bench, COMMAND_DRAIN, "b"), STATUS_USAGE,
                   "there is no node b; there are: a, c");
    bench_answered(bench, bench_order(bench, COMMAND_PIN, "x"), STATUS_USAGE,
                   "there is no node x; there are: a, c");
    guest_breaks(bench, &a);
    guest_breaks(bench, &c);
    hand_wait(&bench->hand, 11 * SECOND);
    bench_answered(bench, bench_order(bench, COMMAND_DRAIN, "a"), STATUS_USAGE,
                   "there are: none");
    bench_destroy(&bench);
}

static void of_many_nodes_some_are_named_and_the_others_counted(void)
{
    struct bench *bench = bench_new();
    char text[MSG_TEXT_BYTES];
    const char *more;
    unsigned named = 1;

    bench_open(bench);
    for (unsigned i = 0; i < 20; i++) {
        char name[NODE_NAME_BYTES];

        (void)snprintf(name, sizeof name, "machine-%u", i);
        (void)guest_comes(bench, name);
    }
    (void)bench_answer(bench, bench_order(bench, COMMAND_PIN, "x"), text);
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
        named++;
    more = strstr(text, " and ");
    if (CHECK(named > 1 && more != NULL))
        CHECK_EQUAL(20, named + strtoul(more + 5, NULL, 10));
    CHECK_CONTAINS(" more", text);
    bench_destroy(&bench);
}

/* ---- pin ---- */

static int pinned(struct bench *bench, const char *name)
{
    return bench_node(bench, name)->pinned;
}

static void a_pin_holds_until_it_is_taken_off(void)
{
    struct bench *bench = bench_new();
    struct guest b;

    (void)guest_alone(bench);
    b = guest_comes(bench, "b");
    bench_answered(bench, bench_order(bench, COMMAND_PIN, "b"), STATUS_OK,
                   "b is");
    CHECK(pinned(bench, "b") && !pinned(bench, "a"));
    guest_breaks(bench, &b);
    guest_comes_again(bench, &b);
    CHECK(pinned(bench, "b"));
    (void)bench_order(bench, COMMAND_PIN, "x");
    CHECK(pinned(bench, "b"));
    (void)bench_order(bench, COMMAND_PIN, "a");
    CHECK(pinned(bench, "a") && !pinned(bench, "b"));
    bench_answered(bench, bench_order(bench, COMMAND_UNPIN, ""), STATUS_OK,
                   "policy");
    CHECK(!pinned(bench, "a") && !pinned(bench, "b"));
    bench_destroy(&bench);
}

static void who_takes_a_pinned_nodes_place_is_not_pinned(void)
{
    enum { MOST = 3 };
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.most = MOST;
    a = guest_alone(bench);
    (void)bench_order(bench, COMMAND_PIN, "a");
    guest_breaks(bench, &a);
    for (unsigned i = 0; i < MOST; i++) {
        hand_forget(&bench->hand);
        (void)guest_comes(bench, "new");
    }
    CHECK_EQUAL(MOST, bench_look(bench)->count);
    for (unsigned i = 0; i < MOST; i++)
        CHECK(!bench->view.nodes[i].pinned);
    bench_destroy(&bench);
}

/* ---- stop and end ---- */

static void stop_saves_and_tells_no_node_that_the_run_is_over(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    CHECK_EQUAL(1, bench_look(bench)->version);
    bench_answered(bench, bench_order(bench, COMMAND_STOP, ""), STATUS_OK,
                   "until it is started again");
    CHECK(hub_ended(bench->hub));
    CHECK(bench_look(bench)->stopping && !bench_look(bench)->ending);
    CHECK_EQUAL(1, store.version);
    CHECK(guest_heard(bench, &a, MSG_STOP) == NULL);
    CHECK(guest_heard(bench, &a, MSG_BYE) == NULL);
    bench_destroy(&bench);
}

static void what_gathers_when_the_hub_stops_is_left_to_the_next_hub(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    store_lend(&store, bench);
    a = guest_alone(bench);
    b = guest_other(bench);
    guest_offers(bench, &a, 1);
    (void)bench_order(bench, COMMAND_STOP, "");
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(0, bench_look(bench)->version);
    CHECK(guest_heard(bench, &b, MSG_BYE) == NULL);
    bench_destroy(&bench);
}

static void end_ends_the_run_in_good_order(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    bench_answered(bench, bench_order(bench, COMMAND_END, ""), STATUS_OK,
                   "last offers");
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(1, store.finals);
    bench_destroy(&bench);
}

static void a_drained_node_does_not_hold_up_the_end(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    (void)bench_order(bench, COMMAND_DRAIN, "a");
    (void)bench_order(bench, COMMAND_END, "");
    CHECK(!hub_ended(bench->hub));
    guest_lives(bench, &a, 11 * SECOND);
    CHECK(hub_ended(bench->hub));
    bench_destroy(&bench);
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
    TEST(end_ends_the_run_in_good_order);
    TEST(a_drained_node_does_not_hold_up_the_end);
}
