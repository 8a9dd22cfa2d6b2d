/* The star of a life, and what happens to its messages. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/study/soak_inside.h"

static uint64_t below(struct life *life, uint64_t bound)
{
    return prng_below(&life->prng, bound);
}

/* Chunks may come twice, late and in disorder; results may come late. */
static void disturb(struct life *life, enum msg_kind kind,
                    struct world_fate *fate)
{
    if (kind != MSG_CHUNK && kind != MSG_RESULT && kind != MSG_REVIEW)
        return;
    fate->in_order = kind != MSG_CHUNK;
    if (below(life, 100) < life->plan->late) {
        fate->delay = (nanos)below(life, 500) * MILLISECOND;
        life->out->late++;
    }
    if (kind == MSG_CHUNK && below(life, 100) < life->plan->twice) {
        fate->copies = 2;
        fate->apart = (nanos)below(life, 300) * MILLISECOND;
        life->out->twice++;
    }
}

static void filter(void *context, const struct world_message *message,
                   struct world_fate *fate)
{
    struct life *life = context;

    judge_message(life, message);
    disturb(life, message->msg->kind, fate);
    if (message->to_hub && message->node >= life->honest)
        byzantine_says(life, message, fate);
}

static void line(void *context, const char *text)
{
    const struct life *life = context;

    life->watcher->line(life->watcher->of, text);
}

static void evaluate(void *context, const float *theta, size_t elements,
                     double *loss, double *accuracy)
{
    (void)context;
    *loss = 0;
    for (size_t i = 0; i < elements; i++)
        *loss += (double)theta[i] * (double)theta[i];
    *accuracy = -1;
}

/* A node's judgement on others, by its own data. */
static bool review(const void *context, const float *x, size_t elements,
                   double *loss, double *error)
{
    const struct soak_seat *seat = context;
    const struct quadratic *model = &seat->life->models[seat->node];

    *loss = *error = 0;
    for (size_t i = 0; i < elements; i++) {
        double apart = (double)x[i] - (double)model->centre[i];

        *loss += apart * apart;
    }
    return true;
}

/* A matrix, and with a bias a vector behind it, which is never encoded: where
 * nothing is counted, now and then statistics. */
static void make_schema(struct life *life)
{
    uint64_t elements = life->plan->elements;
    uint64_t bias = life->plan->bias ? elements / 4 : 0;
    const struct tensor tensors[] = {
        {.name = "w", .rank = 2, .shape = {elements - bias, 1}},
        {.name = "b",
         .rank = 1,
         .shape = {bias},
         .kind = life->plan->counts
                     ? TENSOR_TRAINED
                     : (enum tensor_kind)(life->plan->seed % TENSOR_KINDS)}};

    life->schema = schema_new();
    for (unsigned i = 0; i < (bias ? 2 : 1); i++)
        if (!life->schema ||
            schema_add_tensor(life->schema, &tensors[i], NULL) != STATUS_OK)
            abort();
    life->exempt = exempt_new(life->schema);
    if (!life->exempt)
        abort();
}

/* Bytes per second; 0: any. */
static uint64_t rate(const struct soak_plan *plan, struct prng *prng)
{
    return !plan->uneven || prng_below(prng, 3)
               ? 0
               : (plan->counts ? 3200u : 200u) << prng_below(prng, 8);
}

static const float nothing[SOAK_NUMBERS];

/* All of a node's own is drawn from its number, so that it stays what it is in
 * a plan with fewer of them. */
static void add_node(struct life *life, unsigned number)
{
    const struct soak_plan *plan = life->plan;
    struct quadratic *model = &life->models[number];
    char name[16];
    struct prng prng;
    struct world_node node = {.name = name};

    prng_seed(&prng, prng_mix(plan->seed ^ prng_mix(number + 1)));
    for (size_t i = 0; i < SOAK_ELEMENTS; i++) {
        life->centres[number][i] = (float)prng_unit(&prng);
        life->starts[number][i] = (float)prng_unit(&prng) - 0.5f;
    }
    *model = (struct quadratic){1, life->centres[number]};
    node.up = rate(plan, &prng);
    node.down = rate(plan, &prng);
    life->samples[number] = 1 + prng_below(&prng, 3);
    node.trainer = (struct trainer_config){
        .start =
            plan->counts ? nothing : life->starts[plan->apart ? number : 0],
        .elements = (size_t)plan->elements,
        .step = plan->step,
        .step_jitter = plan->step / 2,
        .rate = plan->counts ? 1 : 0.005,
        .samples = life->samples[number],
        .task_steps = plan->options.tasks ? plan->task_steps : 0,
        .gradient = count_gradient,
        .evaluate = plan->reviews && number % 3 ? review : NULL,
        .context = &life->count.seats[number],
        .look = count_look,
        .observer = &life->count.seats[number]};
    if (plan->uneven && prng_below(&prng, 4) == 0)
        node.trainer.step /= 4;
    (void)snprintf(name, sizeof name, "n%u", number + 1);
    (void)world_add_node(life->world, &node);
}

void star_open(struct life *life, const struct hub_config *hub)
{
    const struct soak_plan *plan = life->plan;

    make_schema(life);
    life->chunks = chunks_of(plan->elements, hub->chunk_elements);
    life->honest = (unsigned)(plan->nodes - plan->byzantine);
    prng_seed(&life->prng, prng_mix(plan->seed));
    life->config = (struct world_config){
        .hub = *hub,
        .schema = life->schema,
        .link = {.latency = plan->latency,
                 .jitter = plan->latency,
                 .up = plan->link,
                 .down = plan->link,
                 .loss = (double)plan->lost / 1000},
        .reconnect = plan->reconnect,
        .job = plan->job,
        .job_jitter = 5 * plan->job,
        .saves = plan->saves,
        .hooks = {.context = life,
                  .after_step = judge_step,
                  .filter = filter,
                  .line = life->watcher && life->watcher->line ? line : NULL,
                  .evaluate = plan->evaluates ? evaluate : NULL}};
    life->config.hub.keeping = 1000000; /* models are tiny */
    life->config.hub.recovery = HUB_RECOVERY;
    count_open(life);
    life->world = world_new(plan->seed, &life->config);
    life->byzantine.pool = pool_new();
    if (!life->byzantine.pool)
        abort();
    for (unsigned i = 0; i < plan->nodes; i++)
        add_node(life, i);
}

void star_end(struct life *life)
{
    byzantine_free(life);
    world_destroy(&life->world);
    pool_destroy(&life->byzantine.pool);
    exempt_destroy(&life->exempt);
    schema_destroy(&life->schema);
}
