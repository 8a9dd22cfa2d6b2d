/* A trainer plug-in in one page: logistic regression on two made-up clouds.
 *
 *     cc -shared -fPIC -Iinclude -o blobs.so examples/blobs_trainer.c -lm
 *     starswitch-node --trainer ./blobs.so ...
 *
 * A sample is two numbers around (1, 1) or (-1, -1); which cloud it came from
 * is the question. The samples are computed from their number, so there is no
 * data to load, and shard s of n takes the numbers s, s + n, s + 2n ... */
#include "starswitch_trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRAINING = 10000, HELD_OUT = 1000, BATCH = 32 };

struct blobs {
    float values[3], gradients[3]; /* two weights, then the bias */
    struct star_trainer_tensor tensors[2];
    uint64_t shard, shards, drawn;
};

/* A number in [0, 1) that looks random. */
static double noise(uint64_t i)
{
    double wave = sin((double)i * 12.9898) * 43758.5453;

    return wave - floor(wave);
}

/* Sample `i`: its two numbers, and 0 or 1 for its cloud. */
static int sample(uint64_t i, double x[2])
{
    int label = noise(3 * i) < 0.5;

    x[0] = 4 * noise(3 * i + 1) - (label ? 1 : 3);
    x[1] = 4 * noise(3 * i + 2) - (label ? 1 : 3);
    return label;
}

/* How sure the values are that x is of cloud 1. */
static double guess(const float *values, const double x[2])
{
    return 1 / (1 + exp(-(values[0] * x[0] + values[1] * x[1] + values[2])));
}

static double loss_of(double p, int label)
{
    return -log(fmax(label ? p : 1 - p, 1e-12));
}

static enum star_trainer_outcome blobs_set_shard(void *self, uint32_t shard,
                                                 uint32_t shards)
{
    struct blobs *blobs = self;

    if (shard >= shards || shard >= TRAINING)
        return STAR_TRAINER_MISFIT;
    blobs->shard = shard;
    blobs->shards = shards;
    blobs->drawn = 0;
    return STAR_TRAINER_OK;
}

static enum star_trainer_outcome
blobs_create(const struct star_trainer_settings *settings, void **self,
             char *error, size_t error_size)
{
    struct blobs *blobs = calloc(1, sizeof *blobs);

    if (!blobs || blobs_set_shard(blobs, settings->shard, settings->shards)) {
        (void)snprintf(error, error_size, "no memory or no such shard");
        free(blobs);
        return STAR_TRAINER_MISFIT;
    }
    blobs->tensors[0] = (struct star_trainer_tensor){
        "weight", 1, {2}, blobs->values, blobs->gradients};
    blobs->tensors[1] = (struct star_trainer_tensor){
        "bias", 1, {1}, blobs->values + 2, blobs->gradients + 2};
    *self = blobs;
    return STAR_TRAINER_OK;
}

static void blobs_describe(void *self, struct star_trainer_model *out)
{
    struct blobs *blobs = self;

    *out = (struct star_trainer_model){
        blobs->tensors,   2,        blobs->values,
        blobs->gradients, 3,        "logistic regression on two clouds",
        TRAINING,         HELD_OUT, BATCH};
}

static enum star_trainer_outcome blobs_gradient(void *self, double *loss,
                                                uint64_t *samples)
{
    struct blobs *blobs = self;
    double sum[3] = {0}, total = 0, x[2];

    for (int i = 0; i < BATCH; i++) {
        uint64_t turn = blobs->drawn++ % (TRAINING / blobs->shards);
        int label = sample(blobs->shard + blobs->shards * turn, x);
        double p = guess(blobs->values, x);

        sum[0] += (p - label) * x[0];
        sum[1] += (p - label) * x[1];
        sum[2] += p - label;
        total += loss_of(p, label);
    }
    for (int i = 0; i < 3; i++)
        blobs->gradients[i] = (float)(sum[i] / BATCH);
    *loss = total / BATCH;
    *samples = BATCH;
    return STAR_TRAINER_OK;
}

static enum star_trainer_outcome blobs_step(void *self)
{
    struct blobs *blobs = self;

    for (int i = 0; i < 3; i++)
        blobs->values[i] -= 0.1f * blobs->gradients[i];
    return STAR_TRAINER_OK;
}

static enum star_trainer_outcome blobs_evaluate(void *self, const float *values,
                                                uint64_t max_samples,
                                                struct star_evaluation *out)
{
    struct blobs *blobs = self;
    uint64_t count =
        max_samples && max_samples < HELD_OUT ? max_samples : HELD_OUT;

    double squares = 0;

    *out = (struct star_evaluation){.samples = count};
    for (uint64_t i = 0; i < count; i++) {
        double x[2];
        int label = sample(TRAINING + i, x);
        double p = guess(values ? values : blobs->values, x);
        double loss = loss_of(p, label);

        out->loss += loss / (double)count;
        squares += loss * loss / (double)count;
        out->accuracy += ((p > 0.5) == label) / (double)count;
    }
    squares -= out->loss * out->loss;
    out->deviation = squares > 0 ? sqrt(squares) : 0;
    return STAR_TRAINER_OK;
}

static const struct star_trainer_type type = {
    .abi = STAR_TRAINER_ABI,
    .name = "blobs",
    .help = "logistic regression on two made-up clouds; no spec, no data",
    .create = blobs_create,
    .destroy = free,
    .describe = blobs_describe,
    .gradient = blobs_gradient,
    .step = blobs_step,
    .evaluate = blobs_evaluate,
    .set_shard = blobs_set_shard,
};

const struct star_trainer_type *star_trainer(void)
{
    return &type;
}
