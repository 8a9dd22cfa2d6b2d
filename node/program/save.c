#include "node/program/save.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "seam/machine.h"
#include "store/safetensors.h"

static enum status describe(const struct star_trainer_model *model,
                            struct schema *schema, struct why *why)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < model->tensor_count && status == STATUS_OK; i++) {
        const struct star_trainer_tensor *tensor = &model->tensors[i];

        status = schema_add(schema, tensor->name, (unsigned)tensor->rank,
                            tensor->shape, why);
    }
    return status;
}

static enum status write_model(const struct trainer *trainer,
                               uint64_t iteration, const char *path,
                               struct why *why)
{
    const struct star_trainer_model *model = &trainer->model;
    struct schema *schema = schema_new();
    struct part values = {model->values,
                          (size_t)model->elements * sizeof(float)};
    struct part *parts = NULL;
    char number[32];
    const struct pair pairs[] = {{"program", "starswitch-node"},
                                 {"iteration", number}};
    struct safetensors_source source = {schema, pairs, 2, &values, 1};
    enum status status = STATUS_NO_MEMORY;
    size_t count = 0;

    (void)snprintf(number, sizeof number, "%" PRIu64, iteration);
    if (schema)
        status = describe(model, schema, why);
    else
        explain(why, "not enough memory");
    if (status == STATUS_OK)
        status = safetensors_parts(&source, &parts, &count, why);
    if (status == STATUS_OK)
        status = file_replace(path, parts, count, why);
    free(parts);
    schema_destroy(&schema);
    return status;
}

/* What went bad does not take the place of what is good. */
static bool is_worth_saving(const struct trainer *trainer, const char *path,
                            struct why *why)
{
    const struct star_trainer_model *model = &trainer->model;
    double squares = 0;

    for (size_t i = 0; i < model->elements; i++)
        squares += (double)model->values[i] * (double)model->values[i];
    if (squares <= MOST_SQUARES)
        return true;
    explain(why, "--save leaves %.160s as it was: the parameters %s", path,
            isfinite(squares) ? "are too large to be trained on"
                              : "hold NaN or infinity");
    return false;
}

enum status node_may_save(const struct options *options, struct why *why)
{
    return options->save_file[0] ? file_try(options->save_file, why)
                                 : STATUS_OK;
}

enum status node_save(const struct trainer *trainer,
                      const struct options *options,
                      const struct star_state *state, struct why *why)
{
    if (options->save_file[0] &&
        !is_worth_saving(trainer, options->save_file, why))
        return STATUS_IO;
    if (options->save_file[0])
        return write_model(trainer, state->iteration, options->save_file, why);
    if (state->iteration && !state->exit_code && !state->offered &&
        !state->applied && !state->attached)
        (void)fprintf(stderr,
                      "starswitch-node: no hub has taken this node in (%s), "
                      "and what was learnt is lost: --save FILE.safetensors "
                      "keeps it\n",
                      state->text);
    return STATUS_OK;
}
