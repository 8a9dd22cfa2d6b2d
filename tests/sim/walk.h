/* A star under each policy in turn: every preset, and rules that no preset
 * combines. Nodes want something else each, with exact gradients; the hub has
 * held-out data and scores its centre once, so that nothing depends on when.
 *
 *     static bool it_lives(const struct policy *policy)
 *     {
 *         struct seen seen;
 *         struct lab *lab = walk_star(policy, &seen);
 *         ...
 *     }
 *
 *     walk(it_lives);      a failed check for each policy where it is false */
#ifndef TESTS_SIM_WALK_H
#define TESTS_SIM_WALK_H

#include "tests/sim/lab.h"

/* Three chunks, more than the window: a rule that waits for the whole of an
 * update must be given it. */
enum {
    WALK_ELEMENTS = 11,
    WALK_NODES = 4,
    WALK_MOST = 5, /* the last one's gradient is NaN once */
    WALK_EVERY = 4,
    WALK_COMPARED = 6 /* exchange: five rounds are in its parameters */
};

/* What the network and the trainers of a star have shown. */
struct seen {
    unsigned decided[WALK_MOST]; /* exchanges that a round has come to */
    unsigned lasts[WALK_MOST];   /* last offers */
    struct offering {
        unsigned count;
        uint32_t bits[WALK_ELEMENTS]; /* of x at exchange WALK_COMPARED */
    } offered[WALK_MOST];
};

/* A star that is not open yet, with d = 0. `seen` must outlive it. */
struct lab *walk_lab(const struct policy *policy, struct seen *seen);
/* Opens it with so many nodes. */
void walk_open(struct lab *lab, uint64_t seed, unsigned nodes);
/* The node that comes next wants what node `like` does. */
void walk_add(struct lab *lab, unsigned number, unsigned like);
/* Both, with WALK_NODES. */
struct lab *walk_star(const struct policy *policy, struct seen *seen);
/* The filter that counts; a test's own may call it. */
void walk_count(void *context, const struct world_message *message,
                struct world_fate *fate);
/* The first `nodes` nodes' parameters, and what was saved, are finite. */
bool walk_finite(const struct lab *lab, unsigned nodes);
void walk(bool (*holds)(const struct policy *policy));
/* The same with what nodes offer encoded, under a few presets, and with the
 * codecs of its own under each preset that has some. */
void walk_codecs(bool (*holds)(const struct policy *policy));

#endif
