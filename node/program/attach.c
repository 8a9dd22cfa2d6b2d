#include "node/program/attach.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)STAR_RANK_MAX == (int)STAR_TRAINER_RANK_MAX,
               "a trainer's tensor is one of the library's");

enum status main_attach(const struct star_options *options,
                        const struct star_trainer_model *model,
                        struct star_link **link, struct why *why)
{
    static const enum status meanings[] = {[STAR_BAD_ARGUMENT] = STATUS_CONFIG,
                                           [STAR_NO_MEMORY] = STATUS_NO_MEMORY,
                                           [STAR_NO_NETWORK] =
                                               STATUS_UNAVAILABLE,
                                           [STAR_NO_FILE] = STATUS_IO};
    struct star_tensor *tensors = calloc(model->tensor_count, sizeof *tensors);
    enum star_status status;

    if (!tensors)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct star_trainer_tensor *from = &model->tensors[i];

        tensors[i].size = sizeof *tensors;
        tensors[i].name = from->name;
        tensors[i].rank = from->rank;
        memcpy(tensors[i].shape, from->shape, sizeof from->shape);
        tensors[i].value = from->value;
        tensors[i].gradient = from->gradient;
    }
    status = star_attach(options, tensors, model->tensor_count, link, why->text,
                         sizeof why->text);
    free(tensors);
    return meanings[status];
}
