#include "sim/study/local_learner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"

struct local_learner {
    struct trainer *trainer;
};

static void insist(enum status status, const struct why *why)
{
    if (status == STATUS_OK)
        return;
    (void)fprintf(stderr, "%s\n", why->text);
    exit(status_exit_code(status));
}

enum status local_learner_open(const struct trainer_choice *choice,
                               struct local_learner **out, struct why *why)
{
    struct local_learner *learner = calloc(1, sizeof *learner);
    enum status status;

    if (!learner)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    status = trainer_open(choice, &learner->trainer, why);
    if (status == STATUS_OK)
        *out = learner;
    else
        free(learner);
    return status;
}

void local_learner_close(struct local_learner **reference)
{
    struct local_learner *learner = *reference;

    *reference = NULL;
    if (!learner)
        return;
    trainer_close(&learner->trainer);
    free(learner);
}

enum status local_learner_count(const struct options *options, uint64_t *out,
                                struct why *why)
{
    struct trainer_choice choice = trainer_choose(options);
    struct trainer *trainer = NULL;
    enum status status = trainer_open(&choice, &trainer, why);

    if (status != STATUS_OK)
        return status;
    *out = trainer->model.elements;
    trainer_close(&trainer);
    return STATUS_OK;
}

size_t local_learner_elements(const struct local_learner *learner)
{
    return learner->trainer->model.elements;
}

uint64_t local_learner_batch(const struct local_learner *learner)
{
    return learner->trainer->model.batch;
}

float *local_learner_start(const struct local_learner *learner)
{
    size_t bytes = local_learner_elements(learner) * sizeof(float);
    float *start = malloc(bytes);

    if (!start)
        abort();
    memcpy(start, learner->trainer->model.values, bytes);
    return start;
}

struct schema *local_learner_schema(const struct local_learner *learner)
{
    const struct star_trainer_model *model = &learner->trainer->model;
    struct schema *schema = schema_new();
    struct why why = {"no memory for a schema"};

    insist(schema ? STATUS_OK : STATUS_NO_MEMORY, &why);
    for (unsigned i = 0; i < (unsigned)model->tensor_count; i++)
        insist(schema_add(schema, model->tensors[i].name,
                          (unsigned)model->tensors[i].rank,
                          model->tensors[i].shape, &why),
               &why);
    return schema;
}

static void move_to(const struct local_learner *learner, const float *x)
{
    memcpy(learner->trainer->model.values, x,
           local_learner_elements(learner) * sizeof *x);
}

double local_learner_gradient(const struct local_learner *learner,
                              const float *x, float *gradient)
{
    uint64_t samples = 0;
    double loss = 0;
    struct why why = {""};

    move_to(learner, x);
    insist(trainer_gradient(learner->trainer, &loss, &samples, &why), &why);
    memcpy(gradient, learner->trainer->model.gradients,
           local_learner_elements(learner) * sizeof *gradient);
    return loss;
}

void local_learner_step(const struct local_learner *learner, float *x,
                        const float *gradient, size_t first, size_t count)
{
    const struct star_trainer_model *model = &learner->trainer->model;
    struct why why = {""};

    memcpy(model->gradients + first, gradient, count * sizeof *gradient);
    if (first + count < model->elements)
        return;
    move_to(learner, x);
    insist(trainer_step(learner->trainer, &why), &why);
    memcpy(x, model->values, model->elements * sizeof *x);
}

void local_learner_forget(const struct local_learner *learner)
{
    trainer_reset_optimizer(learner->trainer);
}

void local_learner_set_shard(const struct local_learner *learner,
                             uint32_t shard, uint32_t shards)
{
    struct why why = {""};

    insist(trainer_set_shard(learner->trainer, shard, shards, &why), &why);
}

void local_learner_evaluate(const struct local_learner *learner, const float *x,
                            uint64_t samples, double *loss, double *accuracy,
                            double *error)
{
    struct star_evaluation result = {0};
    struct why why = {""};

    insist(trainer_evaluate(learner->trainer, x, samples, &result, &why), &why);
    *loss = result.loss;
    *accuracy = result.accuracy;
    *error =
        result.samples ? result.deviation / sqrt((double)result.samples) : 0;
}
