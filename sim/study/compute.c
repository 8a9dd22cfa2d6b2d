#include "sim/study/compute.h"

#include <stdlib.h>

static const struct compute_type *const types[] = {
    [COMPUTE_REAL] = &compute_real,
    [COMPUTE_SURROGATE] = &compute_surrogate,
    [COMPUTE_RECORDED] = &compute_recorded,
};

enum compute compute_of(const struct options *options)
{
    if (options->given.compute)
        return options->compute;
    return options->model[0] || options->trainer[0] ? COMPUTE_REAL
                                                    : COMPUTE_SURROGATE;
}

enum status computing_open(const struct options *options,
                           const struct trace *trace, uint64_t seed,
                           unsigned nodes, struct computing **out,
                           struct why *why)
{
    struct computing *computing = calloc(1, sizeof *computing);
    enum status status;

    if (!computing)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    *computing = (struct computing){.type = types[compute_of(options)],
                                    .options = options,
                                    .trace = trace,
                                    .seed = seed,
                                    .nodes = nodes,
                                    .scale = 1,
                                    .samples = 1};
    status = computing->type->open(computing, why);
    if (status == STATUS_OK)
        *out = computing;
    else
        computing_close(&computing);
    return status;
}

void computing_close(struct computing **reference)
{
    struct computing *computing = *reference;

    *reference = NULL;
    if (!computing)
        return;
    computing->type->close(computing);
    schema_destroy(&computing->schema);
    free(computing);
}
