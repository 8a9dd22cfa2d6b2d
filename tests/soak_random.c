/* A seed's configuration: everything that may vary does. */
#include <stdio.h>
#include <stdlib.h>

#include "hub/settle.h"
#include "tests/soak.h"

uint64_t soak_below(struct soak *soak, uint64_t bound)
{
    return prng_below(&soak->prng, bound);
}

static nanos between(struct soak *soak, nanos low, nanos high)
{
    return low + (nanos)soak_below(soak, (uint64_t)(high - low + 1));
}

/* Chunks may come twice, late and in disorder; results may come late. */
static void filter(void *context, const struct world_message *message,
                   struct world_fate *fate)
{
    struct soak *soak = context;
    enum msg_kind kind = message->msg->kind;
    uint64_t die = soak_below(soak, 100);

    soak_judge_message(soak, message);
    if (kind != MSG_CHUNK && kind != MSG_RESULT && kind != MSG_REVIEW)
        return;
    if (die < 4)
        fate->delay = between(soak, MILLISECOND, 500 * MILLISECOND);
    fate->in_order = kind != MSG_CHUNK;
    if (kind == MSG_CHUNK && die >= 2 && die < 6) {
        fate->copies = 2;
        fate->apart = between(soak, 0, 300 * MILLISECOND);
    }
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

/* Rules beside those of the preset, where they go together. */
static void vary_rules(struct soak *soak, struct policy *policy)
{
    struct policy other = *policy;

    other.gate = gate_rules[soak_below(soak, gate_rule_count)];
    other.select = select_rules[soak_below(soak, select_rule_count)];
    other.reduce = reduce_rules[soak_below(soak, reduce_rule_count)];
    other.preempt = preempt_rules[soak_below(soak, preempt_rule_count)];
    other.numbers.quorum = (double)soak_below(soak, 5) / 4;
    other.numbers.grace = (double)soak_below(soak, 30) / 10;
    if (!policy_conflict(&other))
        *policy = other;
}

/* What becomes of different first parameters: what hub_settle allows. */
static enum init choose_init(struct soak *soak, const struct policy *policy)
{
    enum init init = (enum init)soak_below(soak, INIT_COUNT);

