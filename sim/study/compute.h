/* The computation of simulated nodes, one of enum compute (core/words.def), and
 * how the hub scores it.
 *
 * A computing belongs to one run: it knows what each of its nodes starts from
 * and trains on, all from the run's seed. Nodes are numbers from 0; node i of
 * a seed is the same whatever the settings of the exchange are. */
#ifndef SIM_STUDY_COMPUTE_H
#define SIM_STUDY_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/options.h"
#include "core/schema.h"
#include "core/status.h"

struct trace;
struct computing;

struct compute_type {
    enum compute kind;
    /* Sets schema, elements, scale and self. */
    enum status (*open)(struct computing *computing, struct why *why);
    void (*close)(struct computing *computing);
    /* First parameters of a node; the computing's, until it is closed. */
    const float *(*start)(struct computing *computing, unsigned node);
    /* The gradient at x of the node's next samples; returns their loss. */
    double (*gradient)(struct computing *computing, unsigned node,
                       uint64_t iteration, const float *x, float *gradient);
    /* Takes elements [first, first + count) of a gradient to the node's
     * optimizer; with the last of them it steps on the whole of x. */
    void (*step)(struct computing *computing, unsigned node, float *x,
                 const float *gradient, size_t first, size_t count);
    /* The hub's score of x. Accuracy below 0: there is none. */
    void (*judge)(struct computing *computing, const float *x, double *loss,
                  double *accuracy);
    /* These may be NULL. Which part of the data is the node's; that its
     * optimizer begins anew; a node's score of x for others, false: none. */
    void (*shard)(struct computing *computing, unsigned node, uint32_t shard,
                  uint32_t shards);
    void (*forget)(struct computing *computing, unsigned node);
    bool (*review)(struct computing *computing, unsigned node, const float *x,
                   double *loss, double *error);
};

extern const struct compute_type compute_real, compute_surrogate,
    compute_recorded;

struct computing {
    const struct compute_type *type;
    const struct options *options; /* borrowed */
    const struct trace *trace;     /* borrowed; may be NULL */
    uint64_t seed;
    unsigned nodes;
    struct schema *schema;
    size_t elements;
    uint32_t scale;   /* parameters that an element stands for, at least 1 */
    uint64_t samples; /* of an iteration */
    bool accuracy;    /* the hub's score has one */
    void *self;
};

/* The choice of the options: real where something is to be trained. */
enum compute compute_of(const struct options *options);

/* The caller's, to close; what it borrows must outlive it. USAGE, CONFIG and
 * what opening a trainer can end with. */
enum status computing_open(const struct options *options,
                           const struct trace *trace, uint64_t seed,
                           unsigned nodes, struct computing **out,
                           struct why *why) MUST_CHECK;
void computing_close(struct computing **computing);

/* For types that compute nothing real: sets elements and scale so that a few
 * elements, as many as hold all chunks and are cheap, weigh on the wire as the
 * parameters that the options name; and a schema of them. */
enum status computing_stand_in(struct computing *computing,
                               struct why *why) MUST_CHECK;

#endif
