/* The training thread's side of an exchange: what to do at iteration i.
 *
 * Pure bookkeeping, used by the library (node/library) in real time and by the
 * simulated trainer in virtual time. At the end of iteration i the trainer
 * asks, in this order: what is due (until the answer is GO), then whether to
 * offer, and after an offer with d = 0 what is due again. A result is never
 * applied before i+d of its offer's i, nor before an older one of its fragment
 * that may still come.
 *
 * With F > 1 fragments each is offered every k iterations, fragment p when
 * (i - p k / F) mod k = 0: the same traffic, evenly spread (Streaming DiLoCo,
 * Douillard et al. 2025, algorithm 2).
 *
 * With MISS_CUT an exchange is bounded in time. What is here of its result at
 * i+d is applied. The last quarter of d (rounded, and no iteration of d = 1) is
 * for results only: what a slow node has not sent by then is merged without it,
 * so that the others still get it in time. */
#ifndef NODE_PACER_H
#define NODE_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/msg.h"
#include "core/time.h"

/* Exchanges that may be under way at once, beside the last one; more offers are
 * left out. */
enum { PACER_FLIGHT = 64 };

enum pacer_state {
    PACER_PENDING, /* offered, nothing back yet */
    PACER_READY,   /* all of its result is here */
    PACER_SKIPPED  /* it will never be applied: in flight until it is judged */
};

struct pacer_exchange {
    uint64_t exchange;
    uint64_t offered; /* when it was */
    uint64_t due;     /* when it may be applied */
    uint64_t closes;  /* with MISS_CUT: from which on nothing more is sent */
    uint32_t fragment;
    enum pacer_state state;
    bool whole;  /* of parameters: what comes may replace the trainer's, and
                    is never skipped */
    bool missed; /* it was not there at `due` */
    bool closed; /* the machine was told to send no more of it */
};

struct pacer {
    struct msg_local_tune schedule;
    uint64_t iteration;
    uint64_t idle; /* how often time has passed without one */
    uint64_t next_exchange;
    uint64_t last_offer; /* when it was */
    uint32_t fragment;   /* that it offered */
    uint64_t missed;
    uint64_t results, taken; /* that have come; iterations that they took, from
                                the offer until they could be applied */
    unsigned count;
    struct pacer_exchange flight[PACER_FLIGHT + 1]; /* oldest first */
};

enum pacer_act {
    PACER_GO,    /* nothing is to be done: train on */
    PACER_APPLY, /* apply its result now, pacer_done, ask again */
    PACER_SKIP,  /* never apply it: tell the machine, pacer_skip, ask again */
    PACER_CLOSE, /* tell the machine to send no more of it, ask again */
    PACER_CUT,   /* tell the machine to hand over what is here of it, ask
                    again; it is applied when that has come */
    PACER_WAIT   /* block until anything comes, or the wait is over and
                    pacer_give_up; ask again */
};

void pacer_init(struct pacer *pacer);
/* Takes new settings; what is in flight keeps its due iteration. With a smaller
 * d a later exchange may be due before an older one: it waits for that. */
void pacer_schedule(struct pacer *pacer, const struct msg_local_tune *schedule);
/* An iteration is done. */
void pacer_tick(struct pacer *pacer);
/* There was nothing to train on: time passes as if one were, by which offers
 * have their turn and results come due, and none is counted. */
void pacer_idle(struct pacer *pacer);
/* The time of a pacer: iterations, and how often it was idle. */
uint64_t pacer_time(const struct pacer *pacer);
/* What to do now about an exchange in flight, the oldest that needs something;
 * its number is in *exchange unless the answer is GO. A result that is not
 * there when it is due is counted as missed, once. With d = 0 the answer is
 * WAIT whatever the schedule says of late results. */
enum pacer_act pacer_due(struct pacer *pacer, uint64_t *exchange);
/* Ends a WAIT that took too long: counts the miss, the result will be applied
 * when it comes. */
void pacer_give_up(struct pacer *pacer, uint64_t exchange);
/* The exchange was applied. */
void pacer_done(struct pacer *pacer, uint64_t exchange);
/* It will not be: what comes of it is void. Until it is forgotten, when the hub
 * is done with it, it is in flight, or offers would pile up at a slow hub. */
void pacer_skip(struct pacer *pacer, uint64_t exchange);
/* Whether to offer now: it is a fragment's turn, i > 0, a hub wants it, and
 * no more of it are in flight than d iterations can hide, d/k rounded up,
 * so that with this one at most one is late. If so its number, 1, 2, ...,
 * is in *exchange, its fragment in pacer->fragment, and it is in flight; ask
 * again, as several fragments may have their turn. `last` offers all of
 * them at once and out of turn, whatever is in flight; gradients
 * have no last offer: a step that not all have made is not taken. */
bool pacer_offer(struct pacer *pacer, bool last, uint64_t *exchange);
/* What the end of the next iteration will bring, as far as that is known now:
 * whether it offers; whether it applies a result, or waits for one. */
bool pacer_will_offer(const struct pacer *pacer);
bool pacer_will_apply(const struct pacer *pacer);
/* The exchange that was begun last is none: there was no memory for it. */
void pacer_undo_offer(struct pacer *pacer, uint64_t exchange);
/* The whole result of an exchange has come. */
void pacer_ready(struct pacer *pacer, uint64_t exchange);
/* Nothing will come for these exchanges; what has come is void. */
void pacer_forget(struct pacer *pacer, uint64_t first, uint64_t last);

#endif
