/* What a hub decides, as independent choices in registries.
 *
 * A policy sees plain numbers and vectors, never a message, a socket or a
 * clock. A preset names one choice of each kind with its defaults. */
#ifndef POLICIES_POLICY_H
#define POLICIES_POLICY_H

#include <stddef.h>

#include "core/words.h"

/* The outer optimizer's numbers. */
struct outer {
    double lr;       /* epsilon */
    double momentum; /* mu, Nesterov form */
};

/* A merge rule takes a tile of `count` elements and the weighted mean of what
 * was contributed there, and moves the centre.
 *   mean      weighted mean of the contributions
 *   sign      +1: contributions are displacements, -1: gradients
 *   theta     the centre, read and written
 *   velocity  the outer momentum, read and written; NULL when momentum is 0 */
struct merge_rule {
    const char *name;
    void (*merge)(const double *mean, double sign, const struct outer *outer,
                  size_t count, float *theta, float *velocity);
};

/* What a round is to the gate: how many nodes there are, how many of them have
 * offered. */
struct gate_state {
    unsigned live;     /* nodes that take part and are not silent */
    unsigned offered;  /* of these, how many are in the round */
    unsigned required; /* nodes there must be before the first round */
};

struct gate_rule {
    const char *name;
    enum gate gate;
    /* Whether the round's list of contributors is complete. */
    int (*closes)(const struct gate_state *state);
    /* The share of contribution i with samples[i], and what the sum of these
     * shares times contributions is divided by. Apart, so that the mean of
     * equal shares is the sum divided by their number, rounded once. */
    double (*share)(const double *samples, unsigned count, unsigned i);
    double (*whole)(const double *samples, unsigned count, unsigned live);
};

struct preset {
    const char *name, *doc, *source;
    const struct gate_rule *gate;
    const struct merge_rule *merge;
    struct outer outer;
};

extern const struct preset presets[];
extern const unsigned preset_count;

/* NULL when there is none of that name. */
const struct preset *preset_find(const char *name);

#endif
