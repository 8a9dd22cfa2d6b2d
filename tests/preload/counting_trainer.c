/* A trainer that learns nothing and counts, so that what a centre must hold
 * can be worked out by hand: each step adds 1 to one coordinate of each
 * tensor. A step stands for one sample.
 *
 *     starswitch-node --trainer ./counting_trainer.so --model x:2,FILE
 *
 * is the one of coordinate 2; FILE has the number of its steps in the end. */
#include "starswitch_trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 300, W = ROWS * COLUMNS, ELEMENTS = W + ROWS };

struct counting {
    float values[ELEMENTS], gradients[ELEMENTS];
    struct star_trainer_tensor tensors[2];
    unsigned long coordinate, steps;
    char path[200];
};

static enum star_trainer_outcome
counting_create(const struct star_trainer_settings *settings, void **self,
                char *error, size_t error_size)
{
    struct counting *counting = calloc(1, sizeof *counting);
    char *rest;

    if (!counting)
        return STAR_TRAINER_NO_MEMORY;
    counting->coordinate = strtoul(settings->spec, &rest, 10);
    if (counting->coordinate >= ROWS) {
        (void)snprintf(error, error_size, "there are %d coordinates", ROWS);
        free(counting);
        return STAR_TRAINER_BAD_SPEC;
    }
    if (*rest == ',')
        (void)snprintf(counting->path, sizeof counting->path, "%s", rest + 1);
    counting->tensors[0] = (struct star_trainer_tensor){
        "w", 2, {ROWS, COLUMNS}, counting->values, counting->gradients};
    counting->tensors[1] = (struct star_trainer_tensor){
        "b", 1, {ROWS}, counting->values + W, counting->gradients + W};
    *self = counting;
    return STAR_TRAINER_OK;
}

static void counting_destroy(void *self)
{
    struct counting *counting = self;
    FILE *file = counting->path[0] ? fopen(counting->path, "w") : NULL;

    if (file) {
        (void)fprintf(file, "%lu\n", counting->steps);
        (void)fclose(file);
    }
    free(counting);
}

static void counting_describe(void *self, struct star_trainer_model *out)
{
    struct counting *counting = self;

    *out = (struct star_trainer_model){counting->tensors,
                                       2,
                                       counting->values,
                                       counting->gradients,
                                       ELEMENTS,
                                       "counts its steps",
                                       1000000,
                                       0,
                                       1};
}

static enum star_trainer_outcome counting_gradient(void *self, double *loss,
                                                   uint64_t *samples)
{
    (void)self;
    *loss = 1;
    *samples = 1;
    return STAR_TRAINER_OK;
}

static enum star_trainer_outcome counting_step(void *self)
{
    struct counting *counting = self;

    counting->values[counting->coordinate * (COLUMNS + 1)] += 1;
    counting->values[W + counting->coordinate] += 1;
    counting->steps++;
    return STAR_TRAINER_OK;
}

static enum star_trainer_outcome counting_evaluate(void *self,
                                                   const float *values,
                                                   uint64_t max_samples,
                                                   struct star_evaluation *out)
{
    (void)self;
    (void)values;
    (void)max_samples;
    *out = (struct star_evaluation){.accuracy = -1};
    return STAR_TRAINER_FAILED;
}

static enum star_trainer_outcome counting_set_shard(void *self, uint32_t shard,
                                                    uint32_t shards)
{
    (void)self;
    (void)shard;
    (void)shards;
    return STAR_TRAINER_OK;
}

static const struct star_trainer_type counting = {
    .abi = STAR_TRAINER_ABI,
    .name = "counting",
    .help = "counts: COORDINATE or COORDINATE,FILE",
    .create = counting_create,
    .destroy = counting_destroy,
    .describe = counting_describe,
    .gradient = counting_gradient,
    .step = counting_step,
    .evaluate = counting_evaluate,
    .set_shard = counting_set_shard,
};

const struct star_trainer_type *star_trainer(void)
{
    return &counting;
}
