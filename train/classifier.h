/* What mlp and lm have in common: everything but where inputs come from.
 *
 * A classifier is a stack of dense layers under softmax cross-entropy, an
 * optimizer, a sampler, and the flat vectors of values and gradients. A source
 * loads samples into the inputs; it may own some parameters of its own (the
 * embedding of lm), which come first in the vectors, and then turns the
 * derivative by the inputs into their gradient. A model embeds a struct
 * classifier as its first member; CLASSIFIER_TYPE is its star_trainer_type.
 */
#ifndef TRAIN_CLASSIFIER_H
#define TRAIN_CLASSIFIER_H

#include "include/starswitch_trainer.h"
#include "train/sampler.h"
#include "train/spec.h"

/* Some samples, of one part of the data. */
struct batch {
    int held_out;            /* of the held-out part, else of training */
    const uint64_t *samples; /* each below training or held_out */
    size_t count;
};

struct source {
    const void *of;              /* first argument of the functions */
    uint64_t training, held_out; /* samples in the two parts */
    struct star_tensor own;      /* its parameters; no name: none */
    /* Writes the batch, count x inputs, and the classes. */
    void (*load)(const void *of, const struct batch *batch,
                 const float *own_values, float *inputs, int32_t *labels);
    /* Overwrites the gradient of its own parameters; NULL if it has none. */
    void (*gather)(const void *of, const struct batch *batch,
                   const float *input_gradients, float *own_gradients);
};

enum {
    CLASSIFIER_TENSORS_MAX = 2 * DENSE_LAYERS_MAX + 1,
    CLASSIFIER_NAME_BYTES = 24,
    CLASSIFIER_SUMMARY_BYTES = 160
};

struct classifier {
    struct source source;
    struct dense dense;
    struct optimizer optimizer;
    struct sampler sampler;
    size_t batch; /* samples per gradient */
    size_t own;   /* floats of the source before the dense layers */
    size_t elements;
    float *values, *gradients;
    uint64_t *samples; /* scratch: dense.rows of them */
    int32_t *labels;   /* scratch: dense.rows of them */
    unsigned tensor_count;
    struct star_tensor tensors[CLASSIFIER_TENSORS_MAX];
    char names[CLASSIFIER_TENSORS_MAX][CLASSIFIER_NAME_BYTES];
    char summary[CLASSIFIER_SUMMARY_BYTES];
    struct why why; /* of the last failure */
};

/* `spec` is complete; the source must outlive the classifier. If it fails,
 * there is nothing to free. */
enum status classifier_init(struct classifier *classifier, const char *name,
                            const struct spec *spec,
                            const struct source *source,
                            const struct star_trainer_settings *settings,
                            struct why *why) MUST_CHECK;
void classifier_free(struct classifier *classifier);

/* Fills a model of zeros. If it fails, there is nothing to free. */
typedef enum status classifier_model(void *self,
                                     const struct star_trainer_settings *from,
                                     struct why *why);
/* Makes a model of `size` bytes. */
enum star_trainer_outcome
classifier_create(size_t size, classifier_model *init,
                  const struct star_trainer_settings *settings, void **self,
                  char *error, size_t error_size);

/* See include/starswitch_trainer.h; `self` is a struct classifier. */
void classifier_describe(void *self, struct star_trainer_model *out);
enum star_trainer_outcome classifier_gradient(void *self, double *loss,
                                              uint64_t *samples);
enum star_trainer_outcome classifier_step(void *self);
enum star_trainer_outcome classifier_evaluate(void *self, const float *values,
                                              uint64_t max_samples,
                                              struct star_evaluation *out);
enum star_trainer_outcome classifier_set_shard(void *self, uint32_t shard,
                                               uint32_t shards);
void classifier_reset_optimizer(void *self);
const char *classifier_last_error(void *self);

/* name_trainer: of struct name, name_init, a classifier_model, and
 * name_destroy. */
#define CLASSIFIER_TYPE(name_, words)                                          \
    static enum star_trainer_outcome name_##_create(                           \
        const struct star_trainer_settings *settings, void **self,             \
        char *error, size_t error_size)                                        \
    {                                                                          \
        return classifier_create(sizeof(struct name_), name_##_init, settings, \
                                 self, error, error_size);                     \
    }                                                                          \
                                                                               \
    const struct star_trainer_type name_##_trainer = {                         \
        .abi = STAR_TRAINER_ABI,                                               \
        .name = #name_,                                                        \
        .help = (words),                                                       \
        .create = name_##_create,                                              \
        .destroy = name_##_destroy,                                            \
        .describe = classifier_describe,                                       \
        .gradient = classifier_gradient,                                       \
        .step = classifier_step,                                               \
        .evaluate = classifier_evaluate,                                       \
        .set_shard = classifier_set_shard,                                     \
        .reset_optimizer = classifier_reset_optimizer,                         \
        .last_error = classifier_last_error};

#endif
