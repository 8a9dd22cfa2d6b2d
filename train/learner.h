/* What the built-in trainers have in common: everything but the network.
 *
 * A learner has an optimizer, a sampler and the flat vectors of values and
 * gradients. Its network turns a batch into logits, and the derivative by the
 * logits into gradients; the loss is softmax cross-entropy. What a network is
 * shown is a place in its data, a row of a table or a byte of a text, at which
 * there are one or several samples to guess.
 *
 * A model embeds a struct learner as its first member. To make one: set
 * `network`, add the tensors, start the sampler, learner_begin, then fill in
 * the first values. LEARNER_TYPE is the model's star_trainer_type. */
#ifndef TRAIN_LEARNER_H
#define TRAIN_LEARNER_H

#include "include/starswitch_trainer.h"
#include "train/sampler.h"
#include "train/spec.h"

/* What a network is shown at once. */
struct batch {
    int held_out;           /* of the held-out part, else of training */
    const uint64_t *places; /* as the sampler draws them; or, of the held-out
                               part, each below network.held_out */
    size_t count;           /* of places, at most network.most */
};

struct network {
    void *of;                    /* first argument of the functions */
    size_t guesses;              /* at a place: its samples, rows of logits */
    size_t classes;              /* logits of a guess */
    size_t most;                 /* places at once, at least the batch */
    uint64_t training, held_out; /* places in the two parts */
    /* Returns the logits, places x guesses x classes, and writes what would
     * have been right, as many labels as there are guesses. */
    float *(*forward)(void *of, const struct batch *batch, const float *values,
                      int32_t *labels);
    /* The derivative by the logits stands where forward returned them, for the
     * same batch; overwrites the gradients. */
    void (*backward)(void *of, const struct batch *batch, const float *values,
                     float *gradients);
};

enum {
    LEARNER_ELEMENTS_MAX = 1 << 30,
    LEARNER_TENSORS_MAX = 1024,
    LEARNER_NAME_BYTES = 32,
    LEARNER_SUMMARY_BYTES = 160
};

struct learner {
    struct network network;
    struct optimizer optimizer;
    struct sampler sampler;
    size_t batch; /* places per gradient */
    size_t elements;
    float *values, *gradients;
    uint64_t *places; /* scratch: network.most of them */
    int32_t *labels;  /* scratch: as many guesses as they have */
    unsigned tensor_count;
    struct star_trainer_tensor tensors[LEARNER_TENSORS_MAX];
    struct optimizer_part parts[LEARNER_TENSORS_MAX]; /* the same tensors */
    char names[LEARNER_TENSORS_MAX][LEARNER_NAME_BYTES];
    char summary[LEARNER_SUMMARY_BYTES];
    struct why why; /* of the last failure */
};

/* Appends a tensor: a vector of so many rows, or with columns a matrix. Those
 * of a learner are zeroes at first. */
void learner_add(struct learner *learner, enum role role, const char *name,
                 size_t rows, size_t columns);
/* Appends NAME.weight, as above, and NAME.bias, a vector of as many rows. */
void learner_add_pair(struct learner *learner, enum role role, const char *name,
                      size_t rows, size_t columns);
/* Values and gradients are zeroes then. If it fails, there is nothing to free
 * of the learner. */
enum status learner_begin(struct learner *learner, const struct spec *spec,
                          const struct star_trainer_settings *settings,
                          struct why *why) MUST_CHECK;
void learner_free(struct learner *learner);

/* Fills a model of zeros. If it fails, there is nothing to free. */
typedef enum status learner_model(void *self,
                                  const struct star_trainer_settings *from,
                                  struct why *why);
/* Makes a model of `size` bytes. */
enum star_trainer_outcome
learner_create(size_t size, learner_model *init,
               const struct star_trainer_settings *settings, void **self,
               char *error, size_t error_size);

/* See include/starswitch_trainer.h; `self` is a struct learner. */
void learner_describe(void *self, struct star_trainer_model *out);
enum star_trainer_outcome learner_gradient(void *self, double *loss,
                                           uint64_t *samples);
enum star_trainer_outcome learner_step(void *self);
enum star_trainer_outcome learner_evaluate(void *self, const float *values,
                                           uint64_t max_samples,
                                           struct star_evaluation *out);
enum star_trainer_outcome learner_set_shard(void *self, uint32_t shard,
                                            uint32_t shards);
void learner_reset_optimizer(void *self);
const char *learner_last_error(void *self);

/* name_trainer: of struct name, name_init, a learner_model, and
 * name_destroy; generate may be NULL. */
#define LEARNER_TYPE(name_, words, generate_)                                  \
    static enum star_trainer_outcome name_##_create(                           \
        const struct star_trainer_settings *settings, void **self,             \
        char *error, size_t error_size)                                        \
    {                                                                          \
        return learner_create(sizeof(struct name_), name_##_init, settings,    \
                              self, error, error_size);                        \
    }                                                                          \
                                                                               \
    const struct star_trainer_type name_##_trainer = {                         \
        .abi = STAR_TRAINER_ABI,                                               \
        .name = #name_,                                                        \
        .help = (words),                                                       \
        .create = name_##_create,                                              \
        .destroy = name_##_destroy,                                            \
        .describe = learner_describe,                                          \
        .gradient = learner_gradient,                                          \
        .step = learner_step,                                                  \
        .evaluate = learner_evaluate,                                          \
        .set_shard = learner_set_shard,                                        \
        .reset_optimizer = learner_reset_optimizer,                            \
        .last_error = learner_last_error,                                      \
        .generate = (generate_)};

#endif
