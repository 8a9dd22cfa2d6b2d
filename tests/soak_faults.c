/* What goes wrong in a soak, and when it is mended. */
#include <assert.h>

#include "tests/soak.h"

static enum soak_health *health_of(struct soak *soak, unsigned process)
{
    return process == WORLD_HUB ? &soak->hub_health : &soak->health[process];
}

static void start(struct soak *soak, unsigned process)
{
    if (process == WORLD_HUB)
        soak_judge_forget(soak);
    world_start(soak->world, process);
    *health_of(soak, process) = HEALTHY;
}

static void mend(struct soak *soak, unsigned process)
{
    enum soak_health *health = health_of(soak, process);

    if (*health == DOWN)
        start(soak, process);
    else if (*health == FROZEN)
        world_thaw(soak->world, process);
    else if (*health == CUT)
        world_repair(soak->world, process);
    *health = HEALTHY;
}

static void act_mend(void *context, struct world *world)
{
    struct soak_remedy *remedy = context;

    (void)world;
    mend(remedy->soak, remedy->process);
}

static void mend_later(struct soak *soak, unsigned process, nanos longest)
{
    struct soak_remedy *remedy = &soak->remedies[soak->remedy_count++];
    nanos delay = (nanos)soak_below(soak, (uint64_t)longest);

    assert(soak->remedy_count <= SOAK_REMEDIES);
    *remedy = (struct soak_remedy){soak, process};
    world_at(soak->world, world_now(soak->world) + delay, act_mend, remedy);
}

static void break_process(struct soak *soak, unsigned process)
{
    enum soak_health *health = health_of(soak, process);
    uint64_t die = soak_below(soak, process == WORLD_HUB ? 3 : 7);

    if (die < 2) {
        world_crash(soak->world, process, die == 1);
        *health = DOWN;
    } else if (die == 2) {
        world_freeze(soak->world, process);
        *health = FROZEN;
    } else if (die < 5) {
        world_cut(soak->world, process, die == 4);
        *health = CUT;
    } else if (die == 5) {
        world_leave(soak->world, process);
        *health = DOWN;
    }
    mend_later(soak, process, soak_below(soak, 3) ? 2 * SECOND : 8 * SECOND);
}

static void act_break(void *context, struct world *world)
{
    struct soak *soak = context;
    unsigned process = (unsigned)soak_below(soak, soak->nodes);
    nanos pause = (nanos)soak_below(soak, (uint64_t)SECOND);

    if (soak_below(soak, 10) == 0)
        process = WORLD_HUB;
    if (*health_of(soak, process) == HEALTHY)
        break_process(soak, process);
    if (world_now(world) + pause < SOAK_FAULTS &&
        soak->remedy_count < SOAK_REMEDIES / 2)
        world_at(world, world_now(world) + pause, act_break, soak);
}

void soak_start(struct soak *soak)
{
    soak->hub_health = DOWN;
    for (unsigned i = 0; i < soak->nodes; i++)
        soak->health[i] = DOWN;
    mend_later(soak, WORLD_HUB, SECOND);
    for (unsigned i = 0; i < soak->nodes; i++)
        mend_later(soak, i, i ? 4 * SECOND : 1);
    world_at(soak->world, (nanos)soak_below(soak, 3) * SECOND, act_break,
             soak);
}

void soak_heal(struct soak *soak)
{
    mend(soak, WORLD_HUB);
    for (unsigned i = 0; i < soak->nodes; i++) {
        mend(soak, i);
        if (node_ended(world_node(soak->world, i)))
            start(soak, i);
    }
    for (unsigned i = 0; i < SOAK_NODES; i++)
        soak->decided_since[i] = 0;
}
