/* A training loop's side of a run, the same for the library on somebody's
 * training thread in real time and for the simulated trainer in virtual time:
 * what an iteration was like, what is to be applied and offered after it, what
 * is told to the node, and how one leaves.
 *
 *     training_iterated(...)      at the end of an iteration, then
 *     training_apply(...)         until it no longer has to wait, then
 *     training_offer(..., false)
 *     training_apply(...)         again where d = 0, then
 *     training_report_if_due(...)
 *     training_offer(..., true)   once, to leave
 *
 * Where the parameters lie elsewhere, as on a GPU, `change` moves them, and an
 * offer is only begun in its turn: training_give ends it when `values` holds a
 * copy, at a later iteration.
 *
 * Pure; what the owner's functions are told is borrowed for the call. */
#ifndef NODE_TRAINING_H
#define NODE_TRAINING_H

#include "core/time.h"
#include "node/agenda.h"

enum training_moment {
    TRAINING_OFFERED,  /* the parameters are about to be copied */
    TRAINING_REPLACED, /* the parameters, by others; APPLIED comes as well */
    TRAINING_APPLIED,  /* exchange 0: what it was to take at first */
    TRAINING_SKIPPED,
    TRAINING_BLOCKED
};

struct training_owner {
    void *self;
    /* Takes over one reference of `payload`, or NULL. */
    void (*post)(void *self, const struct msg *msg, struct blob *payload);
    /* As inbox_optimizer's. */
    void (*optimize)(void *self, const float *gradient, size_t first,
                     size_t count);
    void (*told)(void *self, enum training_moment moment, uint64_t exchange);
    /* As inbox_optimizer's; NULL: the parameters lie in `values`. */
    void (*change)(void *self, double keep, double scale, const float *values,
                   size_t first, size_t count);
    void (*raise_to)(void *self, const float *values, size_t first,
                     size_t count);
    const struct statistics *statistics; /* of the vector; NULL: none */
};

struct deferred;

struct training {
    struct agenda agenda;
    struct training_owner owner;
    struct pool *pool;
    const struct span *values; /* the parameters, the owner's */
    struct deferred *deferred; /* NULL: that is where they lie */
    struct blob *start; /* the starting parameters, until it is known whether
                           there is an anchor */
    float *anchor;      /* what to be pulled to, or NULL */
    double loss;        /* smoothed; NaN: none yet */
    double accuracy;    /* below 0: not known */
    uint64_t offered, applied;
    uint64_t left_out; /* offers for which there was no memory */
    uint64_t waiting;  /* exchange it is blocked for, 0: none */
    nanos wait_began, wait_until, waited, reported;
    nanos exchanging; /* spent on offers and results: the owner's to say */
    nanos spent[SPENT_COUNT], spent_until; /* all of them, since it began */
};

/* For a vector of so many elements, which lies in `values` once there is a
 * vector. False: there is no memory for parameters that lie elsewhere. */
bool training_init(struct training *training,
                   const struct training_owner *owner, struct pool *pool,
                   size_t elements) MUST_CHECK;
void training_free(struct training *training);
/* Gives the node the starting parameters. False: there is no memory for them,
 * and without them it will not begin. */
bool training_found(struct training *training);

/* Hands the owner a message, with one reference of `payload` or NULL. */
static inline void training_post(const struct training *training,
                                 const struct msg *msg, struct blob *payload)
{
    training->owner.post(training->owner.self, msg, payload);
}

/* From here on its time is counted. */
void training_spend_from(struct training *training, nanos now);
/* What passed since the last of these calls went there, but for what was told
 * by training_spend_apart since. */
void training_spend(struct training *training, enum spent where, nanos now);
/* So long of what has not been counted yet went there; of that at most all. */
void training_spend_apart(struct training *training, enum spent where,
                          nanos span, nanos now);

/* An iteration is done, on so many samples; its gradient lies in spans, NULL:
 * it has none to give. A loss that is not finite is none. */
void training_iterated(struct training *training, double loss, uint64_t samples,
                       const struct span *gradients);
/* Time has passed without an iteration, as there was nothing to train on: what
 * is due after so many comes due by it, too. */
void training_idled(struct training *training);
/* Applies all that is due. False: it has to wait, until a message comes or it
 * is `wait_until`, and is to ask again then. Who is hurried waits for nothing.
 */
bool training_apply(struct training *training, nanos now, bool hurried);
/* The wait is over for other reasons. */
void training_wait_ends(struct training *training, nanos now);
nanos training_waited(const struct training *training, nanos now);
/* Offers if it is time for it. `last`: offers all that there is, out of turn,
 * and says goodbye: with nothing, where no offer is wanted. Gradients have no
 * last offer, as a step that not all have made is not taken: what was summed
 * since the last one is left out. So are parameters that lie elsewhere, if
 * training_give was not told that `values` holds them as they are. */
void training_offer(struct training *training, bool last);
/* Whether an offer was begun whose parameters have not been given; none is
 * begun meanwhile. They are to be given before a result of it is due, else it
 * is left out. */
bool training_awaits(const struct training *training);
/* `values`, the owner's or others for this call, holds the parameters as they
 * were when this iteration was done and its results were applied. Where
 * time passes meanwhile, what comes due is applied once they were given or left
 * out, after which that copy is of no use. False: so it is, or nobody waits for
 * them, any more or yet. */
bool training_give(struct training *training, uint64_t iteration,
                   const struct span *values);
/* Tells the node something that is to come behind what was offered before. */
void training_say(struct training *training, const struct msg *msg);
/* Says goodbye once more, and waits for no offer. */
void training_farewell(struct training *training);
void training_report(struct training *training, nanos now);
/* The same where the last one is 200 ms ago. */
void training_report_if_due(struct training *training, nanos now);

#endif
