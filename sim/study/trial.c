#include "sim/study/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/study/scenario.h"

enum { FLIGHT = 256 }; /* exchanges of a node that may be under way */

struct seat {
    uint64_t offered[FLIGHT];     /* when, by the exchange's number */
    uint64_t offers, first, last; /* and the iterations of two of them */
    uint64_t applied, delays;
    bool takes_part; /* it has got a result of the centre */
};

/* Both ends of what is measured, and what happens between them. They are
 * offers of the first node's first fragment, so that rounds are whole. */
struct gauge {
    struct world *world;
    bool founded;               /* there is a centre */
    unsigned missing;           /* nodes that take no part yet */
    unsigned turns;             /* until it begins */
    nanos length, began, ended; /* -1: not yet */
    unsigned nodes;
    uint64_t fragments;
    struct seat *seats;
    struct trial *out;
};

static void on_begin(void *of, struct world *world)
{
    ((struct gauge *)of)->world = world;
}

/* Adds `sign` times what has been done until now. */
static void count(struct gauge *gauge, nanos now, double sign)
{
    struct trial *out = gauge->out;
    struct hub_view view = {0};
    double nodes = gauge->nodes;

    hub_look(world_hub(gauge->world), now, &view);
    for (unsigned i = 0; i < view.count; i++) {
        out->up += sign * (double)view.nodes[i].moved.up_bytes / nodes;
        out->down += sign * (double)view.nodes[i].moved.down_bytes / nodes;
    }
    for (unsigned i = 0; i < gauge->nodes; i++) {
        const struct trainer *trainer = world_trainer(gauge->world, i);

        out->rate += sign * (double)trainer_iteration(trainer) / nodes;
        out->used += sign * (double)trainer_waited(trainer) / nodes;
    }
}

static void end_play(void *of, struct world *world)
{
    (void)of;
    world_leave(world, WORLD_HUB);
}

static bool is_founded(struct gauge *gauge, nanos now)
{
    struct hub_view view = {0};

    if (gauge->founded)
        return true;
    hub_look(world_hub(gauge->world), now, &view);
    gauge->founded = view.founded;
    return gauge->founded;
}

/* Who was not first with its parameters takes the centre as it is, which over
 * a slow link lasts longer than some rounds of the others. */
static void take_part(struct gauge *gauge, struct seat *seat, nanos now)
{
    if (seat->takes_part || !is_founded(gauge, now))
        return;
    seat->takes_part = true;
    gauge->missing--;
    gauge->out->start = (double)now / (double)SECOND;
}

static void on_turn(struct gauge *gauge, nanos now)
{
    if (gauge->missing)
        return;
    if (gauge->turns && --gauge->turns == 0) {
        gauge->began = now;
        count(gauge, now, -1);
    } else if (gauge->began >= 0 && now - gauge->began >= gauge->length) {
        gauge->ended = now;
        count(gauge, now, 1);
        world_at(gauge->world, now, end_play, NULL);
    }
}

static void on_snapshot(const struct gauge *gauge, struct seat *seat,
                        const struct msg_local_offer *snapshot)
{
    seat->offered[snapshot->exchange % FLIGHT] = snapshot->iteration;
    if (gauge->began < 0)
        return;
    if (!seat->offers++)
        seat->first = snapshot->iteration;
    seat->last = snapshot->iteration;
}

static void on_applied(struct gauge *gauge, struct seat *seat,
                       const struct msg_applied *applied, nanos now)
{
    if (!applied->exchange || applied->skipped)
        return;
    take_part(gauge, seat, now);
    if (gauge->began < 0)
        return;
    seat->applied++;
    seat->delays +=
        applied->iteration - seat->offered[applied->exchange % FLIGHT];
}

static void on_step(void *of, const struct world_step *step, nanos now)
{
    struct gauge *gauge = of;

    for (unsigned i = 0; step->trainer && i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];
        struct seat *seat = &gauge->seats[step->process];

        if (effect->kind != EFFECT_SEND || gauge->ended >= 0)
            continue;
        if (effect->msg.kind == MSG_APPLIED)
            on_applied(gauge, seat, &effect->msg.applied, now);
        if (effect->msg.kind != MSG_LOCAL_OFFER ||
            !effect->msg.local_offer.exchange)
            continue;
        on_snapshot(gauge, seat, &effect->msg.local_offer);
        if (step->process == 0 && effect->msg.local_offer.fragment == 0)
            on_turn(gauge, now);
    }
}

