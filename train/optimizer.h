/* SGD with momentum, AdamW and Muon on flat vectors.
 *
 * SGD is what PyTorch calls SGD without dampening:
 *     u <- momentum * u + (g + decay * x);  x <- x - rate * u
 * AdamW is algorithm 2 of Loshchilov and Hutter, "Decoupled weight decay
 * regularization" (2019), with the decay scaled by the rate as PyTorch has it:
 *     x <- x * (1 - rate * decay);  m <- b1 m + (1 - b1) g
 *     v <- b2 v + (1 - b2) g^2
 *     x <- x - rate * m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon)
 * Muon is AdamW, but for matrices of hidden layers (train/muon.h):
 *     u <- momentum * u + g;  o <- orthogonalized(g + momentum * u)
 *     x <- x * (1 - rate * decay) - rate * 0.2 sqrt(max(rows, columns)) * o
 * whose scale gives a step the size of one of AdamW's (Liu et al., "Muon is
 * scalable for LLM training", 2025), so that one rate does for both.
 * Before each, a gradient longer than `clip` is scaled to that length, all of
 * it together; the rate grows by equal steps over the first `warmup` ones.
 * Only weights decay, as their parts' roles say.
 * The values belong to the caller, u, m and v to the optimizer. */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum optimizer_kind {
#define OPTIMIZER(ID, name, rate, doc) OPTIMIZER_##ID,
#include "train/optimizers.def"
#undef OPTIMIZER
    OPTIMIZERS
};

struct optimizer_row {
    const char *name;
    double rate; /* the default */
    const char *doc;
};

extern const struct optimizer_row optimizer_rows[OPTIMIZERS];

struct optimizer_settings {
    enum optimizer_kind kind;
    double rate, decay;
    double momentum;              /* of SGD */
    double beta1, beta2, epsilon; /* of AdamW */
    double muon_momentum;
    double clip;     /* 0: gradients are taken as they are */
    uint64_t warmup; /* steps */
};

/* What a tensor is for. */
enum role {
    ROLE_OTHER,  /* biases, norms, embeddings: does not decay */
    ROLE_WEIGHT, /* decays: makes the outputs, say */
    ROLE_HIDDEN  /* a matrix that makes a hidden layer: Muon's; decays */
};

/* A tensor of the vectors. */
struct optimizer_part {
    enum role role;
    size_t rows, columns; /* columns 1: a vector */
};

struct optimizer {
    struct optimizer_settings settings;
    struct optimizer_part *parts;
    size_t part_count;
    size_t elements; /* of all parts, which lie end to end */
    uint64_t steps;  /* since the start or the last reset */
    float *first;    /* u or m; NULL for SGD without momentum */
    float *second;   /* v, or NULL */
    float *scratch;  /* of Muon, for the largest matrix; or NULL */
};

/* STATUS_NO_MEMORY leaves nothing behind. */
enum status optimizer_init(struct optimizer *optimizer,
                           const struct optimizer_settings *settings,
                           const struct optimizer_part *parts,
                           size_t part_count) MUST_CHECK;
void optimizer_free(struct optimizer *optimizer);
/* One step; both vectors have `elements` floats and do not overlap. */
void optimizer_step(struct optimizer *optimizer, float *values,
                    const float *gradients);
/* As if no step had been taken: the rate grows anew, too. */
void optimizer_reset(struct optimizer *optimizer);

#endif
