/* Runs the soak: many seeds, each twice.
 *
 *     STARSWITCH_SOAK_SEEDS=200 STARSWITCH_SOAK_FIRST=17 run-tests soak
 *
 * STARSWITCH_SOAK_TRACE=FILE keeps the whole transcript of a failing seed. */
#include "tests/soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { SEEDS = 200, SEEDS_SLOW = 12 };

static void keep_line(void *context, const char *line)
{
    struct soak *soak = context;
    struct soak_tail *tail = soak->tail;

    (void)snprintf(tail->lines[tail->count++ % SOAK_LINES], SOAK_LINE_BYTES,
                   "%s", line);
    if (tail->file)
        (void)fprintf(tail->file, "%s\n", line);
}

static bool run_went_wrong(void *context, struct world *world)
{
    const struct soak *soak = context;

    (void)world;
    return soak->complaint[0] != '\0';
}

static bool all_exchange(void *context, struct world *world)
{
    const struct soak *soak = context;

    if (soak->complaint[0])
        return true;
    for (unsigned i = 0; i < soak->nodes; i++) {
        struct node_view view;

        if (soak->decided_since[i] < 3)
            return false;
        node_look(world_node(world, i), &view);
        if (!view.attached)
            return false;
    }
    return true;
}

static bool all_ended(void *context, struct world *world)
{
    const struct soak *soak = context;

    if (soak->complaint[0])
        return true;
    for (unsigned i = 0; i < soak->nodes; i++)
        if (!node_ended(world_node(world, i)))
            return false;
    return hub_ended(world_hub(world));
}

/* Why it did not get that far: who is missing. */
static void complain_of_slow_ones(struct soak *soak, const char *what)
{
    char who[SOAK_NODES * 12 + 1] = "";
    size_t at = 0;

    if (world_broken(soak->world))
        return;
    for (unsigned i = 0; i < soak->nodes; i++) {
        struct node_view view;

        node_look(world_node(soak->world, i), &view);
        at += (size_t)snprintf(who + at, sizeof who - at, " n%u:%s%llu", i + 1,
                               view.attached ? "+" : "-",
                               (unsigned long long)soak->decided_since[i]);
    }
    soak_complain(soak, "%s; attached and decided:%s", what, who);
}

static void live(struct soak *soak)
{
    struct world *world = soak->world;

    soak_start(soak);
    (void)world_run_until(world, SOAK_FAULTS, run_went_wrong, soak);
    if (soak->complaint[0] || world_broken(world))
        return;
    soak_heal(soak);
    if (!world_run_until(world, world_now(world) + SOAK_RECOVERY,
                         all_exchange, soak))
        complain_of_slow_ones(soak, "not all nodes exchange again");
    if (soak->complaint[0] || world_broken(world))
        return;
    world_leave(world, WORLD_HUB);
    if (!world_run_until(world, world_now(world) + SOAK_RECOVERY, all_ended,
                         soak))
        complain_of_slow_ones(soak, "the run does not end");
}

/* Lives a seed once; returns its hash, the complaint in `out`. */
static uint64_t run_seed(uint64_t seed, struct soak_tail *tail,
                         struct why *out)
{
    struct soak *soak = calloc(1, sizeof *soak);
    uint64_t hash;

    if (!soak)
        abort();
    soak->seed = seed;
    soak->tail = tail;
    soak->config.hooks.line = tail ? keep_line : NULL;
    soak_configure(soak);
    live(soak);
    if (world_broken(soak->world))
        soak_complain(soak, "%s", world_broken(soak->world));
    (void)because(out, STATUS_OK, "%s", soak->complaint);
    hash = world_history(soak->world);
    world_destroy(&soak->world);
    exempt_destroy(&soak->exempt);
    schema_destroy(&soak->schema);
    free(soak);
    return hash;
}

/* Lives the seed again to show how it ended. */
static void show(uint64_t seed, const char *complaint)
{
    struct soak_tail *tail = calloc(1, sizeof *tail);
    const char *file = getenv("STARSWITCH_SOAK_TRACE");
    struct why again;

    if (!tail)
        abort();
    tail->file = file ? fopen(file, "w") : NULL;
    (void)run_seed(seed, tail, &again);
    if (tail->file)
        (void)fclose(tail->file);
    (void)printf("\nSeed %llu: %s.\nIts last lines:\n",
                 (unsigned long long)seed, complaint);
    for (unsigned i = tail->count > SOAK_LINES ? tail->count - SOAK_LINES : 0;
         i < tail->count; i++)
        (void)puts(tail->lines[i % SOAK_LINES]);
    (void)printf("Again: STARSWITCH_SOAK_FIRST=%llu STARSWITCH_SOAK_SEEDS=1 "
                 "%s/run-tests soak\n",
                 (unsigned long long)seed, build_folder());
    free(tail);
}

static bool check_seed(uint64_t seed)
{
    struct why first, second;
    uint64_t hash = run_seed(seed, NULL, &first);

    if (!first.text[0] && run_seed(seed, NULL, &second) != hash)
        (void)because(&first, STATUS_OK,
                      "two lives of it have different histories");
    if (first.text[0])
        show(seed, first.text);
    return CHECK_TEXT("", first.text);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void seeded_lives_keep_every_promise(void)
{
    uint64_t first = number_from("STARSWITCH_SOAK_FIRST", 1);
    uint64_t count = number_from("STARSWITCH_SOAK_SEEDS",
                                 runs_slowly() ? SEEDS_SLOW : SEEDS);
    unsigned failures = 0;

    for (uint64_t seed = first; seed < first + count && failures < 3; seed++)
        failures += !check_seed(seed);
}

void add_soak_tests(CU_pSuite suite)
{
    TEST(seeded_lives_keep_every_promise);
}
