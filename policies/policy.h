/* The decisions of a hub, as independent choices in registries.
 *
 *     gate      when a round closes
 *     select    which offers are uploaded, and in which order
 *     reduce    how the updates become one
 *     merge     how the centre moves by it
 *     receive   which node gets which parameters back
 *     damping   the weight of a stale offer
 *     preempt   which parameters are replaced
 *
 * A rule is a const struct of pure functions in a file of its own, and a row
 * in policies.def. It sees plain numbers and vectors, never a message, a
 * socket or a clock. A preset names one rule of each kind with its numbers.
 * Where nothing else is said, a score is a loss: lower is better. Our words
 * stand beside the field's in docs/glossary.md. */
#ifndef POLICIES_POLICY_H
#define POLICIES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/schema.h"
#include "core/score.h"
#include "core/time.h"
#include "core/words.h"
#include "policies/numbers.h"

enum {
    POLICY_SLOTS = 2,  /* state vectors that a merge rule may keep */
    POLICY_TILE = 4096 /* elements that a pile is read by: CODEC_GRAIN */
};

/* Every number that some rule knows; see policies/numbers.h. */
struct policy_numbers {
#define NUMBER(name, value, doc) double name;
    POLICY_NUMBERS(NUMBER)
#undef NUMBER
};

extern const struct policy_numbers policy_defaults;

/* An offer as a policy sees it. */
struct candidate {
    unsigned node; /* its rank; ties go to the lowest */
    uint64_t lineage;
    uint64_t version;   /* of the centre that it departs from */
    uint64_t lag;       /* versions of the centre since then */
    uint64_t iteration; /* of the node */
    double score;       /* NO_SCORE: none */
    bool verified;      /* the score is the hub's own, not the node's word */
    double samples;     /* that it stands for */
    uint64_t steps;     /* iterations that they took; 0: not known */
    double norm;        /* Euclidean, of what is offered */
};

/* Everything a rule may know besides the candidates. */
struct policy_context {
    const struct policy_numbers *numbers;
    unsigned live;      /* nodes that take part */
    double score;       /* of the centre; NO_SCORE: none */
    double error;       /* standard error of a score; 0: not known */
    double usual_norm;  /* length of what was merged lately; 0: not known */
    uint64_t staleness; /* versions that an offer may lag behind before it is
                           damped by them; 0: it is not */
    uint64_t round;     /* ordinal, from 0 */
    uint64_t seed;      /* of the run, for rules that draw lots */
    int pinned;         /* node that the operator wants to win, or -1 */
    unsigned last;      /* in the run's last round: how many rounds before it an
                           update may stand for; 0: this is another round */
    unsigned present;   /* nodes in the round, with those that are passed over;
                           0: all that are to be merged */
};

/* ---- gate ---- */

struct gate_state {
    unsigned live;       /* nodes that take part and are not silent */
    unsigned offered;    /* of these, how many are in the round */
    unsigned required;   /* nodes there must be before the first round */
    nanos waited;        /* since the round's first offer */
    uint64_t iterations; /* of all nodes together since the last round */
    uint64_t every;      /* k */
    nanos slack;         /* after the round's first offer, until somebody would
                            wait for results; negative: not known, or the rule
                            does not ask */
    const struct policy_numbers *numbers;
};

struct gate_rule {
    const char *name, *doc;
    /* One round gathers offers, one of each node; else each offer is a round
     * of its own. */
    bool batch;
    /* Rounds of n of N nodes move the centre n/N as far. */
    bool partial;
    /* It asks for the state's slack, which takes a look at all nodes. */
    bool slack;
    /* Whether the round's list of contributors is complete. */
    int (*closes)(const struct gate_state *state);
    /* The share of an update of so many samples, of `total` of all, and
     * what the sum of shares times updates is divided by. Apart, so that
     * the mean of equal shares is the sum divided by their number, rounded
     * once. */
    double (*share)(double samples, double total);
    double (*divisor)(double total, unsigned count, unsigned live);
    /* When to ask again although nothing has come, after the first offer;
     * NULL: never. */
    nanos (*longest)(const struct gate_state *state);
};

/* Those of sync, which others have, too; and `grace` as the longest. */
double gate_share(double samples, double total);
double gate_divisor(double total, unsigned count, unsigned live);
nanos gate_grace(const struct gate_state *state);

/* ---- select ---- */

struct select_rule {
    const char *name, *doc;
    /* Writes the places of those that may be merged to order[count], the best
     * first; returns how many. *wanted of them are uploaded at first; each
     * one that turns out bad is replaced by the next in order. */
    unsigned (*choose)(const struct candidate *list, unsigned count,
                       const struct policy_context *context, unsigned *order,
                       unsigned *wanted);
};

