#include "train/classifier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/outcome.h"
#include "train/softmax.h"

enum { EVALUATION_ROWS = 128 };

static size_t elements_of(const struct star_tensor *tensor)
{
    size_t product = 1;

    for (int i = 0; i < tensor->rank; i++)
        product *= (size_t)tensor->shape[i];
    return product;
}

void classifier_free(struct classifier *classifier)
{
    dense_free(&classifier->dense);
    optimizer_free(&classifier->optimizer);
    free(classifier->values);
    free(classifier->gradients);
    free(classifier->samples);
    free(classifier->labels);
    memset(classifier, 0, sizeof *classifier);
}

static enum status allocate(struct classifier *classifier,
                            const struct spec *spec)
{
    struct optimizer_settings settings = spec_optimizer(spec);
    size_t rows = (size_t)spec->number[SPEC_BATCH];
    enum status status;

    classifier->batch = rows;
    if (rows < EVALUATION_ROWS)
        rows = EVALUATION_ROWS;
    status = dense_init(&classifier->dense, spec->widths, spec->width_count - 1,
                        rows);
    if (status)
        return status;
    classifier->elements = classifier->own + dense_elements(&classifier->dense);
    classifier->values = calloc(classifier->elements, sizeof(float));
    classifier->gradients = calloc(classifier->elements, sizeof(float));
    classifier->samples = calloc(rows, sizeof *classifier->samples);
    classifier->labels = calloc(rows, sizeof *classifier->labels);
    if (!classifier->values || !classifier->gradients || !classifier->samples ||
        !classifier->labels)
        return STATUS_NO_MEMORY;
    return optimizer_init(&classifier->optimizer, &settings,
                          classifier->elements);
}

/* Appends a tensor that begins `offset` floats into the vectors. */
static void add_tensor(struct classifier *classifier, const char *name,
                       const uint64_t shape[], int rank, size_t offset)
{
    unsigned i = classifier->tensor_count++;
    struct star_tensor *tensor = &classifier->tensors[i];

    (void)snprintf(classifier->names[i], CLASSIFIER_NAME_BYTES, "%s", name);
    tensor->name = classifier->names[i];
    tensor->rank = rank;
    for (int d = 0; d < rank; d++)
        tensor->shape[d] = shape[d];
    tensor->value = classifier->values + offset;
    tensor->gradient = classifier->gradients + offset;
}

static void name_tensors(struct classifier *classifier)
{
    const struct star_tensor *own = &classifier->source.own;
    const struct dense *dense = &classifier->dense;
    size_t offset = classifier->own;
    char name[CLASSIFIER_NAME_BYTES];

    if (own->name)
        add_tensor(classifier, own->name, own->shape, own->rank, 0);
    for (unsigned l = 0; l < dense->layers; l++) {
        uint64_t shape[2] = {dense->width[l + 1], dense->width[l]};

        (void)snprintf(name, sizeof name, "layer%u.weight", l + 1);
        add_tensor(classifier, name, shape, 2, offset);
        (void)snprintf(name, sizeof name, "layer%u.bias", l + 1);
        add_tensor(classifier, name, shape, 1,
                   offset + (size_t)(shape[0] * shape[1]));
        offset += dense_layer_elements(dense, l);
    }
}

static void randomize(struct classifier *classifier, uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    for (size_t i = 0; i < classifier->own; i++)
        classifier->values[i] = (float)prng_normal(&prng);
    dense_randomize(&classifier->dense, classifier->values + classifier->own,
                    &prng);
}

static enum status check_size(const struct spec *spec, size_t own,
                              struct why *why)
{
    size_t sum = own;

    for (unsigned l = 0; l + 1 < spec->width_count; l++)
        sum += (spec->widths[l] + 1) * spec->widths[l + 1];
    if (sum <= DENSE_ELEMENTS_MAX)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "the model would have %zu parameters; at most %d are "
                   "supported, use narrower layers",
                   sum, DENSE_ELEMENTS_MAX);
}

enum status classifier_init(struct classifier *classifier, const char *name,
                            const struct spec *spec,
                            const struct source *source,
                            const struct star_trainer_settings *settings,
                            struct why *why)
{
    char widths[CLASSIFIER_SUMMARY_BYTES - 8];
    size_t own = source->own.name ? elements_of(&source->own) : 0;
    enum status status = check_size(spec, own, why);

