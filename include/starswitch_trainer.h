/* A trainer plug-in: a model and its data, behind one small table of functions.
 *
 * starswitch-node trains with one of its own trainers (mlp, cnn, lm, gpt) or
 * with yours: a shared object that exports star_trainer(). The node calls
 * gradient() and step() in turn; between any two calls it may read and change
 * the values in place, as that is how the other nodes' progress arrives. The
 * hub opens the same trainer to evaluate() what it has merged.
 *
 *     cc -shared -fPIC -o mine.so mine.c
 *     starswitch-node --trainer ./mine.so --model anything:my,settings
 *
 * Memory: the trainer owns the tensors and the data; both stay where they are
 * from create() to destroy(). Arguments are borrowed for the call.
 *
 * Threads: calls for one object never overlap, but may come from different
 * threads; different objects may be used at the same time.
 *
 * Errors: functions that can fail return an enum star_trainer_outcome; then
 * the object is as it was before, and last_error() says why in one sentence.
 *
 * This header is C99 and C++ and needs nothing else of starswitch. */
#ifndef STARSWITCH_TRAINER_H
#define STARSWITCH_TRAINER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever anything below changes its layout or meaning. */
#define STAR_TRAINER_ABI 3u
#define STAR_TRAINER_RANK_MAX 8

enum star_trainer_outcome {
    STAR_TRAINER_OK = 0,
    STAR_TRAINER_BAD_SPEC,    /* the spec cannot be understood */
    STAR_TRAINER_CANNOT_READ, /* the data is not there or not readable */
    STAR_TRAINER_BAD_DATA,    /* the data is not what it claims to be */
    STAR_TRAINER_MISFIT,      /* spec, data or shard do not fit together */
    STAR_TRAINER_NO_MEMORY,
    STAR_TRAINER_FAILED /* anything else */
};

struct star_trainer_tensor {
    const char *name;                      /* unique, e.g. "layer1.weight" */
    int rank;                              /* 0 (a scalar) to RANK_MAX */
    uint64_t shape[STAR_TRAINER_RANK_MAX]; /* row-major; the first `rank` */
    float *value;                          /* inside the flat values */
    float *gradient;                       /* at the same place of gradients */
};

/* The specification of a trainer. */
struct star_trainer_settings {
    const char *spec;    /* the text behind "NAME:" of --model, or "" */
    const char *data;    /* what --data says, or NULL */
    uint64_t seed;       /* initial values and order of the samples */
    uint64_t split_seed; /* the hold-out and the shards: equal for all nodes
                            of a run, as disjointness rests on it */
    uint32_t shard;      /* this node's part of the training data, < shards */
    uint32_t shards;     /* at least 1 */
};

/* A trainer. All of it stays valid and in place until destroy(). */
struct star_trainer_model {
    const struct star_trainer_tensor *tensors;
    size_t tensor_count;
    float *values;       /* all tensors end to end, in order, without gaps */
    float *gradients;    /* the same for the gradients */
    uint64_t elements;   /* floats in each of the two */
    const char *summary; /* one line for people, "mlp 784-128-10" */
    uint64_t training_samples; /* of all shards together */
    uint64_t held_out_samples; /* never trained on; 0: cannot evaluate */
    uint64_t batch;            /* samples per gradient, usually */
};

struct star_evaluation {
    double loss;      /* mean per sample, in nats where it is a likelihood */
    double accuracy;  /* share of right answers, or -1 where that is void */
    uint64_t samples; /* that were looked at */
    /* Standard deviation of the loss from sample to sample, 0: not known. The
     * standard error of `loss` is deviation / sqrt(samples). */
    double deviation;
};

struct star_trainer_type {
    uint32_t abi;     /* STAR_TRAINER_ABI */
    const char *name; /* "mlp" */
    const char *help; /* one line: what it is and how a spec looks */

    /* Makes a trainer at its initial values, which depend on spec and seed
     * only. On failure writes one sentence (with its final zero) into `error`
     * and leaves `self` alone. */
    enum star_trainer_outcome (*create)(
        const struct star_trainer_settings *settings, void **self, char *error,
        size_t error_size);
    void (*destroy)(void *self);

    void (*describe)(void *self, struct star_trainer_model *out);

    /* Draws the next minibatch of the shard and leaves the gradient of its
     * mean loss at the current values. `loss` and `samples` describe the
     * minibatch. Equal seed, shard and values give equal bits. */
    enum star_trainer_outcome (*gradient)(void *self, double *loss,
                                          uint64_t *samples);
    /* The optimizer applies what now stands in the gradients, whoever wrote
     * it. */
    enum star_trainer_outcome (*step)(void *self);

    /* Loss, accuracy and deviation of `values` (NULL: the current ones) on
     * the first `max_samples` (0: all) held-out samples, always the same ones.
     * Changes neither values nor gradients nor the order of the samples. */
    enum star_trainer_outcome (*evaluate)(void *self, const float *values,
                                          uint64_t max_samples,
                                          struct star_evaluation *out);

    /* Trains on another part of the data from now on. The shards 0 .. shards-1
     * are disjoint and cover the training data. */
    enum star_trainer_outcome (*set_shard)(void *self, uint32_t shard,
                                           uint32_t shards);
    /* Forgets momentum and the like, after the values were replaced. May be
     * NULL: nothing to forget. */
    void (*reset_optimizer)(void *self);
    /* Why the last call of this object failed. May be NULL. */
    const char *(*last_error)(void *self);
    /* Writes what the model makes up by itself at `values` (NULL: the current
     * ones), for people to look at: at most `size` bytes of any kind, of which
     * it returns how many. Equal values give equal bytes; else it is as free
     * of effects as evaluate(). May be NULL: it makes up nothing. */
    size_t (*generate)(void *self, const float *values, unsigned char *out,
                       size_t size);
};

/* The symbol that the plug-in exports. Returns a constant. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct star_trainer_type *
star_trainer(void);

#ifdef __cplusplus
}
#endif

#endif
