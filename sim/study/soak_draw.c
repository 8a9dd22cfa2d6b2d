/* A seed's plan: everything that may vary does, and what is there at all is
 * drawn first. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/prng.h"
#include "sim/study/soak.h"

struct draw {
    struct prng prng;
    struct soak_plan *plan;
    unsigned kinds;             /* of faults, bits 1 << row of faults[] */
    nanos busy[SOAK_NODES + 1]; /* until when a process has its fault; the
                                   hub's is the last */
};

static uint64_t below(struct draw *draw, uint64_t bound)
{
    return prng_below(&draw->prng, bound);
}

/* Of so many seeds, one. */
static bool one_in(struct draw *draw, unsigned seeds)
{
    return below(draw, seeds) == 0;
}

/* In whole milliseconds, as people read it. */
static nanos between(struct draw *draw, nanos low, nanos high)
{
    nanos span = (high - low) / MILLISECOND;

    return low + (nanos)below(draw, (uint64_t)span + 1) * MILLISECOND;
}

static void count(struct draw *draw, const char *name, uint64_t value)
{
    soak_plan_put(draw->plan, name, "%llu", (unsigned long long)value);
}

static void span(struct draw *draw, const char *name, nanos value)
{
    soak_plan_put(draw->plan, name, "%lldns", (long long)value);
}

static void flag(struct draw *draw, const char *name, unsigned one_in_seeds)
{
    soak_plan_put(draw->plan, name, "%d", one_in(draw, one_in_seeds));
}

/* Takes a setting, unless it does not go with the others. */
static void wish(struct draw *draw, const char *name, const char *value)
{
    struct options before = draw->plan->options;
    struct hub_config config;
    struct why why;

    soak_plan_put(draw->plan, name, "%s", value);
    if (soak_plan_configure(draw->plan, &config, &why) != STATUS_OK)
        draw->plan->options = before;
}

/* ---- the star ---- */

/* A matrix, and where there is room for it a bias, which is never encoded. */
static void draw_model(struct draw *draw)
{
    uint64_t length = 1 + below(draw, 4), chunks = 1 + below(draw, SOAK_CHUNKS);

    if (draw->plan->counts) {
        length = draw->plan->nodes * SOAK_STINTS;
        count(draw, "chunk", length * sizeof(float));
        count(draw, "elements", chunks * length);
        flag(draw, "bias", 2);
        return;
    }
    count(draw, "chunk", length * sizeof(float));
    count(draw, "elements", chunks * length - below(draw, length));
    flag(draw, "bias", 2);
    flag(draw, "apart", 2);
}

static void draw_star(struct draw *draw)
{
    uint64_t most = one_in(draw, 16) ? SOAK_NODES : SOAK_NODES / 2;

    count(draw, "nodes", 2 + below(draw, most - 1));
    count(draw, "required", 1 + below(draw, draw->plan->nodes));
    span(draw, "step", between(draw, 10 * MILLISECOND, 200 * MILLISECOND));
    span(draw, "delay-by", between(draw, MILLISECOND, 40 * MILLISECOND));
    span(draw, "reconnect", between(draw, 100 * MILLISECOND, SECOND));
    span(draw, "job", (nanos)(1 + below(draw, 1000)) * MICROSECOND);
    flag(draw, "uneven", 2);
    if (one_in(draw, 2))
        count(draw, "link",
              (draw->plan->counts ? 64000u : 4000u) << below(draw, 10));
    if (one_in(draw, 4))
        count(draw, "lost", 1 + below(draw, 50));
}

/* ---- what the hub does ---- */

