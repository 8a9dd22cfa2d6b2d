/* A model that is small and weighs on the wire as a large one. */
#include "sim/study/compute.h"

enum { LEAST_ELEMENTS = 64, MOST_ELEMENTS = 1000 };

enum status computing_stand_in(struct computing *computing, struct why *why)
{
    const struct options *options = computing->options;
    uint64_t most =
        options->params < MOST_ELEMENTS ? options->params : MOST_ELEMENTS;
    uint64_t elements = options->params / (options->chunk / sizeof(float)) + 1;
    uint64_t shape[2] = {0, 1};

    if (elements < LEAST_ELEMENTS)
        elements = LEAST_ELEMENTS;
    if (elements > most)
        elements = most;
    computing->elements = (size_t)elements;
    computing->scale = (uint32_t)((options->params + elements - 1) / elements);
    computing->schema = schema_new();
    if (!computing->schema)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    shape[0] = elements;
    return schema_add(computing->schema, "simulated", 2, shape, why);
}
