#include "hub/program/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hub/hub.h"
#include "train/trainer.h"

static enum status describe(struct scorer *scorer, struct why *why)
{
    const struct star_trainer_model *model = &scorer->trainer->model;
    enum status status = STATUS_OK;

    scorer->schema = schema_new();
    if (!scorer->schema)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < model->tensor_count && status == STATUS_OK; i++)
        status = schema_add(scorer->schema, model->tensors[i].name,
                            (unsigned)model->tensors[i].rank,
                            model->tensors[i].shape, why);
    return status;
}

enum status scorer_check(const struct options *options, struct why *why)
{
    if (options->model[0] || options->trainer[0])
        return STATUS_OK;
    if (options->goal.kind == GOAL_ACCURACY)
        return because(why, STATUS_CONFIG,
                       "--goal %.4g%% needs --model and --data, so that the "
                       "hub can score the centre",
                       100 * options->goal.value);
    if (options->given.rollback && options->rollback > 0)
        return because(why, STATUS_CONFIG,
                       "--rollback %.4g needs --model and --data: the hub "
                       "goes back by scores of its own on held-out data",
                       options->rollback);
    return STATUS_OK;
}

enum status scorer_open(struct scorer *scorer, const struct options *options,
                        struct why *why)
{
    struct trainer_choice choice = trainer_choose(options);
    enum status status;

    if (!choice.model && !choice.plugin)
        return STATUS_OK;
    status = trainer_open(&choice, &scorer->trainer, why);
    if (status != STATUS_OK)
        return status;
    (void)pthread_mutex_init(&scorer->lock, NULL);
    status = describe(scorer, why);
    if (status != STATUS_OK)
        return status;
    scorer->values =
        malloc((size_t)scorer->trainer->model.elements * sizeof(float));
    if (scorer->values)
        return STATUS_OK;
    scorer_close(scorer);
    return because(why, STATUS_NO_MEMORY, "not enough memory for the model");
}

const struct schema *scorer_schema(const struct scorer *scorer)
{
    return scorer->schema;
}

size_t scorer_write(struct scorer *scorer, char *out, size_t size)
{
    size_t length;

    out[0] = '\0';
    if (!scorer->trainer)
        return 0;
    (void)pthread_mutex_lock(&scorer->lock);
    length = scorer->version
                 ? trainer_write(scorer->trainer, scorer->values, out, size)
                 : 0;
    (void)pthread_mutex_unlock(&scorer->lock);
    return length;
}

void scorer_close(struct scorer *scorer)
{
    if (scorer->trainer)
        (void)pthread_mutex_destroy(&scorer->lock);
    free(scorer->values);
    scorer->values = NULL;
    schema_destroy(&scorer->schema);
    trainer_close(&scorer->trainer);
}

static void score(struct job *job)
{
    struct scorer *scorer = (struct scorer *)job->context;
    struct score_job *score = (struct score_job *)job;
    struct star_evaluation result = {0};
    float *to = scorer->values;
    struct why why;

    if (job->extent.elements != scorer->trainer->model.elements) {
        job->status = STATUS_CONFIG;
        return;
    }
    (void)pthread_mutex_lock(&scorer->lock);
    for (unsigned i = 0; i < job->inputs; i++) {
        memcpy(to, job->in[i].blob->bytes, job->in[i].blob->size);
        to += job->in[i].blob->size / sizeof *to;
    }
    scorer->version = score->version;
    job->status =
        trainer_evaluate(scorer->trainer, scorer->values, 0, &result, &why);
    (void)pthread_mutex_unlock(&scorer->lock);
    score->loss = result.loss;
    score->accuracy = result.accuracy;
    if (result.samples)
        score->error = result.deviation / sqrt((double)result.samples);
}

const struct work score_centre = {"score", score, NULL};
