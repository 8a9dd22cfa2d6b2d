/* A life: its plan is played, healed and ended. */
#include "sim/study/soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/soak_inside.h"

static bool is_wrong(const struct life *life)
{
    return life->out->complaint[0] != '\0' || world_broken(life->world);
}

static bool went_wrong(void *context, struct world *world)
{
    (void)world;
    return is_wrong(context);
}

/* ---- faults ---- */

/* An act, and whose. */
struct errand {
    struct life *life;
    const struct script_event *event;
};

static void start_hub(struct life *life)
{
    world_start(life->world, WORLD_HUB);
    judge_hub_start(life);
}

static void run_errand(void *context, struct world *world)
{
    const struct errand *errand = context;
    struct life *life = errand->life;
    const struct script_event *event = errand->event;
    const char *words = NULL;

    if (life->watcher && life->watcher->complain)
        words = life->watcher->complain(life->watcher->of, world, event);
    if (words)
        life_complain(life, "%s", words);
    life->out->verbs[event->verb]++;
    if (event->process != WORLD_HUB && event->verb == SCRIPT_LEAVE)
        life->leaves[event->process] = true;
    else if (event->process != WORLD_HUB && event->verb == SCRIPT_START)
        life->leaves[event->process] = false;
    if (event->verb == SCRIPT_START && event->process == WORLD_HUB)
        start_hub(life);
    else
        script_event_run(event, world);
}

static struct errand *send_errands(struct life *life)
{
    const struct script *script = life->plan->script;
    struct errand *errands = calloc(script->count + 1, sizeof *errands);

    if (!errands)
        abort();
    for (unsigned i = 0; i < script->count; i++) {
        errands[i] = (struct errand){life, &script->list[i]};
        if (script->list[i].at < life->plan->faults)
            world_at(life->world, script->list[i].at, run_errand, &errands[i]);
    }
    return errands;
}

static void mend(struct life *life, unsigned node)
{
    struct world *world = life->world;

    world_thaw(world, node);
    world_repair(world, node);
    if (life->leaves[node] || !world_node(world, node) ||
        node_ended(world_node(world, node)))
        world_start(world, node);
}

/* All processes run, all links work; who lies is gone, unless nobody waits for
 * it: one whose offers never come would hold up a gate that waits for all. */
static void heal(struct life *life)
{
    bool stay = !life->config.hub.policy.gate->batch &&
                life->config.hub.init != INIT_TOURNAMENT;

    life->healed = true;
    world_thaw(life->world, WORLD_HUB);
    if (!world_hub(life->world))
        start_hub(life);
    for (unsigned i = 0; i < life->plan->nodes; i++) {
        if (i < life->honest || stay)
            mend(life, i);
        else
            world_crash(life->world, i, false);
    }
    judge_heal(life);
}

/* ---- how far everybody is ---- */

static bool is_founded(void *context, struct world *world)
{
    struct life *life = context;

    (void)world;
    return is_wrong(life) || judge_is_founded(life);
}

static bool all_exchange(void *context, struct world *world)
{
    const struct life *life = context;

    if (is_wrong(life))
        return true;
    for (unsigned i = 0; i < life->honest; i++) {
        struct node_view view;

        if (life->judge.decided_since[i] < 3)
            return false;
        node_look(world_node(world, i), &view);
        if (!view.attached)
            return false;
    }
    return true;
}

static bool all_answered(void *context, struct world *world)
{
    const struct life *life = context;

    (void)world;
    return is_wrong(life) || !life->judge.owed;
}

static bool all_ended(void *context, struct world *world)
{
    const struct life *life = context;

    if (is_wrong(life))
        return true;
    for (unsigned i = 0; i < life->honest; i++)
        if (!node_ended(world_node(world, i)))
            return false;
    return hub_ended(world_hub(world));
}

/* Why it did not get that far: who is missing. */
static void complain_of_slow_ones(struct life *life, const char *what)
{
    char who[SOAK_NODES * 12 + 1];
    struct text text;

    text_init(&text, who, sizeof who);
    for (unsigned i = 0; i < life->honest; i++) {
        struct node_view view;

        node_look(world_node(life->world, i), &view);
        text_add(&text, " n%u:%s%llu", i + 1, view.attached ? "+" : "-",
                 (unsigned long long)life->judge.decided_since[i]);
    }
    life_complain(life, "%s; attached and decided:%s", what, who);
}

/* Whether rounds do not wait for those that have not exchanged since, none of
 * them: what they do comes too late until their patience is back. */
static bool is_out_of_patience(struct life *life)
{
    bool some = false;

    for (unsigned i = 0; i < life->honest; i++) {
        if (life->judge.decided_since[i] >= 3)
            continue;
        if (judge_waits_for(life, i))
            return false;
        some = true;
    }
    return some;
}

/* Runs until it is so, or something is wrong; false: that took too long. */
static bool reach(struct life *life, const char *otherwise,
                  bool (*reached)(void *context, struct world *world))
{
    nanos limit = world_now(life->world) + SOAK_RECOVERY;

    if (world_run_until(life->world, limit, reached, life) ||
        (is_out_of_patience(life) &&
         world_run_until(life->world, limit + SOAK_PATIENCE, reached, life)))
        return !is_wrong(life);
    if (!is_wrong(life))
        complain_of_slow_ones(life, otherwise);
    return false;
}

static void live(struct life *life)
{
    (void)world_run_until(life->world, life->plan->faults, went_wrong, life);
    if (is_wrong(life))
        return;
    heal(life);
    (void)world_run_until(life->world,
                          world_now(life->world) +
                              (nanos)life->plan->byzantine * SOAK_FOUNDER,
                          is_founded, life);
    if (!reach(life, "not all nodes exchange again", all_exchange))
        return;
    judge_owes(life);
    (void)world_run_until(life->world, world_now(life->world) + SOAK_RECOVERY,
                          all_answered, life);
    judge_answers(life);
    if (is_wrong(life))
        return;
    world_leave(life->world, WORLD_HUB);
    if (reach(life, "the run does not end", all_ended))
        count_end(life);
}

void soak_live(const struct soak_plan *plan, const struct soak_watcher *watcher,
               struct soak_life *out)
{
    struct life *life = calloc(1, sizeof *life);
    struct hub_config hub;
    struct errand *errands;
    struct why why;

    if (!life)
        abort();
    *out = (struct soak_life){0};
    life->plan = plan;
    life->watcher = watcher;
    life->out = out;
    if (soak_plan_configure(plan, &hub, &why) == STATUS_OK) {
        star_open(life, &hub);
        errands = send_errands(life);
        live(life);
        if (world_broken(life->world))
            life_complain(life, "%s", world_broken(life->world));
        out->history = world_history(life->world);
        out->time = world_now(life->world);
        star_end(life);
        free(errands);
    } else {
        life_complain(life, "it does not go together: %s", why.text);
    }
    free(life);
}

void soak_live_twice(const struct soak_plan *plan, struct soak_life *out)
{
    struct soak_life again;

    soak_live(plan, NULL, out);
    if (out->complaint[0])
        return;
    soak_live(plan, NULL, &again);
    if (again.history != out->history)
        (void)snprintf(out->complaint, sizeof out->complaint,
                       "two lives of it have different histories");
}