/* ---- reduce ---- */

/* The whole of what was contributed, for rules that must see all of it before
 * anything is merged (STAGED). Memory: updates * model. */
struct pile {
    unsigned count;
    size_t elements;
    bool has_loss; /* the hub has held-out data, or other nodes have said */
    /* Elements [first, first + count) of update i, decoded. `first` is a
     * multiple of POLICY_TILE, `count` at most that. */
    void (*read)(const struct pile *pile, unsigned i, size_t first,
                 size_t count, double *into);
    /* Held-out loss of the parameters that the updates, weighted and
     * divided by the sum of the weights, stand for; *error is its standard
     * error. All weights zero: of the centre as it is. NO_SCORE: not known;
     * nodes say nothing of more than one update together. */
    double (*loss)(const struct pile *pile, const double *weights,
                   double *error);
};

struct reduce_rule {
    const char *name, *doc;
    /* Writes the samples that each counts for and a factor for its share, from
     * the offers' numbers alone. NULL: what the offers say, and 1. */
    void (*weigh)(const struct candidate *list, unsigned count,
                  const struct policy_context *context, double *samples,
                  double *factor);
    /* Reduces rows[i][0..size) of `count` updates to out[0..size),
     * coordinate by coordinate. NULL: their weighted mean. */
    void (*rows)(const double *const *rows, unsigned count, size_t size,
                 const struct policy_numbers *numbers, double *out);
    /* TENSOR BY TENSOR: from the lengths of the updates in a tensor and their
     * shares, writes the factor of each one's share of the sum of shares times
     * updates; returns the length which that sum gets before it is divided as
     * ever. A tensor that chunks cut is as many as these. NULL: no factor. */
    double (*blend)(const double *length, const double *share, unsigned count,
                    double *factor);
    /* Then: tensors whose sum is taken as it is. NULL: none. */
    bool (*spares)(const struct tensor *tensor);
    /* STAGED: sets weight[i] (1 at first; 0: left out) by what is in the
     * pile; may set list[i].score and .verified. NULL: STREAMED. */
    void (*judge)(const struct pile *pile, struct candidate *list,
                  const struct policy_context *context, double *weight);
    /* Updates that it takes to compare them: of fewer all are kept. NULL:
     * one. */
    unsigned (*least)(const struct policy_numbers *numbers);
    const char *refusal; /* why one is left out, as a sentence; NULL: never */
    bool by_loss; /* judge asks for losses: other nodes give them where the
                     hub has no held-out data */
};

/* clip's, which others have, too. */
void reduce_weigh(const struct candidate *list, unsigned count,
                  const struct policy_context *context, double *samples,
                  double *factor);

/* ---- merge ---- */

/* A tile of the centre, to be moved by what the round came to. */
struct merge_tile {
    const double *value; /* the reduced update */
    double sign;         /* +1: displacements or parameters, -1: gradients */
    size_t count;        /* elements of the tile */
    float *theta;        /* the centre, read and written */
    float *slot[POLICY_SLOTS]; /* state, zero at first; NULL: not kept */
    unsigned updates;          /* to this chunk */
    unsigned live;             /* nodes that took part when the round closed */
    double usual;              /* that of late, at least `live`; 0: the same */
    uint64_t updates_before;   /* updates in this chunk before, ever */
    double lost;               /* share of the momentum that ends: that of nodes
                                  which were there before and are not now */
    const struct policy_numbers *numbers;
};

struct merge_rule {
    const char *name, *doc;
    unsigned takes; /* bits 1 << EXCHANGE_...: what nodes may offer; the
                       lowest is not preferred: presets say */
    /* State vectors it keeps with these numbers; at most POLICY_SLOTS. */
    unsigned (*slots)(const struct policy_numbers *numbers);
    /* TENSOR BY TENSOR, before any step: changes the reduced update by what
     * slot 0 holds, which is there. `sign`: see merge_tile. NULL: not. */
    void (*correct)(const float *slot, size_t count, double sign,
                    double *update);
    void (*step)(const struct merge_tile *tile);
    /* The verb that receivers apply the result with, and its number a; `delay`
     * is the part of k iterations after which they do so, d / k. NULL: 1. */
    enum verb verb;
    double (*weight)(const struct policy_numbers *numbers, unsigned live,
                     double delay);
    bool sends_previous; /* they get the centre as it was before the step */
    /* outer_lr, outer_momentum and pull where it is named beside a preset of
     * another rule, whose numbers mean something else. NULL: the preset's. */
    const struct policy_numbers *own;
};

/* mean's slots and step, and the weight of rules that `pull` alone decides. */
unsigned merge_slots(const struct policy_numbers *numbers);
void merge_step(const struct merge_tile *tile);
double merge_pull(const struct policy_numbers *numbers, unsigned live,
                  double delay);

