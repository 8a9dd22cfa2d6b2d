/* How long updates usually are.
 *
 * Where fewer than three come together nothing can be compared, so rules that
 * clip measure them by what has been merged lately: the median over nodes, each
 * of which has one vote, the median of its last few. A clipped update
 * counts as what was left of it, so that a Byzantine node among two cannot
 * raise the measure at once, and one among more cannot raise it at all.
 * Fragments of a model differ: each has its own.
 *
 * Lengths are of k iterations: those of a former, smaller k count for as much
 * more as k has grown, and an offer of less than half of k, such as the first
 * one after a run is founded, is no measure. By what it is, the next one would
 * be clipped, and what the node has learnt be lost.
 *
 * A run of one node is not measured: it has nobody to be protected from, and
 * its updates grow as the learning rate does. */
#ifndef HUB_NORM_HISTORY_H
#define HUB_NORM_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum { NORMS_KEPT = 8, NORM_SERIES = 65 /* the whole, 64 fragments */ };

struct hub;
struct member;
struct round;

/* Of one node, of one fragment. */
struct norm_history {
    double recent[NORMS_KEPT];
    uint64_t every[NORMS_KEPT]; /* k of each */
    unsigned count;             /* that there were, ever */
};

/* 0: not known, or the run is of one node. */
double norm_history_median(const struct hub *hub, const struct round *round);
/* The round is over. */
void norm_history_learn(struct hub *hub, const struct round *round);
void norm_history_forget(struct member *member);
/* 0: there are none; slot 0 is of the whole model, slot 1 + i of fragment i. */
double norm_history_in(const struct hub *hub, uint32_t slot);
/* The same for the next life, of which one who was alone in all of this one is
 * no measure: 0. */
double norm_history_saved(const struct hub *hub, uint32_t slot);

#endif
