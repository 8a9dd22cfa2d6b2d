/* What is counted of a play while it runs, and what became of it. Inside of
 * study/. */
#ifndef STUDY_TALLY_H
#define STUDY_TALLY_H

#include "sim/world.h"
#include "study/outcome.h"

/* Further behind than any offer that is merged. */
enum { TALLY_LAGS = 1024 };

struct tally {
    struct world *world;
    unsigned nodes;
    uint64_t version; /* newest of which a result was sent */
    uint64_t rounds, offers, steps;
    nanos first_round, last_round, ending; /* -1: not yet */
    bool reached;
    double iterations; /* of all nodes, when the end began */
    uint64_t lags[TALLY_LAGS]; /* offers by how far they lagged behind */
};

void tally_init(struct tally *tally, struct world *world, unsigned nodes);
void tally_step(struct tally *tally, const struct world_step *step);
/* Sets all but done, history, cost and trouble. */
void tally_end(const struct tally *tally, struct outcome *out);

#endif
