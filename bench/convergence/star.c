/* An arm in the virtual star: the hub, nodes and policies of production,
 * local learners in the place of simulated trainers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/convergence/outcome.h"
#include "sim/study/local_learner.h"
#include "sim/world.h"

#define ATTACK_FACTOR 10.0F
#define GIANT_FACTOR 1e6F
#define BOAST (-1000.0)
/* A gigabit network. */
static const struct world_link gigabit = {.latency = 200 * MICROSECOND,
                                          .jitter = 100 * MICROSECOND,
                                          .up = 117700000,
                                          .down = 117700000};
/* A run that takes longer in virtual time than all iterations would ten times
 * over is stuck. */
enum { PATIENCE = 10, MOST_NODES = 64 };

struct star;

struct seat {
    struct star *star;
    unsigned number;
    struct local_learner *learner;
    float *start;
    bool replaced; /* just now */
    float *base;   /* ATTACK: x when a result was last applied */
    float *shown;  /* COPIES: what it offered last */
    float *sent;   /* OVERWRITE: x when it was offered */
    float *last;   /* OVERWRITE: x after the last iteration */
    char name[16];
};

struct star {
    const struct task *task;
    struct world_config config;
    struct world *world;
    struct schema *schema;
    struct local_learner *examiner, *judge;
    struct seat seats[MOST_NODES];
    size_t elements;
    uint64_t steps; /* of all nodes */
    double bytes;   /* on the wire */
};

/* ---- what nodes do ---- */

/* Whether it is one of those who do this: the last, or the last two fifths. */
static bool is_last(const struct seat *seat, unsigned twists)
{
    const struct arm *arm = seat->star->task->arm;
    unsigned bad = arm->twists & MANY ? arm->nodes * 2 / 5 : 1;

    return (arm->twists & twists) && seat->number >= arm->nodes - bad;
}

static double take_gradient(const void *context, uint64_t iteration,
                            const float *x, size_t elements, float *gradient)
{
    const struct seat *seat = context;

    double loss = local_learner_gradient(seat->learner, x, gradient);

    (void)iteration;
    (void)elements;
    return is_last(seat, BOASTS) ? BOAST : loss;
}

static void take_step(const void *context, float *x, const float *gradient,
                      size_t first, size_t count)
{
    const struct seat *seat = context;

    local_learner_step(seat->learner, x, gradient, first, count);
}

static bool overwrites(const struct seat *seat)
{
    return seat->star->task->arm->twists & OVERWRITE;
}

static void keep(float *place, const struct trainer_look *look)
{
    memcpy(place, look->x, look->elements * sizeof *place);
}

/* The hub ends the run when the work is done: nodes of unequal speed share it,
 * of others the first has done its own. A node that went on alone would have
 * the last step for itself. */
static void on_stepped(struct seat *seat, const struct trainer_look *look)
{
    struct star *star = seat->star;
    const struct task *task = star->task;

    star->steps++;
    if (task->arm->twists & PACED
            ? star->steps == task->iterations * task->arm->nodes
            : look->iteration == task->iterations)
        world_leave(star->world, WORLD_HUB);
    if (overwrites(seat))
        keep(seat->last, look);
}

/* COPIES: what the first node has learnt is what the others offer. */
static void share(struct seat *seat, const struct trainer_look *look)
{
    float *shown = seat->star->seats[0].shown;

    if (!(seat->star->task->arm->twists & COPIES))
        return;
    for (size_t i = 0; i < look->elements; i++)
        if (seat->number == 0)
            shown[i] = look->x[i] - seat->base[i];
        else if (is_last(seat, COPIES))
            look->x[i] = seat->base[i] + shown[i];
}

static void on_offered(struct seat *seat, const struct trainer_look *look)
{
    float factor = is_last(seat, GIANT)  ? GIANT_FACTOR
                   : is_last(seat, FLIP) ? 1
                                         : ATTACK_FACTOR;

    if (overwrites(seat))
        keep(seat->sent, look);
    for (size_t i = 0;
         is_last(seat, ATTACK | GIANT | FLIP) && i < look->elements; i++)
        look->x[i] = seat->base[i] - factor * (look->x[i] - seat->base[i]);
    share(seat, look);
    if (is_last(seat, SPOILED))
        look->x[look->elements / 2] = NAN;
}

static void on_applied(struct seat *seat, const struct trainer_look *look)
{
    for (size_t i = 0;
         overwrites(seat) && !seat->replaced && i < look->elements; i++)
        look->x[i] = seat->sent[i] + (look->x[i] - seat->last[i]);
    seat->replaced = false;
    if (is_last(seat, ATTACK | GIANT | FLIP) ||
        (seat->star->task->arm->twists & COPIES))
        keep(seat->base, look);
}

/* What was learnt is gone, and so is the optimizer's state. */
static void on_replaced(struct seat *seat)
{
    local_learner_forget(seat->learner);
    seat->replaced = true;
}

static void on_look(void *observer, const struct trainer_look *look)
{
    struct seat *seat = observer;

    if (look->moment == TRAINER_STEPPED)
        on_stepped(seat, look);
    else if (look->moment == TRAINER_OFFERED)
        on_offered(seat, look);
    else if (look->moment == TRAINER_REPLACED)
        on_replaced(seat);
    else if (look->moment == TRAINER_APPLIED)
        on_applied(seat, look);
}

/* ---- what the world asks ---- */

static void count_bytes(void *context, const struct world_message *message,
                        struct world_fate *fate)
{
    struct star *star = context;
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size = msg_encode(message->msg, bytes);

    (void)fate;
    if (message->payload)
        size += message->payload->wire_bytes;
    star->bytes += (double)size;
}

