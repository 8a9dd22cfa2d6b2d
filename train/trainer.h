/* A trainer of whatever origin: built in, or loaded from a FILE.so.
 *
 *     struct trainer_choice choice = {.model = "mlp:784-128-10",
 *                                     .data = "/data/mnist", .shards = 1};
 *     status = trainer_open(&choice, &trainer, &why);
 *     ... trainer_gradient, trainer_step, trainer_evaluate ...
 *     trainer_close(&trainer);
 *
 * The values may be read and changed in place between calls. Calls for one
 * trainer must not overlap. This is the only way to a trainer; what a plug-in
 * describes has been checked, and its outcomes are statuses with a sentence. */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include "core/options.h"
#include "core/status.h"
#include "include/starswitch_trainer.h"

enum { TRAINER_WORDS_BYTES = 201 }; /* of what models are shown to write */

struct trainer_choice {
    const char *model;   /* --model NAME[:SPEC]; for a plug-in may be NULL */
    const char *plugin;  /* --trainer FILE.so, or NULL: a built-in */
    const char *data;    /* --data, or NULL */
    uint64_t seed;       /* initial values and order of the samples */
    uint64_t split_seed; /* equal for all nodes and the hub of a run */
    uint32_t shard, shards;
};

/* What a program's options choose, to borrow; shard 0 of 1. The split is the
 * same for all programs: the shards of nodes are disjoint, and nobody trains
 * on what the hub scores with. Neither model nor plugin: nothing is chosen. */
struct trainer_choice trainer_choose(const struct options *options);

/* The `seed` of the node of this name: nodes start from parameters of their
 * own, each time the same under the same name and seed. */
uint64_t trainer_seed_of(uint64_t seed, const char *name);

struct trainer {
    const struct star_trainer_type *type;
    struct star_trainer_model model; /* tensors, values, gradients, samples */
    void *self;
    void *library; /* of dlopen, or NULL */
};

/* STATUS_USAGE: no such model, or a bad spec; STATUS_UNAVAILABLE: the plug-in
 * cannot be loaded; STATUS_VERSION: it was built for another ABI;
 * STATUS_IO, STATUS_MALFORMED: the data; STATUS_CONFIG: things do not fit
 * together. If it fails, `out` is not changed. */
enum status trainer_open(const struct trainer_choice *choice,
                         struct trainer **out, struct why *why) MUST_CHECK;
void trainer_close(struct trainer **trainer);

/* The functions of struct star_trainer_type, with our statuses. */
enum status trainer_gradient(struct trainer *trainer, double *loss,
                             uint64_t *samples, struct why *why) MUST_CHECK;
enum status trainer_step(struct trainer *trainer, struct why *why) MUST_CHECK;
enum status trainer_evaluate(struct trainer *trainer, const float *values,
                             uint64_t max_samples, struct star_evaluation *out,
                             struct why *why) MUST_CHECK;
enum status trainer_set_shard(struct trainer *trainer, uint32_t shard,
                              uint32_t shards, struct why *why) MUST_CHECK;
void trainer_reset_optimizer(struct trainer *trainer);
/* What the model makes up at `values` (NULL: the current ones), as words of at
 * most size - 1 bytes of any kind; zeroes are left out. "" where it makes up
 * nothing. Returns the length. */
size_t trainer_write(struct trainer *trainer, const float *values, char *out,
                     size_t size);

/* The built-in trainer number i, or NULL behind the last: for help. */
const struct star_trainer_type *trainer_builtin(unsigned i);

#endif
