#include "sim/study/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void on_offer(struct tally *tally, const struct msg_offer *offer)
{
    uint64_t lag = tally->version > offer->base_version
                       ? tally->version - offer->base_version
                       : 0;

    tally->offers++;
    tally->lags[lag < TALLY_LAGS ? lag : TALLY_LAGS - 1]++;
}

static double sum_iterations(const struct tally *tally)
{
    double sum = 0;

    for (unsigned i = 0; i < tally->nodes; i++)
        sum += tally->node[i].iterations;
    return sum;
}

/* How far a counter went that begins again with its trainer. */
static double gain(uint64_t last, uint64_t now)
{
    return (double)(now < last ? now : now - last);
}

static void count_node(struct tally_node *node, const struct trainer *trainer)
{
    uint64_t iteration = trainer_iteration(trainer);
    uint64_t missed = trainer_missed(trainer);
    nanos waited = trainer_waited(trainer);

    node->iterations += gain(node->last.iteration, iteration);
    node->missed += gain(node->last.missed, missed);
    node->waited +=
        gain((uint64_t)node->last.waited, (uint64_t)waited) / (double)SECOND;
    node->last.iteration = iteration;
    node->last.missed = missed;
    node->last.waited = waited;
}

static void on_hub_note(struct tally *tally, const struct note *note)
{
    nanos now = world_now(tally->world);

    if (note->kind == NOTE_ROUND) {
        tally->rounds++;
        tally->last_round = now;
        if (tally->first_round < 0)
            tally->first_round = now;
    } else if (note->kind == NOTE_ENDING) {
        tally->ending = now;
        tally->iterations = sum_iterations(tally);
        tally->reached = strstr(note->text, "goal reached") != NULL;
    } else if (note->kind == NOTE_TEMPO) {
        tally->chosen_at = now;
        memcpy(tally->chosen, note->text, sizeof tally->chosen);
    }
}

static void count_hub(struct tally *tally, const struct world_step *step)
{
    const struct event *event = step->event;

    if (event->kind == EVENT_MESSAGE && event->msg->kind == MSG_OFFER)
        on_offer(tally, &event->msg->offer);
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind == EFFECT_NOTE)
            on_hub_note(tally, &effect->note);
        else if (effect->kind == EFFECT_SEND &&
                 effect->msg.kind == MSG_RESULT &&
                 effect->msg.result.version > tally->version)
            tally->version = effect->msg.result.version;
    }
}

void tally_init(struct tally *tally, struct world *world, unsigned nodes)
{
    *tally = (struct tally){.world = world,
                            .nodes = nodes,
                            .node = calloc(nodes, sizeof *tally->node),
                            .first_round = -1,
                            .last_round = -1,
                            .ending = -1};
    if (!tally->node)
        abort();
}

void tally_step(struct tally *tally, const struct world_step *step)
{
    tally->steps++;
    if (step->process == WORLD_HUB)
        count_hub(tally, step);
    else if (step->process < tally->nodes &&
             world_trainer(tally->world, step->process))
        count_node(&tally->node[step->process],
                   world_trainer(tally->world, step->process));
}

static double seconds(nanos time)
{
    return (double)time / (double)SECOND;
}

static double percentile_of_lags(const struct tally *tally, double part)
{
    double rest = part * (double)tally->offers;
    unsigned lag = 0;

    while (lag < TALLY_LAGS - 1 && (double)tally->lags[lag] < rest)
        rest -= (double)tally->lags[lag++];
    return lag;
}

static void sum_nodes(const struct tally *tally, const struct hub_view *view,
                      struct outcome *out)
{
    double nodes = tally->nodes, waited = 0, missed = 0;
    double span = seconds(world_now(tally->world)) + 1e-9;

    for (unsigned i = 0; i < tally->nodes; i++) {
        waited += tally->node[i].waited;
        missed += tally->node[i].missed;
    }
    for (unsigned i = 0; i < view->count; i++) {
        out->up += (double)view->nodes[i].moved.up_bytes / nodes;
        out->down += (double)view->nodes[i].moved.down_bytes / nodes;
    }
    out->iterations = sum_iterations(tally) / nodes;
    if (tally->ending > 0)
        out->rate = tally->iterations / nodes / seconds(tally->ending);
    out->idle = waited / (nodes * span);
    /* An offer that never came to the hub is late, too. */
    out->late = missed > 0 ? missed / fmax(missed, (double)tally->offers) : 0;
}

void tally_end(struct tally *tally, struct outcome *out)
{
    struct hub_view view = {0};
    nanos end = tally->ending < 0 ? world_now(tally->world) : tally->ending;

    if (world_hub(tally->world))
        hub_look(world_hub(tally->world), world_now(tally->world), &view);
    sum_nodes(tally, &view, out);
    out->reached = tally->reached;
    out->time = seconds(end);
    out->loss = view.score;
    out->accuracy = view.accuracy;
    out->every = view.every;
    out->delay = view.delay;
    out->chosen_at = seconds(tally->chosen_at);
    memcpy(out->chosen, tally->chosen, sizeof out->chosen);
    out->rounds = tally->rounds;
    if (tally->rounds > 1)
        out->round_time = seconds(tally->last_round - tally->first_round) /
                          (double)(tally->rounds - 1);
    out->staleness = percentile_of_lags(tally, 0.95);
    out->steps = tally->steps;
    free(tally->node);
    tally->node = NULL;
}
