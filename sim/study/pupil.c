#include "sim/study/pupil.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"

struct pupil {
    struct trainer *trainer;
};

static void insist(enum status status, const struct why *why)
{
    if (status == STATUS_OK)
        return;
    (void)fprintf(stderr, "%s\n", why->text);
    exit(status_exit_code(status));
}

enum status pupil_open(const struct trainer_choice *choice, struct pupil **out,
                       struct why *why)
{
    struct pupil *pupil = calloc(1, sizeof *pupil);
    enum status status;

    if (!pupil)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    status = trainer_open(choice, &pupil->trainer, why);
    if (status == STATUS_OK)
        *out = pupil;
    else
        free(pupil);
    return status;
}

void pupil_close(struct pupil **reference)
{
    struct pupil *pupil = *reference;

    *reference = NULL;
    if (!pupil)
        return;
    trainer_close(&pupil->trainer);
    free(pupil);
}

size_t pupil_elements(const struct pupil *pupil)
{
    return pupil->trainer->model.elements;
}

uint64_t pupil_batch(const struct pupil *pupil)
{
    return pupil->trainer->model.batch;
}

float *pupil_start(const struct pupil *pupil)
{
    size_t bytes = pupil_elements(pupil) * sizeof(float);
    float *start = malloc(bytes);

    if (!start)
        abort();
    memcpy(start, pupil->trainer->model.values, bytes);
    return start;
}

struct schema *pupil_schema(const struct pupil *pupil)
{
    const struct star_trainer_model *model = &pupil->trainer->model;
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

static void move_to(const struct pupil *pupil, const float *x)
{
    memcpy(pupil->trainer->model.values, x, pupil_elements(pupil) * sizeof *x);
}

double pupil_gradient(const struct pupil *pupil, const float *x,
                      float *gradient)
{
    uint64_t samples = 0;
    double loss = 0;
    struct why why = {""};

    move_to(pupil, x);
    insist(trainer_gradient(pupil->trainer, &loss, &samples, &why), &why);
    memcpy(gradient, pupil->trainer->model.gradients,
           pupil_elements(pupil) * sizeof *gradient);
    return loss;
}

void pupil_step(const struct pupil *pupil, float *x, const float *gradient,
                size_t first, size_t count)
{
    const struct star_trainer_model *model = &pupil->trainer->model;
    struct why why = {""};

    memcpy(model->gradients + first, gradient, count * sizeof *gradient);
    if (first + count < model->elements)
        return;
    move_to(pupil, x);
    insist(trainer_step(pupil->trainer, &why), &why);
    memcpy(x, model->values, model->elements * sizeof *x);
}

void pupil_forget(const struct pupil *pupil)
{
    trainer_reset_optimizer(pupil->trainer);
}

void pupil_set_shard(const struct pupil *pupil, uint32_t shard, uint32_t shards)
{
    struct why why = {""};

    insist(trainer_set_shard(pupil->trainer, shard, shards, &why), &why);
}

void pupil_judge(const struct pupil *pupil, const float *x, uint64_t samples,
                 double *loss, double *accuracy, double *error)
{
    struct star_evaluation result = {0};
    struct why why = {""};

    insist(trainer_evaluate(pupil->trainer, x, samples, &result, &why), &why);
    *loss = result.loss;
    *accuracy = result.accuracy;
    *error =
        result.samples ? result.deviation / sqrt((double)result.samples) : 0;
}
