#include "sim/world.h"

#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

static struct lab *star_of_three(uint64_t seed)
{
    struct lab *lab = lab_new(10);

    lab->config.hub.every = 4;
    lab->config.hub.delay = 2;
    lab->config.hub.nodes = 3;
    lab_open(lab, seed);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &drifting);
    lab_add(lab, "n3", &drifting);
    return lab;
}

static uint64_t history_of(uint64_t seed)
{
    struct lab *lab = star_of_three(seed);
    uint64_t history;

    lab_run(lab, 20 * SECOND);
    history = world_history(lab->world);
    lab_destroy(&lab);
    return history;
}

static void equal_seeds_have_equal_histories(void)
{
    CHECK(history_of(1) == history_of(1));
    CHECK(history_of(2) == history_of(2));
    CHECK(history_of(1) != history_of(2));
}

/* The arrival of each connection's messages must be in their order. */
struct order {
    uint64_t arrived[2][8]; /* pings and pongs, by peer */
    unsigned wrong;
};

static void check_ping(struct order *order, const struct world_step *step)
{
    const struct msg *msg = step->event->msg;
    bool pong = msg->kind == MSG_PONG;
    uint64_t number = (uint64_t)(pong ? msg->pong.sent : msg->ping.sent);
    uint64_t *last = &order->arrived[pong][step->event->peer % 8];

    order->wrong += number < *last;
    *last = number;
}

static void watch_order(struct lab *lab, const struct world_step *step)
{
    if (step->event->kind == EVENT_MESSAGE && step->process == WORLD_HUB &&
        step->event->msg->kind == MSG_PING)
        check_ping(lab->own, step);
}

static void a_connection_keeps_its_order_under_jitter(void)
{
    struct order order = {.wrong = 0};
    struct lab *lab = lab_new(10);

    lab->own = &order;
    lab->after_step = watch_order;
    lab->config.link.jitter = 3 * SECOND;
    lab_open(lab, 5);
    lab_add(lab, "n1", &drifting);
    lab_run(lab, 60 * SECOND);
    CHECK_EQUAL(0, order.wrong);
    lab_destroy(&lab);
}

static void a_slow_link_takes_the_time_of_its_bytes(void)
{
    struct lab *fast = star_of_three(7), *slow = lab_new(10);

    slow->config.hub.every = 4;
    slow->config.hub.delay = 2;
    slow->config.link.up = slow->config.link.down = 200;
    lab_open(slow, 7);
    lab_add(slow, "n1", &drifting);
    CHECK(lab_run(fast, 20 * SECOND));
    CHECK(lab_run(slow, 20 * SECOND));
    CHECK(fast->version > 40);
    CHECK(slow->version > 5 && slow->version < 35);
    lab_destroy(&fast);
    lab_destroy(&slow);
}

/* Seconds of a round of `nodes` nodes through a port of 80,000 bytes a second:
 * they offer 20,000 bytes each and wait. */
static double seconds_of_a_round(unsigned nodes)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    struct lab *lab = lab_new(5000);
    double seconds;

    lab->config.hub.chunk_elements = 250;
    lab->config.hub.nodes = nodes;
    lab->config.link.up = lab->config.link.down = 80000;
    lab->config.port_bytes_per_second = 80000;
    lab_open(lab, 5);
    for (unsigned i = 0; i < nodes; i++)
        lab_add(lab, names[i], &drifting);
    lab_run_rounds(lab, 4);
    seconds = -(double)world_now(lab->world) / (double)SECOND;
    lab_run_rounds(lab, 24);
    seconds += (double)world_now(lab->world) / (double)SECOND;
    lab_destroy(&lab);
    return seconds / 20;
}

/* N S / B and a little: what goes up and what comes down overlap
 * (headers, pings and manifests are some 10 %). */
static void nodes_share_the_port_of_the_hub(void)
{
    double one = seconds_of_a_round(1), four = seconds_of_a_round(4);

    CHECK(one > 0.1 + 0.25 && one < 0.1 + 0.37);
    CHECK(four > 0.1 + 1.0 && four < 0.1 + 1.25);
}

static void a_crashed_hub_goes_on_from_what_it_saved(void)
{
    struct lab *lab = star_of_three(9);
    struct hub_view view;
    uint64_t saved;

    lab_run(lab, 25 * SECOND);
    saved = world_saved(lab->world)->version;
    CHECK(saved > 20);
    world_crash(lab->world, WORLD_HUB, false);
    CHECK(world_hub(lab->world) == NULL);
    lab_run(lab, SECOND);
    world_start(lab->world, WORLD_HUB);
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    CHECK_EQUAL(saved, view.version);
    lab_run(lab, 20 * SECOND);
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    CHECK(view.version > saved + 20);
    lab_destroy(&lab);
}

static void a_frozen_process_takes_no_step(void)
{
    struct lab *lab = star_of_three(11);
    uint64_t before;

    lab_run(lab, 5 * SECOND);
    before = trainer_iteration(world_trainer(lab->world, 1));
    world_freeze(lab->world, 1);
    lab_run(lab, 5 * SECOND);
    CHECK_EQUAL(before, trainer_iteration(world_trainer(lab->world, 1)));
    world_thaw(lab->world, 1);
    lab_run(lab, 5 * SECOND);
    CHECK(trainer_iteration(world_trainer(lab->world, 1)) > before + 40);
    lab_destroy(&lab);
}

/* From 5 s on iterations take no time, until there were very many. */
static void stall(struct lab *lab, const struct world_step *step)
{
    unsigned *left = lab->own;

    if (!step->trainer || world_now(lab->world) < 5 * SECOND || !*left)
        return;
    trainer_pace(world_trainer(lab->world, 0), --*left ? 0 : SECOND);
}

static void a_world_that_stands_still_ends_with_a_word(void)
{
    unsigned left = 300000;
    struct lab *lab = lab_new(10);

    lab->own = &left;
    lab->after_step = stall;
    lab->config.hub.every = 1000000;
    lab->config.unjudged = true;
    lab_open(lab, 3);
    lab_add(lab, "n1", &drifting);
    CHECK(!world_run(lab->world, 10 * SECOND));
    CHECK(world_broken(lab->world) &&
          strstr(world_broken(lab->world), "lets no time pass"));
    CHECK(left > 0);
    lab_destroy(&lab);
}

void add_sim_world_tests(CU_pSuite suite)
{
    TEST(equal_seeds_have_equal_histories);
    TEST(a_connection_keeps_its_order_under_jitter);
    TEST(a_slow_link_takes_the_time_of_its_bytes);
    TEST(nodes_share_the_port_of_the_hub);
    TEST(a_crashed_hub_goes_on_from_what_it_saved);
    TEST(a_frozen_process_takes_no_step);
    TEST(a_world_that_stands_still_ends_with_a_word);
}
