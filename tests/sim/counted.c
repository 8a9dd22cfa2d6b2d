/* Learning is counted: whatever becomes of the hub, what its centre holds in
 * the end is what nodes have learnt, to the last step. Each node adds exactly 1
 * to an element of its own each iteration, and the policy adds what it is
 * offered, so that who lost what is seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "sim/study/soak_count.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { MOST_NODES = 4, ELEMENTS = 8, CHUNK = 4, MOST_KILLS = 8, EVERY = 10 };

static double step_of(const void *context, uint64_t iteration, const float *x,
                      size_t elements, float *gradient)
{
    const unsigned *node = context;

    (void)iteration;
    (void)x;
    memset(gradient, 0, elements * sizeof *gradient);
    gradient[*node] = gradient[*node + MOST_NODES] = -1; /* two chunks */
    return 1;
}

static const unsigned numbers[MOST_NODES] = {0, 1, 2, 3};

/* ---- a run ---- */

struct plan {
    const struct gate_rule *gate;
    unsigned nodes;
    uint64_t delay, seed;
    uint64_t promised; /* room of nodes for what is promised */
    bool wipes;        /* the hub that is killed loses its disk */
    unsigned kills;
    uint64_t at[MOST_KILLS]; /* steps of the hub after the kill before */
};

struct run {
    struct lab *lab;
    const struct plan *plan;
    uint64_t steps, limit; /* of the hub */
};

static void count(struct lab *lab, const struct world_step *step)
{
    struct run *run = lab->own;

    run->steps += step->process == WORLD_HUB;
}

static bool is_there(void *context, struct world *world)
{
    const struct run *run = context;

    (void)world;
    return run->steps >= run->limit;
}

static void open_run(struct run *run, const struct plan *plan)
{
    struct lab *lab = lab_new(ELEMENTS);
    struct hub_config *hub = &lab->config.hub;

    *run = (struct run){.lab = lab, .plan = plan};
    hub->policy.gate = plan->gate;
    hub->every = EVERY;
    hub->delay = plan->delay;
    hub->nodes = plan->nodes;
    hub->save_interval = 200 * MILLISECOND;
    hub->recovery = 1500 * MILLISECOND;
    lab->config.link = (struct world_link){.latency = 100 * MICROSECOND,
                                           .jitter = 50 * MICROSECOND};
    lab->config.reconnect = 50 * MILLISECOND;
    lab->promised = plan->promised;
    lab->after_step = count;
    lab->own = run;
    lab_open(lab, plan->seed);
    for (unsigned i = 0; i < plan->nodes; i++) {
        static const char *const names[MOST_NODES] = {"n1", "n2", "n3", "n4"};
        const struct model model = {.gradient = step_of,
                                    .context = &numbers[i],
                                    .rate = 1,
                                    .step = 5 * MILLISECOND};

        (void)lab_add(lab, names[i], &model);
    }
}

static bool take_steps(struct run *run, uint64_t steps)
{
    struct world *world = run->lab->world;

    run->limit = run->steps + steps;
    return world_run_until(world, world_now(world) + 600 * SECOND, is_there,
                           run);
}

/* Whether centre and node hold what the node has learnt; else says what. */
static bool judge(const struct run *run, unsigned node)
{
    const struct plan *plan = run->plan;
    const struct world_saved *saved = world_saved(run->lab->world);
    const struct trainer *trainer = world_trainer(run->lab->world, node);
    long long made = (long long)trainer_iteration(trainer);
    char words[160];

    for (unsigned i = node; i < ELEMENTS; i += CHUNK) {
        long long centre = saved->theta ? (long long)saved->theta[i] : -1;
        long long own = (long long)trainer_values(trainer)[i];

        (void)snprintf(words, sizeof words,
                       "%lld of n%u's steps are in the centre, %lld in the "
                       "node (%s, d %u, %s, seed %u, killed at %u)",
                       centre, node + 1, own, plan->gate->name,
                       (unsigned)plan->delay, plan->wipes ? "wiped" : "kept",
                       (unsigned)plan->seed, (unsigned)plan->at[0]);
        if (!check_true(centre == made && own == made, words, HERE))
            return false;
    }
    return true;
}

static bool run(const struct plan *plan)
{
    struct run run;
    struct world *world;
    bool held = true;

    open_run(&run, plan);
    world = run.lab->world;
    for (unsigned i = 0; i < plan->kills; i++) {
        held &= take_steps(&run, plan->at[i]);
        if (plan->wipes)
            world_wipe(world, WORLD_HUB);
        else
            world_crash(world, WORLD_HUB, false);
        world_start(world, WORLD_HUB);
    }
    held &= take_steps(&run, 300);
    world_leave(world, WORLD_HUB);
    held &=
        lab_run_to_end(run.lab) && world_run(world, world_now(world) + SECOND);
    CHECK_TEXT(NULL, world_broken(world));
    held = CHECK(held);
    for (unsigned i = 0; held && i < plan->nodes; i++)
        held = judge(&run, i);
    lab_destroy(&run.lab);
    return held;
}

/* ---- the runs ---- */

static const uint64_t delays[] = {0, 3, EVERY, UINT64_C(2) * EVERY};

/* With each delay, each gate, one node and four, the disk kept and wiped. */
static void play_all(struct plan plan,
                     bool (*run_of)(const struct plan *plan, unsigned turn))
{
    const struct gate_rule gates[] = {count_gate(&gate_sync),
                                      count_gate(&gate_async)};
    bool held = true;

    for (unsigned i = 0; held && i < 32; i++) {
        plan.delay = delays[i % 4];
        plan.gate = &gates[i / 4 % 2];
        plan.nodes = i / 8 % 2 ? MOST_NODES : 1;
        plan.wipes = i / 16;
        held = run_of(&plan, i);
    }
}

/* The hub is killed at one step after another; each run of these begins with
 * another one, so that they are all of the first ones together. */
static bool at_each_step(const struct plan *plan, unsigned turn)
{
    struct plan now = *plan;
    uint64_t last = plan->nodes == 1 ? 250 : 500;
    bool held = true;

    for (uint64_t at = 1 + turn % 8; held && at < last; at += 8) {
        now.at[0] = at;
        held = run(&now);
    }
    return held;
}

static bool again_and_again(const struct plan *plan, unsigned turn)
{
    struct plan now = *plan;
    struct prng prng;

    now.seed = 1 + turn;
    prng_seed(&prng, now.seed);
    for (unsigned i = 0; i < now.kills; i++)
        now.at[i] = 1 + prng_below(&prng, turn % 2 ? 100 : 900);
    return run(&now);
}

static void without_a_fault_all_is_there(void)
{
    play_all((struct plan){0}, again_and_again);
}

static void a_hub_that_is_killed_at_any_step_loses_nothing(void)
{
    play_all((struct plan){.kills = 1, .seed = 1}, at_each_step);
}

static void a_hub_that_is_killed_again_and_again_loses_nothing(void)
{
    play_all((struct plan){.kills = MOST_KILLS}, again_and_again);
}

/* What is promised is added up; seven models are room enough. */
static void nodes_with_little_memory_lose_nothing(void)
{
    play_all((struct plan){.kills = MOST_KILLS,
                           .promised = sizeof(float) * 7 * ELEMENTS},
             again_and_again);
}

void add_sim_counted_tests(CU_pSuite suite)
{
    TEST(without_a_fault_all_is_there);
    TEST(a_hub_that_is_killed_at_any_step_loses_nothing);
    TEST(a_hub_that_is_killed_again_and_again_loses_nothing);
    TEST(nodes_with_little_memory_lose_nothing);
}
