/* What a trainer is to do about exchanges, in their order, and what it has to
 * offer: pacer and inbox together, the same for the library's training thread
 * and the simulated one.
 *
 * What the node says goes to agenda_receive. At the end of iteration i the
 * trainer tells agenda_step, asks agenda_due until the answer is GO, then
 * agenda_offer until that is false, and with d = 0 agenda_due again.
 *
 * Where the run wants gradients it is their mean since the last offer that is
 * offered. Samples and gradients are those of the parameters that the trainer
 * has: once these are replaced they begin anew. */
#ifndef NODE_AGENDA_H
#define NODE_AGENDA_H

#include "node/inbox.h"
#include "node/pacer.h"

struct agenda {
    struct pacer pacer;
    struct inbox inbox;
    uint64_t samples;   /* since the last offer */
    uint64_t told;      /* of that one, */
    uint64_t told_at;   /* which was made at this iteration, */
    uint64_t told_then; /* at this pacer_time */
    double *sum;        /* of gradients since then; NULL: none are wanted */
    uint64_t summed;    /* how many */
};

/* For a vector of so many elements. */
void agenda_init(struct agenda *agenda, size_t elements);
void agenda_free(struct agenda *agenda);
/* Takes LOCAL_TUNE, LOCAL_RESULT and LOCAL_VERDICT; nothing else concerns it.
 * False: there is no memory for it, and it is to be said again. */
bool agenda_receive(struct agenda *agenda, const struct msg *msg,
                    struct blob *payload);
/* Whether gradients are offered instead of parameters or their progress. */
bool agenda_wants_gradients(const struct agenda *agenda);
/* An iteration is done, on so many samples; its gradient lies in spans, NULL:
 * it has none to give. */
void agenda_step(struct agenda *agenda, uint64_t samples,
                 const struct span *gradients);
/* As pacer_offer; a gradient that is none is not offered. */
bool agenda_offer(struct agenda *agenda, bool last, uint64_t *exchange);
/* As pacer_due; but parameters to be taken over, exchange 0, come first and
 * wait for nothing. */
enum pacer_act agenda_due(struct agenda *agenda, uint64_t *exchange);
/* Applies what is due; see inbox_apply. *replaced: the parameters were
 * replaced, and what was in flight is of no use any more. Returns the elements
 * that moved. */
size_t agenda_apply(struct agenda *agenda, uint64_t exchange,
                    const struct span *spans, float *anchor,
                    const struct inbox_optimizer *optimizer, bool *replaced);
/* It will never be applied; LOCAL_VERDICT says that the hub is done with it. */
void agenda_skip(struct agenda *agenda, uint64_t exchange);

/* Of the exchange that agenda_offer has begun last: fills in iteration, kind,
 * fragment and samples, which begin anew with the iteration: fragments of one
 * stand for the same, each once, however long none is done after it. How many
 * elements of the vector it holds; copies these, of the parameters in spans or
 * of the mean gradient. */
void agenda_describe(struct agenda *agenda, bool last,
                     struct msg_local_offer *offer);
/* The exchanges of the last iteration that has any, of so many samples, were
 * not offered after all. */
void agenda_take_back(struct agenda *agenda, uint64_t samples);
size_t agenda_elements(const struct agenda *agenda);
void agenda_copy(struct agenda *agenda, const struct span *spans, float *to);

#endif
