/* How much of their time nodes train. If an iteration takes t, an exchange T_c,
 * and the slowest of a round lets the others wait for S,
 *
 *     stall = max(0, T_c + S - d t),   U = k t / (k t + stall) */
#include <math.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { MANY = 8 };

static const char *const names[MANY] = {"n1", "n2", "n3", "n4",
                                        "n5", "n6", "n7", "n8"};
static const struct drift drift = {0.25f};

static double predicted(double k, double d, double t, double exchange,
                        double lag)
{
    return k * t / (k * t + fmax(0, exchange + lag - d * t));
}

struct star {
    unsigned nodes;
    uint64_t every, delay;
    nanos latency; /* of the four messages of an exchange */
    nanos step[MANY], jitter;
};

/* The share of its time in which each node was not blocked, over 40 rounds. */
static void measure(const struct star *star, double used[MANY])
{
    struct lab *lab = lab_new(4);
    nanos waited[MANY];
    nanos begun;

    lab->config.hub.every = star->every;
    lab->config.hub.delay = star->delay;
    lab->config.hub.miss = MISS_WAIT;
    lab->config.hub.nodes = star->nodes;
    lab->config.link = (struct world_link){.latency = star->latency};
    lab_open(lab, 26);
    for (unsigned i = 0; i < star->nodes; i++) {
        struct world_node node = {.name = names[i],
                                  .trainer = {.start = lab->start,
                                              .elements = lab->elements,
                                              .step = star->step[i],
                                              .step_jitter = star->jitter,
                                              .rate = 1,
                                              .samples = 1,
                                              .gradient = trainer_drift,
                                              .context = &drift,
                                              .seed = i + 1}};

        world_start(lab->world, world_add_node(lab->world, &node));
    }
    CHECK(lab_run_rounds(lab, 10));
    begun = world_now(lab->world);
    for (unsigned i = 0; i < star->nodes; i++)
        waited[i] = trainer_waited(world_trainer(lab->world, i));
    CHECK(lab_run_rounds(lab, 50));
    for (unsigned i = 0; i < star->nodes; i++) {
        waited[i] = trainer_waited(world_trainer(lab->world, i)) - waited[i];
        used[i] =
            1 - (double)waited[i] / (double)(world_now(lab->world) - begun);
    }
    lab_destroy(&lab);
}

static void t26_equal_nodes_are_used_as_the_formula_says(void)
{
    static const uint64_t delays[] = {0, 4, 8, 11, 12, 13, 20, 30};
    struct star star = {
        .nodes = 3,
        .every = 20,
        .latency = 300 * MILLISECOND,
        .step = {100 * MILLISECOND, 100 * MILLISECOND, 100 * MILLISECOND}};

    for (unsigned i = 0; i < 8; i++) {
        double used[MANY];
        double expected = predicted(20, (double)delays[i], 0.1, 4 * 0.3, 0);

        star.delay = delays[i];
        measure(&star, used);
        for (unsigned j = 0; j < 3; j++)
            CHECK_NEAR(expected, used[j], 0.02 * expected);
    }
}

/* A round waits for the slowest: S = k (max t - t). */
static void t26_a_straggler_is_waited_for_as_the_formula_says(void)
{
    const struct star star = {.nodes = 2,
                              .every = 20,
                              .latency = 100 * MILLISECOND,
                              .step = {100 * MILLISECOND, 150 * MILLISECOND}};
    double used[MANY];

    measure(&star, used);
    CHECK_NEAR(predicted(20, 0, 0.1, 0.4, 20 * 0.05), used[0], 0.02 * used[0]);
    CHECK_NEAR(predicted(20, 0, 0.15, 0.4, 0), used[1], 0.02 * used[1]);
}

/* Steps of 82.7 to 117.3 ms, uniform: a mean of 100 ms with a spread of a
 * tenth; the last of 8 normal numbers is 1.4236 above their mean. */
static void t26_jitter_costs_what_the_last_of_eight_costs(void)
{
    static const uint64_t delays[] = {0, 5, 10, 15, 20};
    struct star star = {.nodes = MANY,
                        .every = 50,
                        .latency = 350 * MILLISECOND,
                        .jitter = 34600 * MICROSECOND};
    double lag = 0.1 * 0.1 * sqrt(50) * 1.4236;

    for (unsigned i = 0; i < MANY; i++)
        star.step[i] = 82700 * MICROSECOND;
    for (unsigned i = 0; i < 5; i++) {
        double used[MANY], sum = 0;
        double expected = predicted(50, (double)delays[i], 0.1, 1.4, lag);

        star.delay = delays[i];
        measure(&star, used);
        for (unsigned j = 0; j < MANY; j++)
            sum += used[j];
        CHECK_NEAR(expected, sum / MANY, 0.02 * expected);
    }
}

