/* A trainer that follows the pacer, against an oracle that says what must
 * become of each exchange, over many settings and latencies. */
#include "core/prng.h"
#include "node/pacer.h"
#include "tests/check.h"

enum { ITERATIONS = 300, ENDLESS = 100000 };

/* What the test knows of each exchange, by its number. */
struct fate {
    uint64_t offered, due, arrival;
    uint64_t applied; /* iteration, 0: not yet */
    bool given_up, skipped, closed, cut;
};

struct world {
    struct pacer pacer;
    struct prng prng;
    uint64_t latency; /* mean; results take up to twice as long, or half */
    unsigned count;
    struct fate fates[ITERATIONS + 1];
};

static void deliver(struct world *world)
{
    for (unsigned i = 1; i <= world->count; i++)
        if (world->fates[i].arrival <= world->pacer.iteration) {
            pacer_ready(&world->pacer, i);
            if (world->fates[i].skipped)
                pacer_forget(&world->pacer, i, i);
        }
}

/* Blocked: the result comes within the wait, or the trainer gives up. */
static void wait(struct world *world, uint64_t exchange)
{
    struct fate *fate = &world->fates[exchange];

    CHECK(fate->arrival > world->pacer.iteration);
    CHECK(!fate->given_up);
    if (prng_below(&world->prng, 2)) {
        fate->arrival = world->pacer.iteration;
        pacer_ready(&world->pacer, exchange);
        return;
    }
    fate->given_up = true;
    pacer_give_up(&world->pacer, exchange);
}

/* In the last quarter of its time, once, if it has not come. */
static void check_closes(const struct world *world, struct fate *fate)
{
    uint64_t now = world->pacer.iteration, delay = fate->due - fate->offered;

    CHECK(now < fate->due && 4 * (fate->due - now) <= delay + 2);
    CHECK(!fate->closed && fate->arrival > now);
    fate->closed = true;
}

/* What is here of it comes at the next iteration. */
static void check_cut(const struct world *world, struct fate *fate)
{
    CHECK(!fate->cut && fate->arrival > world->pacer.iteration);
    fate->cut = true;
    fate->arrival = world->pacer.iteration + 1;
}

static void do_what_is_due(struct world *world)
{
    uint64_t now = world->pacer.iteration, exchange = 0;
    enum pacer_act act;

    while ((act = pacer_due(&world->pacer, &exchange)) != PACER_GO) {
        struct fate *fate = &world->fates[exchange];

        CHECK(!fate->applied && !fate->skipped);
        if (act == PACER_CLOSE) {
            check_closes(world, fate);
            continue;
        }
        CHECK(now >= fate->due);
        if (act == PACER_CUT) {
            check_cut(world, fate);
            continue;
        }
        if (act == PACER_WAIT) {
            wait(world, exchange);
            continue;
        }
        fate->applied = act == PACER_APPLY ? now : 0;
        fate->skipped = act == PACER_SKIP;
        if (fate->skipped)
            pacer_skip(&world->pacer, exchange);
        else
            pacer_done(&world->pacer, exchange);
    }
}

static void train(struct world *world, uint64_t delay)
{
    for (uint64_t i = 1; i <= ITERATIONS; i++) {
        uint64_t exchange, spread = world->latency / 2 * 3 + 1;

        pacer_tick(&world->pacer);
        deliver(world);
        do_what_is_due(world);
        if (!pacer_offer(&world->pacer, false, &exchange))
            continue;
        CHECK_EQUAL(++world->count, exchange);
        world->fates[exchange] =
            (struct fate){.offered = i,
                          .due = i + delay,
                          .arrival = i + world->latency / 2 + 1 +
                                     prng_below(&world->prng, spread)};
        if (delay == 0)
            do_what_is_due(world);
    }
}

/* Was it there when it was due, or made to come by waiting? */
static bool was_missed(const struct fate *fate)
{
    return fate->given_up ||
           (fate->due <= ITERATIONS && fate->arrival > fate->due) || fate->cut;
}

/* When it must have been applied: it is due, it is there, and so is what came
 * before it and was not skipped. */
static void judge(const struct world *world, uint64_t delay, enum miss miss)
{
    uint64_t missed = 0, soonest = 0;

    for (unsigned i = 1; i <= world->count; i++) {
        const struct fate *fate = &world->fates[i];
        bool skips = miss == MISS_SKIP && delay > 0 && was_missed(fate);

        missed += was_missed(fate);
        CHECK_EQUAL(skips, fate->skipped);
        CHECK(!fate->cut || miss == MISS_CUT);
        CHECK(!fate->closed || miss == MISS_CUT);
        if (skips)
            continue;
        soonest = soonest > fate->due ? soonest : fate->due;
        soonest = soonest > fate->arrival ? soonest : fate->arrival;
        CHECK_EQUAL(soonest <= ITERATIONS ? soonest : 0, fate->applied);
    }
    CHECK_EQUAL(missed, world->pacer.missed);
}

static void every_result_has_the_fate_that_the_policy_gives_it(void)
{
    static const uint64_t everies[] = {1, 2, 3, 7, 20};
    static const uint64_t delays[] = {0, 1, 2, 3, 10, 20, 50};
    static const uint64_t latencies[] = {0, 1, 3, 10, 40, ENDLESS};

    for (unsigned k = 0; k < 5; k++)
        for (unsigned d = 0; d < 7; d++)
            for (unsigned trial = 0; trial < 6 * MISS_COUNT; trial++) {
                enum miss miss = trial % MISS_COUNT;
                struct world world = {.latency = latencies[trial / MISS_COUNT]};
                struct msg_local_tune schedule = {.attached = 1,
                                                  .offering = 1,
                                                  .every = everies[k],
                                                  .delay = delays[d],
                                                  .miss = miss};

                pacer_init(&world.pacer);
                pacer_schedule(&world.pacer, &schedule);
                prng_seed(&world.prng, 100 * k + 10 * d + trial);
                train(&world, delays[d]);
                judge(&world, delays[d], miss);
            }
}

void add_node_pacer_fates_tests(CU_pSuite suite)
{
    TEST(every_result_has_the_fate_that_the_policy_gives_it);
}
