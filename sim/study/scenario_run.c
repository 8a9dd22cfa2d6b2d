/* One run of a scenario: computing nodes in a virtual star, and what became of
 * them. */
#include "sim/study/scenario_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/study/compute.h"
#include "sim/study/process_pool.h"
#include "sim/study/script.h"
#include "sim/study/tally.h"

/* What the hub takes for a job, and a node to come back. */
#define JOB (300 * MICROSECOND)
#define RECONNECT SECOND
/* The run is over, and so are its last rounds by then. */
#define FAREWELL (600 * SECOND)

struct play;

/* A node's place at its computing. */
struct seat {
    struct play *play;
    unsigned number;
};

struct play {
    const struct scenario *scenario;
    const struct scenario_watcher *watcher;
    struct computing *computing;
    struct world_config config;
    struct world *world;
    struct seat *seats;
    nanos next_look;
    struct tally tally;
};

/* ---- what nodes compute ---- */

static double gradient(const void *context, uint64_t iteration, const float *x,
                       size_t elements, float *out)
{
    const struct seat *seat = context;
    struct computing *computing = seat->play->computing;

    (void)elements;
    return computing->type->gradient(computing, seat->number, iteration, x,
                                     out);
}

static void optimize(const void *context, float *x, const float *values,
                     size_t first, size_t count)
{
    const struct seat *seat = context;
    struct computing *computing = seat->play->computing;

    computing->type->step(computing, seat->number, x, values, first, count);
}

static bool review(const void *context, const float *x, size_t elements,
                   double *loss, double *error)
{
    const struct seat *seat = context;
    struct computing *computing = seat->play->computing;

    (void)elements;
    return computing->type->review(computing, seat->number, x, loss, error);
}

static void on_look(void *observer, const struct trainer_look *look)
{
    const struct seat *seat = observer;
    struct computing *computing = seat->play->computing;

    if (look->moment == TRAINER_REPLACED && look->reset &&
        computing->type->forget)
        computing->type->forget(computing, seat->number);
}

static void evaluate(void *context, const float *theta, size_t elements,
                     double *loss, double *accuracy)
{
    const struct play *play = context;

    (void)elements;
    play->computing->type->judge(play->computing, theta, loss, accuracy);
}

/* ---- what is seen ---- */

static void on_message(void *context, const struct world_message *message,
                       struct world_fate *fate)
{
    struct play *play = context;
    struct computing *computing = play->computing;
    const struct msg *msg = message->msg;

    (void)fate;
    if (msg->kind == MSG_VIEW && msg->view.shards && computing->type->shard)
        computing->type->shard(computing, message->node, msg->view.shard,
                               msg->view.shards);
}

static void on_step(void *context, const struct world_step *step)
{
    struct play *play = context;
    const struct scenario_watcher *watcher = play->watcher;

    tally_step(&play->tally, step);
    if (watcher && watcher->step)
        watcher->step(watcher->of, step, world_now(play->world));
}

static void on_line(void *context, const char *line)
{
    const struct play *play = context;

    play->watcher->line(play->watcher->of, line);
}

/* Whether it is over; shows it to the watcher on the way. */
static bool is_over(void *context, struct world *world)
{
    struct play *play = context;
    const struct scenario_watcher *watcher = play->watcher;
    const struct hub *hub = world_hub(world);

    if (watcher && watcher->interval && world_now(world) >= play->next_look) {
        play->next_look = world_now(world) + watcher->interval;
        watcher->look(watcher->of, world);
    }
    return play->tally.ending >= 0 && hub && hub_ended(hub);
}

/* ---- building ---- */

static double speed_of(const struct scenario *scenario, unsigned node)
{
    return scenario->speed_count
               ? scenario->speeds[node % scenario->speed_count]
               : 1;
}

