/* What a trainer is to do about exchanges, in their order: pacer and inbox
 * together, the same for the library's training thread and the simulated one.
 *
 * What the node says goes to agenda_take. At the end of iteration i the
 * trainer asks agenda_due until the answer is GO, then pacer_offer until that
 * is false, and with d = 0 agenda_due again. */
#ifndef NODE_AGENDA_H
#define NODE_AGENDA_H

#include "node/inbox.h"
#include "node/pacer.h"

struct agenda {
    struct pacer pacer;
    struct inbox inbox;
};

/* For a vector of so many elements. */
void agenda_init(struct agenda *agenda, size_t elements);
void agenda_free(struct agenda *agenda);
/* Takes SCHEDULE, APPLY and FORGET; nothing else concerns it. */
void agenda_take(struct agenda *agenda, const struct msg *msg,
                 struct blob *payload);
/* As pacer_due; but parameters to be taken over, exchange 0, come first and
 * wait for nothing. */
enum pacer_act agenda_due(struct agenda *agenda, uint64_t *exchange);
/* Applies what is due; see inbox_apply. *replaced: the parameters were
 * replaced, and what was in flight is of no use any more. Returns the elements
 * that moved. */
size_t agenda_apply(struct agenda *agenda, uint64_t exchange,
                    const struct span *spans, float *anchor,
                    const struct inbox_optimizer *optimizer, bool *replaced);
/* It will never be applied. */
void agenda_skip(struct agenda *agenda, uint64_t exchange);

/* Of the exchange that pacer_offer has begun last: fills in iteration, kind
 * and fragment; how many elements of the vector it holds; copies these. */
void agenda_describe(const struct agenda *agenda,
                     struct msg_snapshot *snapshot);
size_t agenda_elements(const struct agenda *agenda);
void agenda_copy(const struct agenda *agenda, const struct span *spans,
                 float *to);

#endif
