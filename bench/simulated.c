/* The question of end_to_end.c for models that are too large for this machine:
 * the hub and the nodes of production on a virtual star, in virtual time. Of
 * the model there are 1,000 elements, each of which counts for many on the
 * wire (struct extent); the trainer moves its parameters and computes nothing
 * (a surrogate). */
#include <stdio.h>
#include <stdlib.h>

#include "bench/kit/kit.h"
#include "sim/models.h"
#include "sim/world.h"

enum { ELEMENTS = 1000, CHUNK_ELEMENTS = 1 << 18, MOST_NODES = 64 };

#define DAY (86400 * SECOND)

static struct {
    unsigned nodes, millions, rounds, every, delay;
    double step, gigabits;
} settings = {.nodes = 8,
              .millions = 100,
              .rounds = 5,
              .every = 100,
              .delay = 80,
              .step = 0.1,
              .gigabits = 0.9416}; /* of 1 Gbit/s, as TCP has it */

static const char question[] =
    "How many iterations a second does a star do, beside a ring, with a model\n"
    "that is too large for this machine? In virtual time.";

static const struct drift drifting = {0.25F};

static struct schema *model(void)
{
    const uint64_t shape[2] = {ELEMENTS, 1};
    struct schema *schema = schema_new();

    if (!schema || schema_add(schema, "w", 2, shape, NULL) != STATUS_OK)
        give_up("no memory");
    return schema;
}

static void add_nodes(struct world *world)
{
    static const float start[ELEMENTS];

    for (unsigned i = 0; i < settings.nodes; i++) {
        char name[16];
        struct world_node node = {
            .name = name,
            .trainer = {.start = start,
                        .elements = ELEMENTS,
                        .step = (nanos)(settings.step * (double)SECOND),
                        .rate = 1e-6,
                        .samples = 1,
                        .gradient = trainer_drift,
                        .context = &drifting}};

        (void)snprintf(name, sizeof name, "n%u", i);
        world_start(world, world_add_node(world, &node));
    }
}

/* Lets a second pass; returns the version of the centre. */
static uint64_t pass(struct world *world)
{
    struct hub_view view;

    if (!world_run(world, world_now(world) + SECOND))
        give_up("%s", world_broken(world));
    if (world_now(world) > DAY)
        give_up("no %u rounds within a day", settings.rounds + 2);
    hub_look(world_hub(world), world_now(world), &view);
    return view.version;
}

/* Iterations a second of the slowest node, over `rounds` exchanges after the
 * first two. */
static double rate_of(struct world_config *config)
{
    struct world *world = world_new(1, config);
    nanos begin = 0, span = 0;
    uint64_t version = 0, first = 0, done[MOST_NODES] = {0};
    double slowest = 0;

    world_start(world, WORLD_HUB);
    add_nodes(world);
    while (!first || version < first + settings.rounds) {
        version = pass(world);
        if (first || version < 2)
            continue;
        first = version;
        begin = world_now(world);
        for (unsigned i = 0; i < settings.nodes; i++)
            done[i] = trainer_iteration(world_trainer(world, i));
    }
    span = world_now(world) - begin;
    for (unsigned i = 0; i < settings.nodes; i++) {
        uint64_t now = trainer_iteration(world_trainer(world, i));
        double rate = (double)(now - done[i]) * (double)SECOND / (double)span;

        if (i == 0 || rate < slowest)
            slowest = rate;
    }
    world_destroy(&world);
    return slowest;
}

static struct world_config star_of(const char *policy, uint64_t every,
                                   uint64_t delay, enum codec_id codec,
                                   const struct schema *schema)
{
    uint64_t rate = (uint64_t)(settings.gigabits * 1e9 / 8);
    uint32_t scale = settings.millions * 1000000 / ELEMENTS;
    struct world_config config = {
        .hub = {.policy = preset_find(policy)->policy,
                .init = INIT_HUB,
                .run = 1,
                .seed = 1,
                .every = every,
                .delay = delay,
                .miss = MISS_LATE,
                .wait = DAY,
                .nodes = settings.nodes,
                .scale = scale,
                .chunk_elements = (CHUNK_ELEMENTS + scale - 1) / scale,
                .codec_up = codec,
                .codec_down = codec,
                .staleness = 64,
                .budget = (uint64_t)48 << 20},
        .schema = schema,
        .link = {200 * MICROSECOND, 100 * MICROSECOND, rate, rate, 0},
        .port_bytes_per_second = rate,
        .reconnect = SECOND,
        .job = 300 * MICROSECOND,
        .unencoded = true,
        .unjudged = true};

    return config;
}

int main(int argc, char **argv)
{
    const struct setting list[] = {
        {"nodes", SETTING_COUNT, &settings.nodes, "nodes (8)"},
        {"millions", SETTING_COUNT, &settings.millions,
         "millions of parameters (100)"},
        {"rounds", SETTING_COUNT, &settings.rounds, "exchanges (5)"},
        {"every", SETTING_COUNT, &settings.every, "k (100)"},
        {"delay", SETTING_COUNT, &settings.delay, "d (80)"},
        {"step-time", SETTING_REAL, &settings.step,
         "seconds of an iteration (0.1)"},
        {"gigabits", SETTING_REAL, &settings.gigabits,
         "goodput of each link (0.9416: 1 Gbit/s)"},
    };
    struct schema *schema = model();
    struct world_config ours, every;
    double n, rate, star, ring, bytes;

    (void)settings_read(argc, argv, question, list, sizeof list / sizeof *list);
    if (settings.nodes > MOST_NODES || settings.millions > 4000)
        give_up("at most %d nodes and 4000 million parameters", MOST_NODES);
    n = settings.nodes;
    bytes = 4e6 * settings.millions;
    ours =
        star_of("diloco", settings.every, settings.delay, CODEC_INT8, schema);
    every = star_of("mean", 1, 0, CODEC_RAW, schema);
    rate = rate_of(&ours);
    star = rate_of(&every);
    ring =
        settings.step + 2 * (n - 1) / n * bytes / (settings.gigabits * 1e9 / 8);
    (void)printf("{\"bench\":\"simulated\",\"compute\":\"surrogate\","
                 "\"nodes\":%u,\"millions\":%u,\"rounds\":%u,\"every\":%u,"
                 "\"delay\":%u,\"step_s\":%.3f,\"rate\":%.3f,"
                 "\"star_rate\":%.4f,\"times_star\":%.1f,\"ring_rate\":%.4f,"
                 "\"times_ring\":%.1f}\n",
                 settings.nodes, settings.millions, settings.rounds,
                 settings.every, settings.delay, settings.step, rate, star,
                 rate / star, 1 / ring, rate * ring);
    schema_destroy(&schema);
    return 0;
}