    memset(classifier, 0, sizeof *classifier);
    if (status)
        return status;
    classifier->source = *source;
    classifier->own = own;
    status = allocate(classifier, spec);
    if (status)
        status = because(why, status, "no memory for a model of this size");
    sampler_init(&classifier->sampler, source->training, settings->split_seed,
                 settings->seed);
    if (!status)
        status = sampler_set_shard(&classifier->sampler, settings->shard,
                                   settings->shards, why);
    if (status) {
        classifier_free(classifier);
        return status;
    }
    spec_print_widths(spec, widths, sizeof widths);
    (void)snprintf(classifier->summary, sizeof classifier->summary, "%.6s %s",
                   name, widths);
    name_tensors(classifier);
    randomize(classifier, settings->seed);
    return STATUS_OK;
}

/* Loads and runs a batch forward; returns the logits. */
static float *run(struct classifier *classifier, const struct batch *batch,
                  const float *values)
{
    classifier->source.load(classifier->source.of, batch, values,
                            dense_inputs(&classifier->dense),
                            classifier->labels);
    return dense_forward(&classifier->dense, values + classifier->own,
                         batch->count);
}

static size_t classes_of(const struct classifier *classifier)
{
    return classifier->dense.width[classifier->dense.layers];
}

enum star_trainer_outcome
classifier_create(size_t size, classifier_model *init,
                  const struct star_trainer_settings *settings, void **self,
                  char *error, size_t error_size)
{
    struct why why = {"no memory"};
    void *model = calloc(1, size);
    enum status status = model ? init(model, settings, &why)
                               : STATUS_NO_MEMORY;

    if (!status) {
        *self = model;
        return STAR_TRAINER_OK;
    }
    (void)snprintf(error, error_size, "%s", why.text);
    free(model);
    return outcome_of(status);
}

void classifier_describe(void *self, struct star_trainer_model *out)
{
    struct classifier *classifier = self;

    out->tensors = classifier->tensors;
    out->tensor_count = classifier->tensor_count;
    out->values = classifier->values;
    out->gradients = classifier->gradients;
    out->elements = classifier->elements;
    out->summary = classifier->summary;
    out->training_samples = classifier->source.training;
    out->held_out_samples = classifier->source.held_out;
    out->batch = classifier->batch;
}

enum star_trainer_outcome classifier_gradient(void *self, double *loss,
                                              uint64_t *samples)
{
    struct classifier *classifier = self;
    const struct source *source = &classifier->source;
    struct batch batch = {0, classifier->samples, classifier->batch};
    float *logits;
    size_t correct = 0;

    for (size_t i = 0; i < batch.count; i++)
        classifier->samples[i] = sampler_draw(&classifier->sampler);
    logits = run(classifier, &batch, classifier->values);
    *loss = softmax_cross_entropy(logits, classifier->labels, batch.count,
                                  classes_of(classifier), &correct, NULL) /
            (double)batch.count;
    *samples = batch.count;
    dense_backward(&classifier->dense, classifier->values + classifier->own,
                   classifier->gradients + classifier->own, batch.count,
                   source->gather != NULL);
    if (source->gather)
        source->gather(source->of, &batch, dense_inputs(&classifier->dense),
                       classifier->gradients);
    return STAR_TRAINER_OK;
}

enum star_trainer_outcome classifier_step(void *self)
{
    struct classifier *classifier = self;

    optimizer_step(&classifier->optimizer, classifier->values,
                   classifier->gradients);
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

enum star_trainer_outcome classifier_evaluate(void *self, const float *values,
                                              uint64_t max_samples,
                                              struct star_evaluation *out)
{
    struct classifier *classifier = self;
    struct batch batch = {1, classifier->samples, 0};
    uint64_t total = classifier->source.held_out;
    size_t correct = 0;
    double loss = 0, squares = 0;

    if (max_samples && max_samples < total)
        total = max_samples;
    for (uint64_t done = 0; done < total; done += batch.count) {
        batch.count = total - done < EVALUATION_ROWS ? (size_t)(total - done)
                                                     : EVALUATION_ROWS;
        for (size_t i = 0; i < batch.count; i++)
            classifier->samples[i] = done + i;
        loss += softmax_cross_entropy(
            run(classifier, &batch, values ? values : classifier->values),
            classifier->labels, batch.count, classes_of(classifier), &correct,
            &squares);
    }
    out->loss = loss / (double)total;
    out->accuracy = (double)correct / (double)total;
    out->samples = total;
    out->deviation = deviation_of(loss, squares, (double)total);
    return STAR_TRAINER_OK;
}

enum star_trainer_outcome classifier_set_shard(void *self, uint32_t shard,
                                               uint32_t shards)
{
    struct classifier *classifier = self;

    return outcome_of(sampler_set_shard(&classifier->sampler, shard, shards,
                                        &classifier->why));
}

void classifier_reset_optimizer(void *self)
{
    struct classifier *classifier = self;

    optimizer_reset(&classifier->optimizer);
}

const char *classifier_last_error(void *self)
{
    struct classifier *classifier = self;

    return classifier->why.text;
}