/* ---- receive ---- */

enum { RECEIVE_CENTRE = -1, RECEIVE_NOTHING = -2 };

struct receive_rule {
    const char *name, *doc;
    /* Writes for each candidate whose parameters it gets: the place of a
     * candidate, RECEIVE_CENTRE or RECEIVE_NOTHING. Donors are uploaded
     * whatever `select` says. NULL: everybody gets the centre. Only where
     * nodes offer parameters. */
    void (*donors)(const struct candidate *list, unsigned count,
                   const struct policy_context *context, int *donor);
};

/* ---- damping ---- */

struct damping_rule {
    const char *name, *doc;
    /* A factor for the share of an offer that lags so far behind. */
    double (*factor)(uint64_t lag);
};

/* ---- preempt ---- */

/* A node under judgement. */
struct preempt_candidate {
    unsigned node;
    double score;       /* now; NO_SCORE: none, not finite: diverged */
    bool verified;      /* it is not only the node's word */
    double error;       /* standard error of score - best score; 0: unknown */
    double trajectory;  /* score at the common number of samples; NO_SCORE:
                           not known */
    double slope;       /* beta of l(t) = A - beta ln t; 0: not known */
    uint64_t samples;   /* t */
    uint64_t remaining; /* samples it may still see; UINT64_MAX: no end */
    uint64_t rounds;    /* offers since its parameters were last replaced */
    unsigned strikes;   /* scores in a row, before this one, that were bad */
    bool bad;           /* out: this score is too bad */
    bool replaced;      /* out: to be replaced */
};

struct preempt_rule {
    const char *name, *doc;
    /* Sets bad and replaced of each. NULL: never. */
    void (*judge)(struct preempt_candidate *list, unsigned count,
                  const struct policy_context *context);
};

/* ---- presets ---- */

struct policy {
    enum exchange exchange;
    const struct gate_rule *gate;
    const struct select_rule *select;
    const struct reduce_rule *reduce;
    const struct merge_rule *merge;
    const struct receive_rule *receive;
    const struct damping_rule *damping;
    const struct preempt_rule *preempt;
    struct policy_numbers numbers;
};

struct preset {
    const char *name, *doc, *source;
    struct policy policy;
};

extern const struct preset presets[];
extern const unsigned preset_count;

/* NULL when there is none of that name. */
const struct preset *preset_find(const char *name);

/* Gives a policy whose merge rule was `before` the own numbers of the one it
 * has now, or the defaults where only those of `before` were its own. */
void policy_take_own(const struct merge_rule *before, struct policy *policy);

/* Each kind of rule: its registry, and the rule of a name or NULL. */
#define REGISTRY(kind)                                                         \
    extern const struct kind##_rule *const kind##_rules[];                     \
    extern const unsigned kind##_rule_count;                                   \
    const struct kind##_rule *kind##_find(const char *name);
REGISTRY(gate)
REGISTRY(select)
REGISTRY(reduce)
REGISTRY(merge)
REGISTRY(receive)
REGISTRY(damping)
REGISTRY(preempt)
#undef REGISTRY

/* Why these choices do not go together, as a sentence, or NULL. */
const char *policy_conflict(const struct policy *policy);
/* The samples that each update is believed to stand for: what its node says, up
 * to ten times what the middle one says. */
void policy_samples(const struct candidate *list, unsigned count,
                    double *samples);
/* How far each update moves the statistics that are averaged, to what it has of
 * them: by samples and lag, and by how many of the nodes it is one. Together at
 * most 1. */
void policy_means(const struct policy *policy, const struct candidate *list,
                  unsigned count, const struct policy_context *context,
                  double *means);
/* The share of update i of `count`: by samples (gate), lag (damping) and
 * numbers (reduce), before any data are known, and what their sum is divided
 * by, or, of rules with rows, what these come to. Parameters are divided by the
 * sum of their shares, so that what comes out are parameters, too. */
void policy_shares(const struct policy *policy, const struct candidate *list,
                   unsigned count, const struct policy_context *context,
                   double *share, double *whole);

/* Every rule there is, as gate_sync, merge_mean, ... */
#define GATE(name) extern const struct gate_rule gate_##name;
#define SELECT(name) extern const struct select_rule select_##name;
#define REDUCE(name) extern const struct reduce_rule reduce_##name;
#define MERGE(name) extern const struct merge_rule merge_##name;
#define RECEIVE(name) extern const struct receive_rule receive_##name;
#define DAMPING(name) extern const struct damping_rule damping_##name;
#define PREEMPT(name) extern const struct preempt_rule preempt_##name;
#include "policies/policies.def"

#endif
