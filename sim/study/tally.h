/* What is counted of a run while it runs, and what became of it. Inside of
 * study/. */
#ifndef SIM_STUDY_TALLY_H
#define SIM_STUDY_TALLY_H

#include "sim/study/outcome.h"
#include "sim/world.h"

/* Further behind than any offer that is merged. */
enum { TALLY_LAGS = 1024 };

/* Of a node, in all its lives: a crash ends a trainer with its counts. */
struct tally_node {
    double iterations, waited, missed;
    struct {
        uint64_t iteration, missed;
        nanos waited;
    } last; /* that its trainer said */
};

struct tally {
    struct world *world;
    unsigned nodes;
    struct tally_node *node;
    uint64_t version; /* newest of which a result was sent */
    uint64_t rounds, offers, steps;
    nanos first_round, last_round, ending; /* -1: not yet */
    bool reached;
    double iterations;         /* of all nodes, when the end began */
    uint64_t lags[TALLY_LAGS]; /* offers by how far they lagged behind */
    nanos chosen_at;           /* k and d; 0: not yet */
    char chosen[NOTE_BYTES];
};

void tally_init(struct tally *tally, struct world *world, unsigned nodes);
void tally_step(struct tally *tally, const struct world_step *step);
/* Sets all but done, history, cost and trouble; the end of the tally. */
void tally_end(struct tally *tally, struct outcome *out);

#endif