static void add_node(struct play *play, unsigned number)
{
    const struct options *options = &play->scenario->options;
    struct computing *computing = play->computing;
    struct seat *seat = &play->seats[number];
    char name[16];
    struct world_node node = {
        .name = name,
        .trainer = {.start = computing->type->start(computing, number),
                    .elements = computing->elements,
                    .step = (nanos)((double)options->step_time /
                                    speed_of(play->scenario, number)),
                    .step_cv = options->step_cv,
                    .hiccups = options->hiccups,
                    .hiccup = options->hiccup,
                    .samples = computing->samples,
                    .gradient = gradient,
                    .optimizer = optimize,
                    .evaluate = computing->type->review ? review : NULL,
                    .context = seat,
                    .look = computing->type->forget ? on_look : NULL,
                    .observer = seat}};

    *seat = (struct seat){play, number};
    (void)snprintf(name, sizeof name, "n%u", number + 1);
    (void)world_add_node(play->world, &node);
}

static struct world_config configure(struct play *play, uint64_t seed)
{
    const struct scenario *scenario = play->scenario;
    const struct scenario_watcher *watcher = play->watcher;
    const struct options *options = &scenario->options;
    const struct computing *computing = play->computing;
    uint32_t scale = computing->scale;
    struct world_config config = {
        .hub = scenario->hub,
        .schema = computing->schema,
        .link = {.latency = options->latency,
                 .jitter = options->jitter,
                 .up = options->rate,
                 .down = options->rate,
                 .loss = options->packet_loss},
        .port_bytes_per_second = options->port,
        .trace = scenario->trace,
        .reconnect = RECONNECT,
        .job = JOB,
        .saves = scenario->script != NULL,
        .unencoded = true,
        .unjudged = true,
        .hooks = {.context = play,
                  .after_step = on_step,
                  .filter = on_message,
                  .line = watcher && watcher->line ? on_line : NULL,
                  .evaluate = evaluate}};

    config.hub.run = config.hub.seed = seed;
    config.hub.scale = scale;
    config.hub.chunk_elements = (config.hub.chunk_elements + scale - 1) / scale;
    config.hub.save_interval = 30 * SECOND;
    return config;
}

static void start(struct play *play)
{
    const struct script *script = play->scenario->script;

    if (!script || script_first_start(script, WORLD_HUB) == NEVER)
        world_start(play->world, WORLD_HUB);
    for (unsigned i = 0; i < play->computing->nodes; i++)
        if (!script || script_first_start(script, i) == NEVER)
            world_start(play->world, i);
    if (script)
        script_schedule(script, play->world);
}

/* ---- playing ---- */

static void run(struct play *play, struct outcome *out)
{
    const struct scenario_watcher *watcher = play->watcher;
    nanos longest = play->scenario->options.time + FAREWELL;

    if (watcher && watcher->begin)
        watcher->begin(watcher->of, play->world);
    start(play);
    out->done = world_run_until(play->world, longest, is_over, play);
    if (watcher && watcher->interval)
        watcher->look(watcher->of, play->world);
    if (!out->done)
        (void)snprintf(out->trouble, sizeof out->trouble, "%s",
                       world_broken(play->world) ? world_broken(play->world)
                                                 : "the run did not end");
    tally_end(&play->tally, out);
    out->history = world_history(play->world);
    if (watcher && watcher->end)
        watcher->end(watcher->of, out);
}

void scenario_run(const struct scenario *scenario, uint64_t seed,
                  const struct scenario_watcher *watcher, struct outcome *out)
{
    struct play *play = calloc(1, sizeof *play);
    unsigned nodes = (unsigned)scenario->options.star_nodes;
    double began = process_seconds();
    struct why why = {""};

    if (!play)
        abort();
    *out = (struct outcome){.accuracy = -1};
    play->scenario = scenario;
    play->watcher = watcher;
    if (computing_open(&scenario->options, scenario->trace, seed, nodes,
                       &play->computing, &why) == STATUS_OK) {
        play->seats = calloc(nodes, sizeof *play->seats);
        if (!play->seats)
            abort();
        play->config = configure(play, seed);
        play->world = world_new(seed, &play->config);
        tally_init(&play->tally, play->world, nodes);
        for (unsigned i = 0; i < nodes; i++)
            add_node(play, i);
        run(play, out);
        world_destroy(&play->world);
    } else {
        (void)snprintf(out->trouble, sizeof out->trouble, "%s", why.text);
    }
    computing_close(&play->computing);
    free(play->seats);
    free(play);
    out->cost = process_seconds() - began;
}