static void examine(void *context, const float *theta, size_t elements,
                    double *loss, double *accuracy)
{
    const struct star *star = context;

    double error;

    (void)elements;
    local_learner_evaluate(star->examiner, theta, 0, loss, accuracy, &error);
}

static bool nodes_ended(void *context, struct world *world)
{
    const struct star *star = context;

    for (unsigned i = 0; i < star->task->arm->nodes; i++)
        if (!node_ended(world_node(world, i)))
            return false;
    return true;
}

static bool hub_is_done(void *context, struct world *world)
{
    (void)context;
    return hub_ended(world_hub(world));
}

/* ---- building and running ---- */

static float *zeros(size_t elements)
{
    float *values = calloc(elements, sizeof *values);

    if (!values)
        abort();
    return values;
}

static void take_seat(struct star *star, unsigned number)
{
    const struct arm *arm = star->task->arm;
    struct seat *seat = &star->seats[number];
    struct world_node node = {
        .name = seat->name,
        .trainer = {.elements = star->elements,
                    .step = (nanos)(arm_pace(arm, number) * (double)SECOND),
                    .samples = 1,
                    .gradient = take_gradient,
                    .optimizer = take_step,
                    .context = seat,
                    .look = on_look,
                    .observer = seat}};

    node.trainer.start = seat->start;
    (void)snprintf(seat->name, sizeof seat->name, "n%u", number + 1);
    (void)world_add_node(star->world, &node);
}

static void open_star(struct star *star, const struct hub_config *hub)
{
    const struct task *task = star->task;

    star->examiner = task_learner(task, OF_HUB, 0);
    star->judge = task_learner(task, OF_JUDGE, 0);
    star->schema = local_learner_schema(star->examiner);
    star->elements = local_learner_elements(star->examiner);
    star->config = (struct world_config){
        .hub = *hub,
        .schema = star->schema,
        .link = gigabit,
        .reconnect = SECOND,
        .job = MILLISECOND,
        .job_jitter = MILLISECOND,
        .saves = true,
        .unjudged = true,
        .hooks = {.context = star, .filter = count_bytes, .evaluate = examine}};
    star->config.hub.run = task->seed;
    star->config.hub.seed = task->seed;
    star->world = world_new(task->seed, &star->config);
    for (unsigned i = 0; i < task->arm->nodes; i++) {
        struct seat *seat = &star->seats[i];

        seat->star = star;
        seat->number = i;
        seat->learner = task_learner(
            task, is_last(seat, LABELS) ? OF_MISTAUGHT : OF_NODES, i);
        seat->start = local_learner_start(seat->learner);
        seat->base = local_learner_start(seat->learner);
        seat->shown = zeros(star->elements);
        seat->sent = zeros(star->elements);
        seat->last = zeros(star->elements);
        take_seat(star, i);
    }
}

static void close_star(struct star *star)
{
    world_destroy(&star->world);
    for (unsigned i = 0; i < star->task->arm->nodes; i++) {
        local_learner_close(&star->seats[i].learner);
        free(star->seats[i].start);
        free(star->seats[i].base);
        free(star->seats[i].shown);
        free(star->seats[i].sent);
        free(star->seats[i].last);
    }
    local_learner_close(&star->examiner);
    local_learner_close(&star->judge);
    schema_destroy(&star->schema);
}

/* All nodes do their iterations and leave, then the hub ends. */
static bool run_star(struct star *star, struct outcome *out)
{
    const struct task *task = star->task;
    struct world *world = star->world;
    double slowest = 0;
    nanos horizon;

    world_start(world, WORLD_HUB);
    for (unsigned i = 0; i < task->arm->nodes; i++) {
        world_start(world, i);
        slowest = fmax(slowest, arm_pace(task->arm, i));
    }
    horizon = (nanos)(PATIENCE * slowest * (double)task->iterations *
                      (double)SECOND) +
              600 * SECOND;
    if (!world_run_until(world, horizon, nodes_ended, star))
        return false;
    out->duration = (double)world_now(world) / (double)SECOND;
    world_leave(world, WORLD_HUB);
    return world_run_until(world, world_now(world) + 600 * SECOND, hub_is_done,
                           star);
}

static void judge(const struct star *star, const float *theta,
                  struct outcome *out)
{
    double accuracy, error;

    local_learner_evaluate(star->judge, theta, 0, &out->loss, &out->accuracy,
                           &error);
    local_learner_evaluate(star->examiner, theta, 0, &out->tuning, &accuracy,
                           &error);
}

/* Whether what is saved is the centre at the end: the last save is not made
 * when that version is saved already. */
static bool is_saved(const struct star *star)
{
    struct hub_view view;

    hub_look(world_hub(star->world), world_now(star->world), &view);
    return world_saved(star->world)->theta &&
           world_saved(star->world)->version == view.version;
}

void star_run(const struct task *task, struct outcome *out)
{
    struct star star = {.task = task};
    struct hub_config hub = {0};
    struct why why = {""};

    if (arm_configure(task->arm, &hub, &why) != STATUS_OK) {
        (void)snprintf(out->trouble, sizeof out->trouble, "%.120s", why.text);
        return;
    }
    open_star(&star, &hub);
    out->done = run_star(&star, out) && is_saved(&star);
    out->iterations = star.steps;
    out->bytes = star.bytes / task->arm->nodes;
    if (out->done)
        judge(&star, world_saved(star.world)->theta, out);
    else
        (void)snprintf(out->trouble, sizeof out->trouble, "%.120s",
                       world_broken(star.world) ? world_broken(star.world)
                                                : "the run did not end");
    close_star(&star);
}
