#include "train/mlp.h"

#include <stdlib.h>

#include "train/classifier.h"
#include "train/data.h"

struct mlp {
    struct classifier classifier; /* first, as classifier.h says */
    struct data data;
};

static void mlp_load(const void *of, const struct batch *batch,
                     const float *own_values, float *inputs, int32_t *labels)
{
    (void)own_values;
    data_load(of, batch->held_out, batch->places, batch->count, inputs, labels);
}

static enum status mlp_init(void *self,
                            const struct star_trainer_settings *settings,
                            struct why *why)
{
    struct mlp *mlp = self;
    struct source source = {.of = &mlp->data, .load = mlp_load};
    struct spec spec;
    enum status status = spec_parse(settings->spec, SPEC_MLP, &spec, why);

    if (status)
        return status;
    status = data_open(settings->data, settings->split_seed, &mlp->data, why);
    if (status)
        return status;
    source.training = mlp->data.training.count;
    source.held_out = mlp->data.held_out.count;
    status = spec_complete(&spec, mlp->data.training.features,
                           (size_t)mlp->data.classes, why);
    if (!status)
        status = classifier_init(&mlp->classifier, "mlp ", &spec, &source,
                                 settings, why);
    if (status)
        data_close(&mlp->data);
    return status;
}

static void mlp_destroy(void *self)
{
    struct mlp *mlp = self;

    classifier_free(&mlp->classifier);
    data_close(&mlp->data);
    free(mlp);
}

LEARNER_TYPE(mlp, "classifies samples: mlp:784-128-10, mlp:128 or mlp", NULL)
