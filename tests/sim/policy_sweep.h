/* A star under each policy in turn: every preset, and rules that no preset
 * combines. Nodes want something else each, with exact gradients; the hub has
 * held-out data and scores its centre once, so that nothing depends on when.
 *
 *     static bool it_lives(const struct policy *policy)
 *     {
 *         struct seen seen;
 *         struct lab *lab = sweep_star(policy, &seen);
 *         ...
 *     }
 *
 *     policy_sweep(it_lives); a failed check for each policy where it is false
 *     */
#ifndef TESTS_SIM_POLICY_SWEEP_H
#define TESTS_SIM_POLICY_SWEEP_H

#include "tests/sim/lab.h"

/* Three chunks, more than the window: a rule that waits for the whole of an
 * update must be given it. */
enum {
    SWEEP_ELEMENTS = 11,
    SWEEP_NODES = 4,
    SWEEP_MOST = 5, /* the last one's gradient is NaN once */
    SWEEP_EVERY = 4,
    SWEEP_COMPARED = 6 /* exchange: five rounds are in its parameters */
};

/* What the network and the trainers of a star have shown. */
struct seen {
    unsigned decided[SWEEP_MOST]; /* exchanges that a round has come to */
    unsigned lasts[SWEEP_MOST];   /* last offers */
    struct offering {
        unsigned count;
        uint32_t bits[SWEEP_ELEMENTS]; /* of x at exchange SWEEP_COMPARED */
    } offered[SWEEP_MOST];
};

/* A star that is not open yet, with d = 0. `seen` must outlive it. */
struct lab *sweep_lab(const struct policy *policy, struct seen *seen);
/* Opens it with so many nodes. */
void sweep_open(struct lab *lab, uint64_t seed, unsigned nodes);
/* The node that comes next wants what node `like` does. */
void sweep_add(struct lab *lab, unsigned number, unsigned like);
/* Both, with SWEEP_NODES. */
struct lab *sweep_star(const struct policy *policy, struct seen *seen);
/* The filter that counts; a test's own may call it. */
void sweep_count(void *context, const struct world_message *message,
                 struct world_fate *fate);
/* The first `nodes` nodes' parameters, and what was saved, are finite. */
bool sweep_finite(const struct lab *lab, unsigned nodes);
void policy_sweep(bool (*holds)(const struct policy *policy));
/* The same with what nodes offer encoded, under a few presets, and with the
 * codecs of its own under each preset that has some. */
void sweep_codecs(bool (*holds)(const struct policy *policy));

#endif