    if (policy->exchange != EXCHANGE_PARAMETERS)
        return init == INIT_TOURNAMENT ? init : INIT_HUB;
    if (init == INIT_POPULATION && policy->merge->verb != VERB_REPLACE)
        return INIT_ELASTIC;
    return init;
}

/* A node's judgement on others, by its own data. */
static bool review(const void *context, const float *x, size_t elements,
                   double *loss, double *error)
{
    const struct quadratic *model = context;

    *loss = *error = 0;
    for (size_t i = 0; i < elements; i++) {
        double apart = (double)x[i] - (double)model->centre[i];

        *loss += apart * apart;
    }
    return true;
}

static void choose_policy(struct soak *soak)
{
    struct hub_config *hub = &soak->config.hub;
    struct policy *policy = &hub->policy;

    *policy = presets[soak_below(soak, preset_count)].policy;
    if (policy->exchange == EXCHANGE_DELTA && soak_below(soak, 4) == 0) {
        policy->exchange = EXCHANGE_GRADIENT;
        policy->numbers.outer_lr = 0.05;
        policy->numbers.outer_momentum = 0;
    }
    if (policy->gate == &gate_async)
        policy->numbers.outer_momentum = 0;
    if (soak_below(soak, 2))
        vary_rules(soak, policy);
    if (!settle_changes_conflict(policy) && soak_below(soak, 2))
        hub->codec_down = (enum codec_id)soak_below(soak, CODEC_COUNT);
    hub->init = choose_init(soak, policy);
    hub->tournament = 1 + soak_below(soak, 30);
    hub->dylu = soak_below(soak, 4) == 0;
    hub->optimizer = (enum optimizer)soak_below(soak, OPTIMIZER_COUNT);
}

static void choose_schedule(struct soak *soak)
{
    static const unsigned halves[] = {0, 1, 2, 5};
    struct hub_config *hub = &soak->config.hub;

    hub->every = 1 + soak_below(soak, 12);
    hub->delay = hub->every * halves[soak_below(soak, 4)] / 2;
    hub->miss = (enum miss)soak_below(soak, MISS_COUNT);
    hub->wait = between(soak, 100 * MILLISECOND, 3 * SECOND);
    hub->nodes = 1 + (unsigned)soak_below(soak, soak->nodes);
    hub->window = 1 + 16 * soak_below(soak, 6);
    /* A gate that does not wait for slow nodes leaves them behind. */
    hub->staleness =
        hub->policy.gate == &gate_sync && soak_below(soak, 2) ? 3 : 1000;
    hub->save_interval = between(soak, SECOND, 5 * SECOND);
    hub->evaluate_interval = between(soak, SECOND, 5 * SECOND);
    hub->run = soak->seed + 1;
}

/* Half of the runs are encoded, as hub_settle allows. */
static void choose_codecs(struct soak *soak)
{
    struct hub_config *hub = &soak->config.hub;
    enum codec_id codec = (enum codec_id)soak_below(soak, CODEC_COUNT);

    if (soak_below(soak, 2) &&
        (hub->policy.exchange != EXCHANGE_PARAMETERS ||
         codecs[codec].use == CODEC_FOR_ALL))
        hub->codec_up = codec;
}

/* Half of the runs have tasks. */
static void choose_tasks(struct soak *soak)
{
    struct hub_config *hub = &soak->config.hub;

    if (soak_below(soak, 2))
        return;
    hub->tasks = 1 + (uint32_t)soak_below(soak, 30);
    hub->task_time = between(soak, 3 * SECOND, 20 * SECOND);
    soak->task_steps = 1 + soak_below(soak, 20);
}

/* Bytes a second: a round of all takes some seconds at worst; 0: any. */
static uint64_t rate(struct soak *soak)
{
    return soak_below(soak, 3) ? 0 : 200u << soak_below(soak, 8);
}

static void choose_rates(struct soak *soak)
{
    struct hub_config *hub = &soak->config.hub;

    hub->up = rate(soak);
    hub->down = rate(soak);
    if (soak_below(soak, 2))
        hub->budget = 1 + soak_below(soak, 200);
}

/* A matrix, and where there is room for it a bias, which is never encoded. */
static void choose_shape(struct soak *soak)
{
    uint32_t length = 1 + (uint32_t)soak_below(soak, 4);
    uint64_t elements, bias, shape[2];

    soak->chunks = 1 + (uint32_t)soak_below(soak, SOAK_CHUNKS);
    elements = (uint64_t)soak->chunks * length - soak_below(soak, length);
    bias = elements / 4;
    shape[0] = elements - bias;
    shape[1] = 1;
    soak->config.hub.chunk_elements = length;
    soak->schema = schema_new();
    if (!soak->schema ||
        schema_add(soak->schema, "w", 2, shape, NULL) != STATUS_OK ||
        (bias &&
         schema_add(soak->schema, "b", 1, &bias, NULL) != STATUS_OK))
        abort();
    soak->exempt = exempt_new(soak->schema);
    if (!soak->exempt)
        abort();
    soak->config.schema = soak->schema;
}

static void choose_network(struct soak *soak)
{
    struct world_config *config = &soak->config;

    config->link.latency = between(soak, 100 * MICROSECOND, 40 * MILLISECOND);
    config->link.jitter = between(soak, 0, 40 * MILLISECOND);
    config->link.up = config->link.down = 16000u << soak_below(soak, 8);
    config->reconnect = between(soak, 100 * MILLISECOND, 2 * SECOND);
    config->job = between(soak, 1, MILLISECOND);
    config->job_jitter = between(soak, 0, 5 * MILLISECOND);
    config->saves = soak_below(soak, 4) > 0;
}

/* In half of the runs each node starts elsewhere. */
static void choose_starts(struct soak *soak)
{
    bool alike = soak_below(soak, 2);

    for (size_t i = 0; i < SOAK_NODES; i++)
        for (size_t j = 0; j < SOAK_ELEMENTS; j++)
            soak->starts[i][j] = i && alike
                                     ? soak->starts[0][j]
                                     : (float)prng_unit(&soak->prng) - 0.5f;
}

static void add_node(struct soak *soak, unsigned number)
{
    struct quadratic *model = &soak->models[number];
    char name[16];
    struct world_node node = {
        .name = name,
        .up = rate(soak),
        .down = rate(soak),
        .trainer = {.start = soak->starts[number],
                    .elements = (size_t)soak->schema->elements,
                    .step = between(soak, 20 * MILLISECOND,
                                    200 * MILLISECOND),
                    .step_jitter = between(soak, 0, 50 * MILLISECOND),
                    .rate = 0.005,
                    .samples = 1 + soak_below(soak, 3),
                    .task_steps = soak->task_steps,
                    .gradient = trainer_quadratic,
                    .evaluate = number % 3 ? review : NULL,
                    .context = model}};

    for (size_t i = 0; i < SOAK_ELEMENTS; i++)
        soak->centres[number][i] = (float)prng_unit(&soak->prng);
    *model = (struct quadratic){1, soak->centres[number]};
    (void)snprintf(name, sizeof name, "n%u", number + 1);
    if (soak_below(soak, 4) == 0)
        node.trainer.step /= 4;
    (void)world_add_node(soak->world, &node);
}

void soak_configure(struct soak *soak)
{
    prng_seed(&soak->prng, soak->seed);
    soak->nodes = 2 + (unsigned)soak_below(soak, SOAK_NODES - 1);
    choose_policy(soak);
    choose_schedule(soak);
    choose_shape(soak);
    choose_network(soak);
    choose_starts(soak);
    soak->config.hooks.context = soak;
    soak->config.hooks.after_step = soak_judge_step;
    soak->config.hooks.filter = filter;
    if (soak_below(soak, 2))
        soak->config.hooks.evaluate = evaluate;
    choose_tasks(soak);
    choose_codecs(soak);
    if (settle_cut_conflict(&soak->config.hub) &&
        soak->config.hub.miss == MISS_CUT)
        soak->config.hub.miss = MISS_LATE;
    choose_rates(soak);
    soak->world = world_new(soak->seed, &soak->config);
    for (unsigned i = 0; i < soak->nodes; i++)
        add_node(soak, i);
}