/* Rules beside those of the preset, where they go together. */
static void draw_rules(struct draw *draw)
{
#define MAYBE(kind)                                                            \
    if (one_in(draw, 4))                                                       \
        wish(draw, #kind, kind##_rules[below(draw, kind##_rule_count)]->name);
    MAYBE(gate)
    MAYBE(select)
    MAYBE(reduce)
    MAYBE(merge)
    MAYBE(receive)
    MAYBE(damping)
    MAYBE(preempt)
#undef MAYBE
    soak_plan_put(draw->plan, "quorum", "%g", (double)below(draw, 5) / 4);
    soak_plan_put(draw->plan, "grace", "%g", (double)below(draw, 30) / 10);
    if (one_in(draw, 4))
        soak_plan_put(draw->plan, "rollback", "%llu",
                      (unsigned long long)below(draw, 4));
}

/* Rules that add, so that the centre can be counted: see
 * sim/study/soak_count.h. */
static void draw_counting(struct draw *draw)
{
    soak_plan_put(draw->plan, "policy", one_in(draw, 4) ? "ddp" : "mean");
    soak_plan_put(draw->plan, "outer-lr", "1");
    soak_plan_put(draw->plan, "outer-momentum", "0");
    count(draw, "staleness", 1000000); /* nothing weighs less for that */
    if (one_in(draw, 2))
        wish(draw, "gate", gate_rules[below(draw, gate_rule_count)]->name);
    soak_plan_put(draw->plan, "quorum", "%g", (double)below(draw, 5) / 4);
    soak_plan_put(draw->plan, "grace", "%g", (double)below(draw, 30) / 10);
    wish(draw, "init", one_in(draw, 2) ? "hub" : "tournament");
    count(draw, "tournament", 1 + below(draw, 30));
    flag(draw, "dylu", 4);
}

static void draw_policy(struct draw *draw)
{
    const struct preset *preset = &presets[below(draw, preset_count)];

    wish(draw, "policy", preset->name);
    if (preset->policy.exchange == EXCHANGE_DELTA && one_in(draw, 4)) {
        soak_plan_put(draw->plan, "outer-lr", "0.05");
        soak_plan_put(draw->plan, "outer-momentum", "0");
        wish(draw, "exchange", "gradient");
    }
    if (one_in(draw, 2))
        draw_rules(draw);
    wish(draw, "init", init_words[below(draw, INIT_COUNT)].text);
    count(draw, "tournament", 1 + below(draw, 30));
    wish(draw, "optimizer", optimizer_words[below(draw, OPTIMIZER_COUNT)].text);
    flag(draw, "dylu", 4);
    flag(draw, "evaluates", 2);
    flag(draw, "reviews", 2);
}

static void draw_schedule(struct draw *draw)
{
    static const unsigned halves[] = {0, 1, 2, 5};
    uint64_t every = 1 + below(draw, 12);
    char fragments[2] = {(char)('1' + below(draw, 4)), '\0'};
    bool tight;

    count(draw, "every", every);
    count(draw, "delay", every * halves[below(draw, 4)] / 2);
    if (strcmp(draw->plan->options.policy, "auto") == 0) {
        if (one_in(draw, 2))
            wish(draw, "every", "auto");
        if (one_in(draw, 2))
            wish(draw, "delay", "auto");
    }
    span(draw, "wait", between(draw, 100 * MILLISECOND, 3 * SECOND));
    wish(draw, "miss", miss_words[below(draw, MISS_COUNT)].text);
    if (one_in(draw, 2))
        wish(draw, "fragments", fragments);
    /* A gate that does not wait for slow nodes leaves them behind. */
    tight = !draw->plan->options.gate[0] && one_in(draw, 3);
    if (!draw->plan->counts)
        count(draw, "staleness", tight ? 3 : 1000);
    if (one_in(draw, 4) && !draw->plan->counts)
        soak_plan_put(draw->plan, "saves", "no");
    span(draw, "save", between(draw, 100 * MILLISECOND, 5 * SECOND));
    span(draw, "evaluate", between(draw, 100 * MILLISECOND, 5 * SECOND));
}

static void draw_tasks(struct draw *draw)
{
    char tasks[4];

    if (one_in(draw, 2))
        return;
    (void)snprintf(tasks, sizeof tasks, "%u", 1 + (unsigned)below(draw, 30));
    wish(draw, "tasks", tasks);
    span(draw, "task-time", between(draw, 3 * SECOND, 20 * SECOND));
    count(draw, "task-steps", 1 + below(draw, 20));
}

static const char *codec(struct draw *draw)
{
    return one_in(draw, 2) ? "raw" : codecs[below(draw, CODEC_COUNT)].name;
}

/* Bytes per second: a round of all takes some seconds at worst. */
static void rate(struct draw *draw, const char *name)
{
    unsigned least = draw->plan->counts ? 3200 : 200;

    if (one_in(draw, 3))
        soak_plan_put(draw->plan, name, "%uB/s", least << below(draw, 8));
}

static void draw_flow(struct draw *draw)
{
    wish(draw, "codec-up", codec(draw));
    wish(draw, "codec-down", codec(draw));
    rate(draw, "up");
    rate(draw, "down");
    if (one_in(draw, 2))
        count(draw, "window", 1 + 16 * below(draw, 6));
    if (one_in(draw, 2))
        count(draw, "budget", 1 + below(draw, 200));
    if (one_in(draw, 2))
        count(draw, "late", 1 + below(draw, 8));
    if (one_in(draw, 2))
        count(draw, "twice", 1 + below(draw, 8));
}

static void draw_byzantine(struct draw *draw)
{
    if (!one_in(draw, 4))
        return;
    count(draw, "liars", 1 + below(draw, (draw->plan->nodes + 1) / 2));
    count(draw, "lies", 1 + below(draw, 60));
    if (draw->plan->counts)
        soak_plan_put(draw->plan, "codec-up", "raw");
    if (draw->plan->options.nodes > draw->plan->nodes - draw->plan->byzantine)
        count(draw, "required", draw->plan->nodes - draw->plan->byzantine);
}

/* ---- what goes wrong ---- */

/* Whom a fault is about. */
enum scope { ONE, SOME, ALL, HUB };

static const struct {
    enum script_verb verb, remedy;
    enum scope scope;
} faults[] = {
    {SCRIPT_CRASH, SCRIPT_START, ONE},  {SCRIPT_LOSE, SCRIPT_START, ONE},
    {SCRIPT_LEAVE, SCRIPT_START, ONE},  {SCRIPT_FREEZE, SCRIPT_THAW, ONE},
    {SCRIPT_CUT, SCRIPT_REPAIR, ONE},   {SCRIPT_UNPLUG, SCRIPT_REPAIR, ONE},
    {SCRIPT_CRASH, SCRIPT_START, HUB},  {SCRIPT_LOSE, SCRIPT_START, HUB},
    {SCRIPT_WIPE, SCRIPT_START, HUB},   {SCRIPT_FREEZE, SCRIPT_THAW, HUB},
    {SCRIPT_CUT, SCRIPT_REPAIR, SOME},  {SCRIPT_UNPLUG, SCRIPT_REPAIR, SOME},
    {SCRIPT_CRASH, SCRIPT_START, ALL},  {SCRIPT_LOSE, SCRIPT_START, ALL},
    {SCRIPT_FREEZE, SCRIPT_THAW, SOME},
};

enum { FAULTS = sizeof faults / sizeof *faults };

static void schedule(struct draw *draw, nanos at, enum script_verb verb,
                     unsigned process)
{
    script_add(draw->plan->script, (struct script_event){at, verb, process});
}

/* A fault of one process and its end, unless it has another one by then. */
static void afflict(struct draw *draw, unsigned fault, unsigned process,
                    nanos from, nanos until)
{
    nanos *busy = &draw->busy[process == WORLD_HUB ? SOAK_NODES : process];

    if (*busy > from)
        return;
    *busy = until + MILLISECOND;
    schedule(draw, from, faults[fault].verb, process);
    schedule(draw, until, faults[fault].remedy, process);
}

static void draw_fault(struct draw *draw, nanos at)
{
    unsigned nodes = (unsigned)draw->plan->nodes, fault;
    nanos until = at + between(draw, MILLISECOND,
                               one_in(draw, 4) ? 8 * SECOND : 2 * SECOND);

    do
        fault = (unsigned)below(draw, FAULTS);
    while (!(draw->kinds >> fault & 1));
    if (faults[fault].scope == HUB)
        afflict(draw, fault, WORLD_HUB, at, until);
    else if (faults[fault].scope == ONE)
        afflict(draw, fault, (unsigned)below(draw, nodes), at, until);
    else
        for (unsigned i = 0; i < nodes; i++)
            if (faults[fault].scope == ALL || one_in(draw, 2))
                afflict(draw, fault, i, at, until);
}

/* All at once, or one after the other. */
static void draw_starts(struct draw *draw)
{
    nanos longest = one_in(draw, 3) ? 0 : 4 * SECOND;

    for (unsigned i = 0; i < draw->plan->nodes; i++) {
        draw->busy[i] = i ? between(draw, 0, longest) : 0;
        schedule(draw, draw->busy[i]++, SCRIPT_START, i);
    }
    draw->busy[SOAK_NODES] = between(draw, 0, SECOND);
    schedule(draw, draw->busy[SOAK_NODES]++, SCRIPT_START, WORLD_HUB);
}

static void draw_faults(struct draw *draw)
{
    nanos pause = between(draw, 20 * MILLISECOND, 3 * SECOND);
    nanos at = (nanos)below(draw, 3) * SECOND;

    draw->kinds = (unsigned)below(draw, 1u << FAULTS);
    for (; draw->kinds && at < draw->plan->faults;
         at += between(draw, MILLISECOND, pause))
        draw_fault(draw, at);
}

struct soak_plan *soak_draw(uint64_t seed)
{
    struct draw draw = {.plan = soak_plan_new()};
    struct hub_config config;
    enum status status;

    prng_seed(&draw.prng, seed);
    count(&draw, "seed", seed);
    soak_plan_put(draw.plan, "counts", "%d", seed % 3 == 0);
    draw_star(&draw);
    draw_model(&draw);
    if (draw.plan->counts)
        draw_counting(&draw);
    else
        draw_policy(&draw);
    draw_tasks(&draw);
    draw_schedule(&draw);
    draw_flow(&draw);
    draw_byzantine(&draw);
    draw_starts(&draw);
    draw_faults(&draw);
    script_sort(draw.plan->script);
    status = soak_plan_configure(draw.plan, &config, NULL);
    assert(status == STATUS_OK);
    return draw.plan;
}
