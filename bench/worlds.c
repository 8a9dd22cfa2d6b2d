/* How fast the simulator is: whole stars in virtual time, on one core.
 *
 *     worlds                                 the figures of targets.txt
 *     worlds --nodes 100 --hours 24          one star
 *
 * The machines are those of production; of the model there are a few elements,
 * each of which counts for many on the wire, and the trainers descend a
 * quadratic (a surrogate). A step is one event taken by a hub, a node or a
 * trainer. Each star lives in a process of its own, so that its memory is
 * its own; it has one thread, and its seconds are those of the processor. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/kit/kit.h"
#include "sim/models.h"
#include "sim/world.h"

enum { CHUNK_ELEMENTS = 1 << 18, MOST_ELEMENTS = 1000, MOST_ROUNDS = 100 };

struct plan {
    unsigned nodes, every, delay, elements, rounds;
    double millions, hours, step, gigabits;
    const char *policy;
};

/* What a star's process tells. */
struct told {
    uint64_t steps, version, iterations;
};

static const struct plan usual = {.nodes = 16,
                                  .millions = 10,
                                  .every = 50,
                                  .delay = 40,
                                  .elements = 1000,
                                  .rounds = 1,
                                  .hours = 24,
                                  .step = 0.2,
                                  .gigabits = 0.9416, /* as TCP has it */
                                  .policy = "diloco"};

static const char question[] =
    "How many steps of machines does the simulator take in a second, and how\n"
    "long do a day of 16 nodes and an hour of 1,000 take?";

static void count_step(void *context, const struct world_step *step)
{
    (void)step;
    ++*(uint64_t *)context;
}

static struct schema *model(unsigned elements)
{
    const uint64_t shape[1] = {elements};
    struct schema *schema = schema_new();

    if (!schema || schema_add(schema, "w", 1, shape, NULL) != STATUS_OK)
        give_up("no memory");
    return schema;
}

static struct world_config star_of(const struct plan *plan,
                                   const struct schema *schema, uint64_t *steps)
{
    uint64_t rate = (uint64_t)(plan->gigabits * 1e9 / 8);
    uint32_t scale = (uint32_t)(plan->millions * 1e6) / plan->elements;
    const struct world_config config = {
        .hub = {.policy = preset_find(plan->policy)->policy,
                .init = INIT_HUB,
                .run = 1,
                .seed = 1,
                .every = plan->every,
                .delay = plan->delay,
                .miss = MISS_LATE,
                .wait = 60 * SECOND,
                .nodes = plan->nodes,
                .scale = scale,
                .chunk_elements = (CHUNK_ELEMENTS + scale - 1) / scale,
                .staleness = 64,
                .budget = (uint64_t)48 << 20},
        .schema = schema,
        .link = {200 * MICROSECOND, 100 * MICROSECOND, rate, rate, 0},
        .port_bytes_per_second = rate,
        .reconnect = SECOND,
        .job = 300 * MICROSECOND,
        .unencoded = true,
        .unjudged = true,
        .hooks = {.context = steps, .after_step = count_step}};

    return config;
}

static void add_nodes(struct world *world, const struct plan *plan,
                      const struct quadratic *quadratic)
{
    static const float start[MOST_ELEMENTS];

    for (unsigned i = 0; i < plan->nodes; i++) {
        char name[16];
        struct world_node node = {
            .name = name,
            .trainer = {.start = start,
                        .elements = plan->elements,
                        .step = (nanos)(plan->step * (double)SECOND),
                        .step_cv = 0.05,
                        .rate = 1e-3,
                        .samples = 1,
                        .gradient = trainer_quadratic,
                        .context = quadratic}};

        (void)snprintf(name, sizeof name, "n%u", i);
        world_start(world, world_add_node(world, &node));
    }
}

static struct told live(const struct plan *plan)
{
    static float centre[MOST_ELEMENTS];
    const struct quadratic quadratic = {1, centre};
    struct schema *schema = model(plan->elements);
    struct told told = {.steps = 0};
    struct world_config config = star_of(plan, schema, &told.steps);
    struct world *world = world_new(1, &config);
    struct hub_view view;

    for (unsigned i = 0; i < plan->elements; i++)
        centre[i] = (float)i / (float)plan->elements;
    world_start(world, WORLD_HUB);
    add_nodes(world, plan, &quadratic);
    if (!world_run(world, (nanos)(plan->hours * 3600 * (double)SECOND)))
        give_up("%s", world_broken(world));
    hub_look(world_hub(world), world_now(world), &view);
    told.version = view.version;
    told.iterations = trainer_iteration(world_trainer(world, 0));
    world_destroy(&world);
    schema_destroy(&schema);
    return told;
}

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

