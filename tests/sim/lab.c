#include "tests/sim/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { SPREAD_OF_STARTS = 20 };

static const struct preset *preset_of(const char *name)
{
    const struct preset *preset = preset_find(name);

    if (!preset)
        abort();
    return preset;
}

static void *zeros(size_t count, size_t size)
{
    void *room = calloc(count, size);

    if (!room)
        abort();
    return room;
}

struct lab *lab_new(size_t elements)
{
    struct lab *lab = zeros(1, sizeof *lab);
    const struct preset *mean = preset_of("mean");
    struct hub_config *hub = &lab->config.hub;
    const uint64_t shape[2] = {elements, 1};

    lab->elements = elements;
    lab->samples = 1;
    lab->schema = schema_new();
    if (!lab->schema ||
        schema_add(lab->schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    lab->start = zeros(elements, sizeof *lab->start);
    hub->policy = mean->policy;
    hub->run = 7;
    hub->every = 1;
    hub->wait = 60 * SECOND;
    hub->nodes = 1;
    hub->chunk_elements = 4;
    hub->window = (uint64_t)8 * 16;
    hub->staleness = 1000;
    hub->save_interval = 10 * SECOND;
    hub->evaluate_interval = SECOND;
    lab->config.schema = lab->schema;
    lab->config.link =
        (struct world_link){.latency = MILLISECOND, .jitter = MILLISECOND};
    lab->config.link.up = lab->config.link.down = 100000000;
    lab->config.reconnect = SECOND;
    lab->config.job = 50 * MICROSECOND;
    lab->config.job_jitter = 100 * MICROSECOND;
    lab->config.saves = true;
    return lab;
}

/* What a result's values add to: statistics are as they are. */
static double before(const struct lab *lab, const struct extent *extent,
                     const struct msg_result *result, size_t i)
{
    struct statistic_part part = {0};

    return result->base == result->version ||
                   extent_statistics(extent, i, 1, &part)
               ? 0
               : (double)lab->versions[result->base * lab->elements +
                                       extent->first + i];
}

const float *lab_result(const struct lab *lab, const struct msg_result *result,
                        struct blob *payload)
{
    uint64_t version;
    const float *values =
        hub_centre(world_hub(lab->world), result->chunk, &version);

    if (payload)
        return blob_floats(payload);
    return version == result->version ? values : NULL;
}

/* A result holds a chunk of the centre as it was merged, or is a change of what
 * another one held. What a newcomer takes is the same, where there are changes.
 * Without a payload its node knows it.
 */
static void keep_result(struct lab *lab, const struct msg_result *result,
                        struct blob *payload)
{
    uint64_t version = result->version;
    uint32_t length = lab->config.hub.chunk_elements;
    size_t first = (size_t)result->chunk * length;
    struct extent extent =
        extent_of(lab->exempt, lab->elements, length, result->chunk);
    float *values;

    if (version >= LAB_VERSIONS ||
        (result->codec != CODEC_RAW && result->base == version))
        return; /* parameters of another node */
    values = lab->versions + version * lab->elements + first;
    for (size_t i = 0; i < extent.elements; i++) {
        const float *known = payload ? NULL : lab_result(lab, result, NULL);
        double value = payload ? before(lab, &extent, result, i)
                       : known ? (double)known[i]
                               : NAN;

        if (payload)
            payload_add(&extent, result->codec, payload->bytes, i, 1, 1,
                        &value);
        values[i] = (float)value;
    }
    lab->published[version] |= 1u << result->chunk % 32;
    while (lab->version + 1 < LAB_VERSIONS &&
           lab->published[lab->version + 1] == lab->published[0])
        lab->version++;
}

static void take_hub_effects(struct lab *lab, const struct effects *effects)
{
    for (unsigned i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->list[i];

        if (effect->kind != EFFECT_SEND || effect->msg.kind != MSG_RESULT)
            continue;
        if (effect->msg.result.exchange) {
            lab->results++;
            lab->unmerged += effect->msg.result.verdict != VERDICT_MERGED;
        } else if (lab->config.hub.codec_down == CODEC_RAW) {
            continue;
        }
        keep_result(lab, &effect->msg.result, effect->payload);
    }
}

static void watch(void *context, const struct world_step *step)
{
    struct lab *lab = context;

    if (step->process == WORLD_HUB)
        take_hub_effects(lab, step->effects);
    if (lab->after_step)
        lab->after_step(lab, step);
}

void lab_open(struct lab *lab, uint64_t seed)
{
    lab->chunks = chunks_of(lab->elements, lab->config.hub.chunk_elements);
    lab->published = zeros(LAB_VERSIONS, sizeof *lab->published);
    lab->versions =
        zeros((size_t)LAB_VERSIONS * lab->elements, sizeof *lab->versions);
    for (uint32_t i = 0; i < lab->chunks; i++)
        lab->published[0] |= 1u << i % 32;
    lab->exempt = exempt_new(lab->schema);
    if (!lab->exempt)
        abort();
    lab->config.hooks.context = lab;
    lab->config.hooks.after_step = watch;
    lab->world = world_new(seed, &lab->config);
    world_start(lab->world, WORLD_HUB);
}

static void start_next(void *context, struct world *world)
{
    struct lab *lab = context;

    world_start(world, lab->nodes++);
}

unsigned lab_describe(struct lab *lab, const char *name,
                      const struct model *model)
{
    struct world_node node = {
        .name = name,
        .promised = lab->promised,
        .trainer = {.start = lab->start,
                    .elements = lab->elements,
                    .step = model->step ? model->step : 100 * MILLISECOND,
                    .rate = model->rate,
                    .samples = lab->samples,
                    .task_steps = lab->task_steps,
                    .gradient = model->gradient,
                    .evaluate = lab->evaluate,
                    .context = model->context,
                    .look = model->look,
                    .observer = model->observer}};

    return world_add_node(lab->world, &node);
}

unsigned lab_add(struct lab *lab, const char *name, const struct model *model)
{
    unsigned number = lab_describe(lab, name, model);

    world_at(lab->world, (nanos)number * SPREAD_OF_STARTS * MILLISECOND,
             start_next, lab);
    return number;
}

void lab_destroy(struct lab **reference)
{
    struct lab *lab = *reference;

    *reference = NULL;
    world_destroy(&lab->world);
    exempt_destroy(&lab->exempt);
    schema_destroy(&lab->schema);
    free(lab->start);
    free(lab->published);
    free(lab->versions);
    free(lab);
}

struct aim {
    const struct lab *lab;
    uint64_t rounds;
};

static bool rounds_done(void *context, struct world *world)
{
    const struct aim *aim = context;

    (void)world;
    return aim->lab->version >= aim->rounds;
}

static bool run_ended(void *context, struct world *world)
{
    (void)context;
    return world_hub(world) && hub_ended(world_hub(world));
}

static bool report(struct lab *lab, bool held)
{
    CHECK_TEXT(NULL, world_broken(lab->world));
    return CHECK(held);
}

bool lab_run_rounds(struct lab *lab, uint64_t rounds)
{
    struct aim aim = {lab, rounds};

    return report(lab, world_run_until(lab->world,
                                       world_now(lab->world) + 3600 * SECOND,
                                       rounds_done, &aim));
}

bool lab_run_to_end(struct lab *lab)
{
    return report(lab, world_run_until(lab->world,
                                       world_now(lab->world) + 3600 * SECOND,
                                       run_ended, NULL));
}

bool lab_run(struct lab *lab, nanos span)
{
    return report(lab, world_run(lab->world, world_now(lab->world) + span));
}

const struct hub_view *lab_look(struct lab *lab)
{
    hub_look(world_hub(lab->world), world_now(lab->world), &lab->view);
    return &lab->view;
}

double lab_value(const struct lab *lab, uint64_t version)
{
    return (double)lab_values(lab, version)[0];
}

const float *lab_values(const struct lab *lab, uint64_t version)
{
    return lab->versions + version * lab->elements;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

unsigned lab_differing(const struct lab *lab, uint64_t version,
                       const float *values)
{
    const float *ours = lab_values(lab, version);
    unsigned differing = 0;

    for (size_t i = 0; i < lab->elements; i++)
        differing += bits_of(ours[i]) != bits_of(values[i]);
    return differing;
}

bool lab_tell_truth(const void *context, const float *x, size_t elements,
                    double *loss, double *error)
{
    (void)context;
    *loss = *error = 0;
    for (size_t i = 0; i < elements; i++)
        *loss += (double)x[i] * (double)x[i] / 2;
    return true;
}