/* Of one node in a step with a star of two; ends with its last iteration. */
struct seen {
    nanos start, end;
    unsigned mismatches;
    struct lab *lab;
};

static void add_up(void *observer, const struct trainer_look *look)
{
    struct seen *seen = observer;
    const struct trainer *trainer = world_trainer(seen->lab->world, 0);
    nanos all = 0;

    if (look->moment != TRAINER_STEPPED)
        return;
    for (unsigned i = 0; i < SPENT_COUNT; i++)
        all += trainer_spent(trainer, (enum spent)i);
    if (look->iteration == 1)
        seen->start = look->now - all;
    seen->mismatches += all != look->now - seen->start;
    seen->end = look->now;
}

static void where_a_trainer_s_time_goes_adds_up_to_all_of_it(void)
{
    static const struct model slow = {.gradient = trainer_drift,
                                      .context = &drift,
                                      .rate = 1,
                                      .step = 150 * MILLISECOND};
    struct lab *lab = lab_new(4);
    struct seen seen = {.lab = lab};
    struct model model = {.gradient = trainer_drift,
                          .context = &drift,
                          .rate = 1,
                          .look = add_up,
                          .observer = &seen};
    const struct trainer *trainer;
    const struct hub_node_view *node;
    nanos all = 0;

    lab->config.hub.miss = MISS_WAIT;
    lab->config.hub.nodes = 2;
    lab_open(lab, 27);
    lab_add(lab, "n1", &model);
    lab_add(lab, "n2", &slow);
    CHECK(lab_run_rounds(lab, 40));
    trainer = world_trainer(lab->world, 0);
    CHECK_EQUAL(0, seen.mismatches);
    CHECK_EQUAL((nanos)trainer_iteration(trainer) * 100 * MILLISECOND,
                trainer_spent(trainer, SPENT_COMPUTE));
    CHECK_EQUAL(trainer_waited(trainer),
                trainer_spent(trainer, SPENT_NET_WAIT));
    CHECK(trainer_waited(trainer) > SECOND);
    /* What the hub was told is half a second and an iteration old at most. */
    node = &lab_look(lab)->nodes[0];
    for (unsigned i = 0; i < SPENT_COUNT; i++)
        all += node->spent[i];
    CHECK(all <= seen.end - seen.start);
    CHECK(all > seen.end - seen.start - SECOND);
    CHECK(node->foreseen > 0.5 && node->foreseen < 0.8);
    lab_destroy(&lab);
}

/* A link that is seldom used is seen to carry little: its time is measured. An
 * exchange of 40 kB takes 0.4 s at 100 kB/s and some round trips, whatever k
 * is.
 */
static void a_link_is_busy_for_as_long_as_an_exchange_takes(void)
{
    static const uint64_t every[] = {10, 100};
    static const struct model model = {
        .gradient = trainer_drift, .context = &drift, .rate = 1};

    for (unsigned i = 0; i < 2; i++) {
        struct lab *lab = lab_new(10000);
        const struct hub_node_view *node;

        lab->config.hub.every = every[i];
        lab->config.hub.delay = 5;
        lab->config.hub.chunk_elements = 1000;
        lab->config.hub.nodes = 2;
        lab->config.link = (struct world_link){
            .latency = 2 * MILLISECOND, .up = 100000, .down = 200000};
        lab_open(lab, 31);
        lab_add(lab, "n1", &model);
        lab_add(lab, "n2", &model);
        CHECK(lab_run_rounds(lab, 20));
        node = &lab_look(lab)->nodes[0];
        CHECK(node->busy >= 0.4 && node->busy < 0.5);
        lab_destroy(&lab);
    }
}

void add_sim_utilisation_tests(CU_pSuite suite)
{
    TEST(t26_equal_nodes_are_used_as_the_formula_says);
    TEST(t26_a_straggler_is_waited_for_as_the_formula_says);
    TEST(t26_jitter_costs_what_the_last_of_eight_costs);
    TEST(where_a_trainer_s_time_goes_adds_up_to_all_of_it);
    TEST(a_link_is_busy_for_as_long_as_an_exchange_takes);
}