/* Iterations between two offers of a fragment. Who makes no two goes without
 * for as long as was measured. */
static double gap(const struct gauge *gauge, const struct seat *seat,
                  double iterations)
{
    if (seat->offers < 2)
        return iterations;
    return (double)((seat->last - seat->first) * gauge->fragments) /
           (double)(seat->offers - 1);
}

/* From sums to what they mean. */
static void conclude(const struct gauge *gauge, struct trial *out)
{
    double seconds = (double)(gauge->ended - gauge->began) / (double)SECOND;
    double iterations = out->rate, applied = 0, delays = 0;

    for (unsigned i = 0; i < gauge->nodes; i++) {
        const struct seat *seat = &gauge->seats[i];

        out->every += gap(gauge, seat, iterations) / gauge->nodes;
        applied += (double)seat->applied;
        delays += (double)seat->delays;
    }
    out->rate = iterations / seconds;
    out->used = 1 - out->used / (double)SECOND / seconds;
    out->delay = applied > 0 ? delays / applied : iterations;
    out->up /= seconds;
    out->down /= seconds;
}

/* At most some 30 years. */
static nanos nanos_of(double seconds)
{
    return (nanos)(fmin(seconds, 1e9) * (double)SECOND);
}

static struct options shorten(const struct options *options, double seconds)
{
    struct options out = *options;

    out.time = nanos_of(seconds);
    out.iterations = 0;
    out.goal.kind = GOAL_NONE;
    out.compute = COMPUTE_SURROGATE;
    out.given.compute = OPTION_ARGUMENT;
    out.evaluate_centre = (nanos)24 * 3600 * SECOND;
    return out;
}

static void complain(const struct gauge *gauge, const struct outcome *outcome,
                     double most, struct trial *out)
{
    if (!outcome->done)
        (void)snprintf(out->trouble, sizeof out->trouble, "%s",
                       outcome->trouble);
    else if (!gauge->founded)
        (void)snprintf(out->trouble, sizeof out->trouble,
                       "after %.0f s the nodes still had no common "
                       "parameters: try --init hub",
                       most);
    else if (gauge->missing)
        (void)snprintf(out->trouble, sizeof out->trouble,
                       "after %.0f s %u of %u nodes still took no part", most,
                       gauge->missing, gauge->nodes);
    else
        (void)snprintf(out->trouble, sizeof out->trouble,
                       "a node went without an exchange for longer than was "
                       "played");
}

void trial_run(const struct options *options, uint64_t seed,
               const struct trial_window *window, struct trial *out)
{
    struct options shortened = shorten(options, window->most);
    struct gauge gauge = {.turns = window->turns,
                          .length = nanos_of(window->length),
                          .began = -1,
                          .ended = -1,
                          .missing = (unsigned)options->star_nodes,
                          .nodes = (unsigned)options->star_nodes,
                          .fragments = options->fragments,
                          .out = out};
    const struct scenario_watcher watcher = {
        .of = &gauge, .begin = on_begin, .step = on_step};
    struct scenario *scenario = NULL;
    struct outcome outcome;
    struct why why = {""};

    *out = (struct trial){.done = false};
    gauge.seats = calloc(gauge.nodes, sizeof *gauge.seats);
    if (!gauge.seats)
        abort();
    if (scenario_open(&shortened, &scenario, &why) == STATUS_OK) {
        scenario_run(scenario, seed, &watcher, &outcome);
        out->done = gauge.ended >= 0;
        if (out->done)
            conclude(&gauge, out);
        else
            complain(&gauge, &outcome, window->most, out);
    } else {
        (void)snprintf(out->trouble, sizeof out->trouble, "%s", why.text);
    }
    scenario_close(&scenario);
    free(gauge.seats);
}

void trial_mean(const struct trial *trials, unsigned count_of,
                struct trial *out)
{
    *out = (struct trial){.done = count_of > 0};
    for (unsigned i = 0; i < count_of; i++) {
        const struct trial *trial = &trials[i];

        out->rate += trial->rate / count_of;
        out->used += trial->used / count_of;
        out->every += trial->every / count_of;
        out->delay += trial->delay / count_of;
        out->up += trial->up / count_of;
        out->down += trial->down / count_of;
        out->start += trial->start / count_of;
        out->done &= trial->done;
        if (!trial->done)
            (void)snprintf(out->trouble, sizeof out->trouble, "%s",
                           trial->trouble[0] ? trial->trouble
                                             : "its process died");
    }
}
