/* Offers that were begun and whose parameters are still on their way to the
 * trainer's memory, as they are copied from a GPU. What is to reach the node
 * behind them is held back: the node takes it that the parameters hold what was
 * applied before them, and nothing else.
 *
 * A part of node/training.h, for trainers that have `change`; the functions do
 * nothing for others. */
#ifndef NODE_DEFERRED_H
#define NODE_DEFERRED_H

#include "node/training.h"

/* Results that may be applied and tasks that may be done meanwhile; with more,
 * the offers are left out. */
enum { DEFERRED_BEHIND = 2 * PACER_FLIGHT };

struct deferred {
    uint64_t iteration; /* at whose end they were begun, all of them */
    uint64_t until;     /* of pacer_time: from then on they are left out */
    uint64_t fresh; /* whose parameters the memory holds; UINT64_MAX: none */
    bool asked;     /* for a copy as of `iteration`, which has not come, */
    bool stale;     /* and is not what the parameters are any more */
    unsigned count, held;
    struct msg offers[PACER_FLIGHT + 1]; /* LOCAL_OFFER */
    struct msg behind[DEFERRED_BEHIND];
};

/* One more, which the pacer has just begun. */
void deferred_begin(struct training *training, const struct msg *offer);
/* Whether one may be begun: not while a copy is on its way, even for one that
 * was left out, as it could be taken for this one's. */
bool deferred_may_begin(const struct training *training);
/* Whether nothing is to be applied, for the copies that are awaited: without a
 * delay it is training_give that waits for the result, and while time passes
 * without an iteration, all that are made hold the same. */
bool deferred_holds(const struct training *training);
/* The parameters move. */
void deferred_moves(struct training *training);
/* They have not been begun: their samples go to the next. */
void deferred_leave_out(struct training *training);
/* The same if it is too late for them. */
void deferred_check(struct training *training);

#endif
