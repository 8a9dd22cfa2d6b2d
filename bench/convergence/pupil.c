#include "bench/convergence/pupil.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "train/trainer.h"

struct pupil {
    struct trainer *trainer;
};

static void insist(enum status status, const struct why *why)
{
    if (status == STATUS_OK)
        return;
    (void)fprintf(stderr, "convergence: %s\n", why->text);
    exit(status_exit_code(status));
}

struct pupil *pupil_new(const struct task *task, enum role role,
                        unsigned node)
{
    const struct arm *arm = task->arm;
    const struct workload *workload = &workloads[arm->workload];
    unsigned start = arm->twists & SAME_START ? 0 : node;
    struct pupil *pupil = calloc(1, sizeof *pupil);
    char model[128], data[PATH_MAX];
    struct trainer_choice trainer = {.model = model,
                                     .data = data,
                                     .seed = prng_mix(task->seed ^
                                                      prng_mix(start)),
                                     .split_seed = task->seed,
                                     .shard = node,
                                     .shards = arm->nodes};
    struct why why = {""};

    if (!pupil)
        abort();
    (void)snprintf(model, sizeof model, "%s,lr=%.9g", workload->model,
                   arm_rate(arm));
    (void)snprintf(data, sizeof data, "%s/%s", task->folder,
                   workload->data[role]);
    insist(trainer_open(&trainer, &pupil->trainer, &why), &why);
    return pupil;
}

void pupil_destroy(struct pupil **reference)
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

void pupil_judge(const struct pupil *pupil, const float *x, double *loss,
                 double *accuracy)
{
    struct star_evaluation result = {0};
    struct why why = {""};

    insist(trainer_evaluate(pupil->trainer, x, 0, &result, &why), &why);
    *loss = result.loss;
    *accuracy = result.accuracy;
}
