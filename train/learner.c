#include "train/learner.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/outcome.h"
#include "train/softmax.h"

void learner_add(struct learner *learner, enum role role, const char *name,
                 size_t rows, size_t columns)
{
    unsigned i = learner->tensor_count++;
    struct star_trainer_tensor *tensor = &learner->tensors[i];
    struct optimizer_part *part = &learner->parts[i];

    assert(i < LEARNER_TENSORS_MAX && strlen(name) < LEARNER_NAME_BYTES);
    (void)snprintf(learner->names[i], LEARNER_NAME_BYTES, "%s", name);
    tensor->name = learner->names[i];
    tensor->rank = columns ? 2 : 1;
    tensor->shape[0] = rows;
    tensor->shape[1] = columns;
    *part = (struct optimizer_part){role, rows, columns ? columns : 1};
    learner->elements += part->rows * part->columns;
}

void learner_add_pair(struct learner *learner, enum role role, const char *name,
                      size_t rows, size_t columns)
{
    char full[LEARNER_NAME_BYTES];

    (void)snprintf(full, sizeof full, "%s.weight", name);
    learner_add(learner, role, full, rows, columns);
    (void)snprintf(full, sizeof full, "%s.bias", name);
    learner_add(learner, ROLE_OTHER, full, rows, 0);
}

void learner_free(struct learner *learner)
{
    optimizer_free(&learner->optimizer);
    free(learner->values);
    free(learner->gradients);
    free(learner->places);
    free(learner->labels);
    memset(learner, 0, sizeof *learner);
}

static enum status check_size(const struct learner *learner, struct why *why)
{
    if (learner->elements <= LEARNER_ELEMENTS_MAX)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the model would have %zu parameters; at most %d are "
                   "supported, use narrower layers",
                   learner->elements, LEARNER_ELEMENTS_MAX);
}

static enum status allocate(struct learner *learner, const struct spec *spec)
{
    struct optimizer_settings settings = spec_optimizer(spec);
    size_t most = learner->network.most;

    learner->values = calloc(learner->elements, sizeof(float));
    learner->gradients = calloc(learner->elements, sizeof(float));
    learner->places = calloc(most, sizeof *learner->places);
    learner->labels =
        calloc(most * learner->network.guesses, sizeof *learner->labels);
    if (!learner->values || !learner->gradients || !learner->places ||
        !learner->labels)
        return STATUS_NO_MEMORY;
    return optimizer_init(&learner->optimizer, &settings, learner->parts,
                          learner->tensor_count);
}

/* The tensors lie end to end. */
static void place_tensors(struct learner *learner)
{
    size_t offset = 0;

    for (unsigned i = 0; i < learner->tensor_count; i++) {
        learner->tensors[i].value = learner->values + offset;
        learner->tensors[i].gradient = learner->gradients + offset;
        offset += learner->parts[i].rows * learner->parts[i].columns;
    }
}

enum status learner_begin(struct learner *learner, const struct spec *spec,
                          const struct star_trainer_settings *settings,
                          struct why *why)
{
    enum status status = check_size(learner, why);

    learner->batch = (size_t)spec->number[SPEC_BATCH];
    assert(status || learner->batch <= learner->network.most);
    if (!status && allocate(learner, spec))
        status = because(why, STATUS_NO_MEMORY,
                         "no memory for a model of this size");
    if (!status)
        status = sampler_set_shard(&learner->sampler, settings->shard,
                                   settings->shards, why);
    if (status)
        learner_free(learner);
    else
        place_tensors(learner);
    return status;
}

enum star_trainer_outcome
learner_create(size_t size, learner_model *init,
               const struct star_trainer_settings *settings, void **self,
               char *error, size_t error_size)
{
    struct why why = {"no memory"};
    void *model = calloc(1, size);
    enum status status = model ? init(model, settings, &why) : STATUS_NO_MEMORY;

    if (!status) {
        *self = model;
        return STAR_TRAINER_OK;
    }
    (void)snprintf(error, error_size, "%s", why.text);
    free(model);
    return outcome_of(status);
}

void learner_describe(void *self, struct star_trainer_model *out)
{
    struct learner *learner = self;
    const struct network *network = &learner->network;

    out->tensors = learner->tensors;
    out->tensor_count = learner->tensor_count;
    out->values = learner->values;
    out->gradients = learner->gradients;
    out->elements = learner->elements;
    out->summary = learner->summary;
    out->training_samples = network->training * network->guesses;
    out->held_out_samples = network->held_out * network->guesses;
    out->batch = learner->batch * network->guesses;
}

enum star_trainer_outcome learner_gradient(void *self, double *loss,
                                           uint64_t *samples)
{
    struct learner *learner = self;
    const struct network *network = &learner->network;
    struct batch batch = {0, learner->places, learner->batch};
    size_t guesses = batch.count * network->guesses, correct = 0;
    float *logits;

    for (size_t i = 0; i < batch.count; i++)
        learner->places[i] = sampler_draw(&learner->sampler);
    logits =
        network->forward(network->of, &batch, learner->values, learner->labels);
    *loss = softmax_cross_entropy(logits, learner->labels, guesses,
                                  network->classes, &correct, NULL) /
            (double)guesses;
    *samples = guesses;
    network->backward(network->of, &batch, learner->values, learner->gradients);
    return STAR_TRAINER_OK;
}

enum star_trainer_outcome learner_step(void *self)
{
    struct learner *learner = self;

    optimizer_step(&learner->optimizer, learner->values, learner->gradients);
    return STAR_TRAINER_OK;
}

/* The standard deviation of `count` values with this sum and sum of squares;
 * 0 for one value. NaN where the values are not finite. */
static double deviation_of(double sum, double squares, double count)
{
    double mean = sum / count;
    double variance = squares / count - mean * mean;

    if (count < 2 || variance < 0)
        return 0;
    return sqrt(variance * count / (count - 1));
}

enum star_trainer_outcome learner_evaluate(void *self, const float *values,
                                           uint64_t max_samples,
                                           struct star_evaluation *out)
{
    struct learner *learner = self;
    const struct network *network = &learner->network;
    struct batch batch = {1, learner->places, 0};
    uint64_t total = network->held_out * network->guesses, place = 0;
    size_t correct = 0, rows;
    double loss = 0, squares = 0;

    if (max_samples && max_samples < total)
        total = max_samples;
    for (uint64_t done = 0; done < total; done += rows) {
        rows = network->most * network->guesses;
        if (rows > total - done)
            rows = (size_t)(total - done);
        batch.count = (rows - 1) / network->guesses + 1;
        for (size_t i = 0; i < batch.count; i++)
            learner->places[i] = place++;
        loss += softmax_cross_entropy(
            network->forward(network->of, &batch,
                             values ? values : learner->values,
                             learner->labels),
            learner->labels, rows, network->classes, &correct, &squares);
    }
    out->loss = loss / (double)total;
    out->accuracy = (double)correct / (double)total;
    out->samples = total;
    out->deviation = deviation_of(loss, squares, (double)total);
    return STAR_TRAINER_OK;
}

enum star_trainer_outcome learner_set_shard(void *self, uint32_t shard,
                                            uint32_t shards)
{
    struct learner *learner = self;

    return outcome_of(
        sampler_set_shard(&learner->sampler, shard, shards, &learner->why));
}

void learner_reset_optimizer(void *self)
{
    struct learner *learner = self;

    optimizer_reset(&learner->optimizer);
}

const char *learner_last_error(void *self)
{
    struct learner *learner = self;

    return learner->why.text;
}
