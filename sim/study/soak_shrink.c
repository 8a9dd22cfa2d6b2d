#include "sim/study/soak_shrink.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/study/process_pool.h"

enum { LONGEST = 60 /* seconds, of a life */ };

/* ---- one life ---- */

struct attempt {
    const struct soak_plan *plan;
    const struct soak_watcher *watcher;
};

static void run_attempt(void *of, unsigned number, void *result)
{
    const struct attempt *attempt = of;

    (void)number;
    (void)alarm(LONGEST);
    (void)freopen("/dev/null", "w", stderr);
    if (attempt->watcher)
        soak_live(attempt->plan, attempt->watcher, result);
    else
        soak_live_twice(attempt->plan, result);
}

bool soak_try(const struct soak_plan *plan, const struct soak_watcher *watcher,
              struct soak_life *out)
{
    struct attempt attempt = {plan, watcher};
    struct process_pool pool = {.count = 1,
                                .workers = 1,
                                .size = sizeof *out,
                                .of = &attempt,
                                .run = run_attempt};

    if (!process_pool_run(&pool, out))
        return false;
    /* Nothing comes home from a process that died. */
    if (!out->steps)
        (void)snprintf(out->complaint, sizeof out->complaint,
                       "its process dies, or takes more than %d s", LONGEST);
    return true;
}

bool soak_alike(const char *one, const char *other)
{
    for (;;) {
        while (isdigit((unsigned char)*one) || *one == '.')
            one++;
        while (isdigit((unsigned char)*other) || *other == '.')
            other++;
        if (*one != *other)
            return false;
        if (!*one)
            return true;
        one++;
        other++;
    }
}

/* ---- cutting ---- */

struct search {
    const struct soak_watcher *watcher;
    const char *complaint;
    struct soak_plan *best;
    unsigned attempts;
    bool better; /* something was cut in this pass */
};

/* Keeps the plan, which it takes over, if it fails alike. */
static bool keeps(struct search *search, struct soak_plan *plan)
{
    struct soak_life life;

    if (search->attempts < SOAK_ATTEMPTS) {
        search->attempts++;
        if (!soak_try(plan, search->watcher, &life))
            search->attempts = SOAK_ATTEMPTS;
        else if (life.complaint[0] &&
                 soak_alike(life.complaint, search->complaint)) {
            soak_plan_destroy(&search->best);
            search->best = plan;
            search->better = true;
            return true;
        }
    }
    soak_plan_destroy(&plan);
    return false;
}

static struct soak_plan *without(const struct soak_plan *plan, unsigned first,
                                 unsigned count)
{
    struct soak_plan *copy = soak_plan_copy(plan);
    struct script *script = copy->script;

    if (count > script->count - first)
        count = script->count - first;
    script->count -= count;
    memmove(script->list + first, script->list + first + count,
            (script->count - first) * sizeof *script->list);
    return copy;
}

/* All acts that can go, in pieces of half of them, a quarter, ... */
static void cut_script(struct search *search)
{
    for (unsigned size = search->best->script->count; size > 0; size /= 2)
        for (unsigned first = 0; first < search->best->script->count;)
            if (!keeps(search, without(search->best, first, size)))
                first += size;
}

/* A fault and its end may have to go together. */
static void cut_pairs(struct search *search)
{
    for (unsigned i = 0; i < search->best->script->count; i++)
        for (unsigned j = i + 1; j < search->best->script->count; j++) {
            struct soak_plan *one = without(search->best, j, 1);
            struct soak_plan *two = without(one, i, 1);

            soak_plan_destroy(&one);
            if (search->best->script->list[i].process ==
                search->best->script->list[j].process)
                (void)keeps(search, two);
            else
                soak_plan_destroy(&two);
        }
}

/* The last node goes, with what happens to it. */
static bool cut_node(struct search *search)
{
    struct soak_plan *plan = soak_plan_copy(search->best);
    struct script *script = plan->script;
    unsigned kept = 0;

    if (plan->nodes > 1)
        plan->nodes--;
    if (plan->byzantine)
        plan->byzantine--;
    if (plan->options.nodes > plan->nodes)
        plan->options.nodes = plan->nodes;
    for (unsigned i = 0; i < script->count; i++)
        if (script->list[i].process == WORLD_HUB ||
            script->list[i].process < plan->nodes)
            script->list[kept++] = script->list[i];
    script->count = kept;
    if (plan->nodes < search->best->nodes)
        return keeps(search, plan);
    soak_plan_destroy(&plan);
    return false;
}

/* By default, but for the seed, and nothing that was cut grows again. */
static void cut_settings(struct search *search)
{
    for (unsigned i = 0; i < soak_plan_settings(); i++) {
        struct soak_plan *plan = soak_plan_copy(search->best);

        soak_plan_reset(plan, i);
        if (soak_plan_is_default(search->best, i) ||
            plan->seed != search->best->seed ||
            plan->nodes > search->best->nodes ||
            plan->faults > search->best->faults)
            soak_plan_destroy(&plan);
        else
            (void)keeps(search, plan);
    }
}

/* Nothing happens after the last act. */
static void cut_time(struct search *search)
{
    struct soak_plan *plan = soak_plan_copy(search->best);
    nanos last = 0;

    for (unsigned i = 0; i < plan->script->count; i++)
        if (plan->script->list[i].at > last)
            last = plan->script->list[i].at;
    last += SECOND - last % SECOND;
    if (last < plan->faults) {
        plan->faults = last;
        (void)keeps(search, plan);
    } else {
        soak_plan_destroy(&plan);
    }
}

static void round_times(struct search *search)
{
    static const nanos grains[] = {SECOND, 100 * MILLISECOND, 10 * MILLISECOND};

    for (unsigned i = 0; i < search->best->script->count; i++)
        for (unsigned j = 0; j < sizeof grains / sizeof *grains; j++) {
            struct soak_plan *plan = soak_plan_copy(search->best);
            nanos *at = &plan->script->list[i].at;
            bool round = *at % grains[j] == 0;

            *at -= *at % grains[j];
            if (!round && keeps(search, plan))
                break;
            if (round) {
                soak_plan_destroy(&plan);
                break;
            }
        }
}

struct soak_plan *soak_shrink(const struct soak_plan *plan,
                              const struct soak_watcher *watcher,
                              const char *complaint)
{
    struct search search = {.watcher = watcher,
                            .complaint = complaint,
                            .best = soak_plan_copy(plan)};

    do {
        search.better = false;
        cut_script(&search);
        while (cut_node(&search))
            ;
        cut_settings(&search);
        cut_time(&search);
        if (search.best->script->count <= 24)
            cut_pairs(&search);
    } while (search.better && search.attempts < SOAK_ATTEMPTS);
    round_times(&search);
    return search.best;
}

void soak_tell(const struct soak_plan *plan, const char *complaint, FILE *out)
{
    (void)fprintf(out, "# %s\n", complaint);
    soak_plan_print(plan, out);
}