/* Lives the star in a child, tells of it, and returns its seconds. */
static double measure(const struct plan *plan)
{
    struct told told = {0};
    struct rusage usage;
    double took;
    int ends[2], status = 0;
    pid_t child;

    if (pipe(ends))
        give_up("no pipe");
    child = fork();
    if (child == 0) {
        told = live(plan);
        _exit(write(ends[1], &told, sizeof told) == sizeof told ? 0 : 1);
    }
    (void)close(ends[1]);
    if (child < 0 || read(ends[0], &told, sizeof told) != sizeof told ||
        wait4(child, &status, 0, &usage) != child || status)
        give_up("a star's process has failed");
    (void)close(ends[0]);
    took = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    (void)printf("{\"bench\":\"worlds\",\"compute\":\"surrogate\","
                 "\"nodes\":%u,\"hours\":%g,\"millions\":%g,\"every\":%u,"
                 "\"delay\":%u,\"elements\":%u,\"versions\":%llu,"
                 "\"iterations\":%llu,\"seconds\":%.2f,\"steps\":%llu,"
                 "\"million_per_second\":%.3f,\"mib\":%.0f}\n",
                 plan->nodes, plan->hours, plan->millions, plan->every,
                 plan->delay, plan->elements, (unsigned long long)told.version,
                 (unsigned long long)told.iterations, took,
                 (unsigned long long)told.steps,
                 (double)told.steps / took / 1e6,
                 (double)usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    return took;
}

/* The median of the rounds: a small star is over in a moment. */
static double measure_often(const struct plan *plan)
{
    double took[MOST_ROUNDS] = {0};

    for (unsigned i = 0; i < plan->rounds; i++)
        took[i] = measure(plan);
    return median(took, plan->rounds);
}

/* A minute of 100, 1,000 and 10,000 nodes, against what N log N allows. */
static void grow(struct plan plan)
{
    double first = 0;

    plan.hours = 1.0 / 60;
    plan.millions = 0.025; /* so that all exchange five times */
    for (plan.nodes = 100; plan.nodes <= 10000; plan.nodes *= 10) {
        double took = measure_often(&plan), n = plan.nodes / 100.0;

        if (plan.nodes == 100)
            first = took;
        (void)printf("{\"bench\":\"worlds_growth\",\"nodes\":%u,"
                     "\"seconds_per_minute\":%.3f,\"of_n_log_n\":%.3f}\n",
                     plan.nodes, took,
                     took / first / (n * log(100 * n) / log(100)));
    }
}

static void all_figures(struct plan plan)
{
    (void)measure(&plan);
    plan.nodes = 1000;
    plan.hours = 1;
    plan.elements = 100; /* what a node has stays in the cache */
    (void)measure(&plan);
    grow(plan);
}

int main(int argc, char **argv)
{
    struct plan plan = usual;
    unsigned nodes = 0;
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &nodes, "nodes: one star only"},
        {"rounds", SETTING_COUNT, &plan.rounds,
         "of the growth, of which the median counts (1)"},
        {"hours", SETTING_REAL, &plan.hours, "virtual hours (24)"},
        {"millions", SETTING_REAL, &plan.millions,
         "millions of parameters (10)"},
        {"every", SETTING_COUNT, &plan.every, "k (50)"},
        {"delay", SETTING_COUNT, &plan.delay, "d (40)"},
        {"elements", SETTING_COUNT, &plan.elements,
         "that are real, at most 1,000 (1000)"},
        {"step-time", SETTING_REAL, &plan.step, "seconds (0.2)"},
        {"gigabits", SETTING_REAL, &plan.gigabits, "of each link (0.9416)"},
        {"policy", SETTING_TEXT, &plan.policy, "preset (diloco)"},
    };

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (plan.elements > MOST_ELEMENTS || !preset_find(plan.policy))
        give_up("at most %d elements, and a preset of policies", MOST_ELEMENTS);
    if (!plan.rounds || plan.rounds > MOST_ROUNDS)
        give_up("--rounds is 1 to %d", MOST_ROUNDS);
    if (nodes) {
        plan.nodes = nodes;
        (void)measure(&plan);
    } else {
        all_figures(plan);
    }
    return 0;
}
