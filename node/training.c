#include "node/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/deferred.h"

/* The hub's table wants to know about this often. */
#define REPORT_EVERY (200 * MILLISECOND)
/* Weight of an iteration in the smoothed loss. */
#define LOSS_SHARE 0.1

bool training_init(struct training *training,
                   const struct training_owner *owner, struct pool *pool,
                   size_t elements)
{
    *training = (struct training){.owner = *owner,
                                  .pool = pool,
                                  .loss = (double)NAN,
                                  .accuracy = -1,
                                  .reported = -REPORT_EVERY};
    agenda_init(&training->agenda, elements);
    training->agenda.inbox.statistics = owner->statistics;
    if (owner->change)
        training->deferred = calloc(1, sizeof *training->deferred);
    return training->deferred || !owner->change;
}

void training_free(struct training *training)
{
    agenda_free(&training->agenda);
    blob_unref(&training->start);
    free(training->anchor);
    free(training->deferred);
    training->anchor = NULL;
    training->deferred = NULL;
}

/* ---- where its time goes ---- */

void training_spend_from(struct training *training, nanos now)
{
    training->spent_until = now;
}

void training_spend_apart(struct training *training, enum spent where,
                          nanos span, nanos now)
{
    nanos left = now - training->spent_until;

    span = span < left ? span : left;
    if (span <= 0)
        return;
    training->spent[where] += span;
    training->spent_until += span;
}

void training_spend(struct training *training, enum spent where, nanos now)
{
    training_spend_apart(training, where, NEVER, now);
}

static void tell(struct training *training, enum training_moment moment,
                 uint64_t exchange)
{
    if (training->owner.told)
        training->owner.told(training->owner.self, moment, exchange);
}

static double score_of(const struct training *training)
{
    return isfinite(training->loss) ? training->loss : NO_SCORE;
}

/* ---- offering ---- */

/* Whether `values` holds the parameters as they are. */
static bool is_fresh(const struct training *training)
{
    return !training->deferred ||
           training->deferred->fresh == training->agenda.pacer.iteration;
}

/* A copy of all parameters; NULL: no memory, or they lie elsewhere. */
static struct blob *copy_all(const struct training *training)
{
    size_t elements = training->agenda.inbox.elements;
    struct blob *blob = is_fresh(training)
                            ? blob_new(training->pool, elements * sizeof(float))
                            : NULL;

    if (blob)
        fragment_copy(fragment_of(0, 1), elements, UINT32_MAX, training->values,
                      blob_floats(blob));
    return blob;
}

static void describe(struct training *training, uint64_t exchange, bool last,
                     struct msg_local_offer *offer)
{
    agenda_describe(&training->agenda, last, offer);
    offer->exchange = exchange;
    offer->score = score_of(training);
    offer->last = last;
}

static void post_snapshot(struct training *training, uint64_t exchange,
                          bool last, struct blob *blob)
{
    struct msg msg = {.kind = MSG_LOCAL_OFFER};

    describe(training, exchange, last, &msg.local_offer);
    training->offered += blob && (exchange || last);
    training_post(training, &msg, blob);
}

bool training_found(struct training *training)
{
    training->start = copy_all(training);
    if (training->start)
        post_snapshot(training, 0, false, blob_ref(training->start));
    return training->start != NULL;
}

/* Copies what is to be offered; false: there is no memory for that, and nothing
 * has been begun. */
static bool offer(struct training *training, uint64_t exchange, bool last)
{
    struct agenda *agenda = &training->agenda;
    struct blob *blob;

    tell(training, TRAINING_OFFERED, exchange);
    if (training->deferred && !last && !agenda_wants_gradients(agenda)) {
        struct msg msg = {.kind = MSG_LOCAL_OFFER};

        describe(training, exchange, false, &msg.local_offer);
        deferred_begin(training, &msg);
        return true;
    }
    blob = blob_new(training->pool, agenda_elements(agenda) * sizeof(float));
    if (!blob) {
        pacer_undo_offer(&agenda->pacer, exchange);
        training->left_out++;
        return false;
    }
    agenda_copy(agenda, training->values, blob_floats(blob));
    post_snapshot(training, exchange, last, blob);
    return true;
}

void training_farewell(struct training *training)
{
    post_snapshot(
        training, 0, true,
        agenda_wants_gradients(&training->agenda) ? NULL : copy_all(training));
}

void training_offer(struct training *training, bool last)
{
    bool offered = false, may = is_fresh(training) || !last;
    uint64_t exchange;

    if (!last && !deferred_may_begin(training))
        return;
    deferred_leave_out(training);
    while (may && agenda_offer(&training->agenda, last, &exchange)) {
        offered = offer(training, exchange, last);
        if (last)
            break;
    }
    if (last && !offered) /* once the hub is back */
        training_farewell(training);
}

/* ---- telling ---- */

nanos training_waited(const struct training *training, nanos now)
{
    return training->waiting ? training->waited + now - training->wait_began
                             : training->waited;
}

/* What it is blocked for right now, and training_spend has not been told. */
static nanos waiting_now(const struct training *training, nanos now)
{
    return training->waiting ? now - training->spent_until : 0;
}

void training_report(struct training *training, nanos now)
{
    struct msg msg = {.kind = MSG_LOCAL_PING};

    msg.local_ping.iteration = training->agenda.pacer.iteration;
    msg.local_ping.loss = score_of(training);
    msg.local_ping.accuracy = training->accuracy;
    msg.local_ping.missed = training->agenda.pacer.missed;
    msg.local_ping.waited = training_waited(training, now);
    msg.local_ping.blocked = training->waiting > 0;
    msg.local_ping.results = training->agenda.pacer.results;
    msg.local_ping.taken = training->agenda.pacer.taken;
    msg.local_ping.exchanging = training->exchanging;
    msg.local_ping.compute = training->spent[SPENT_COMPUTE];
    msg.local_ping.net_wait =
        training->spent[SPENT_NET_WAIT] + waiting_now(training, now);
    msg.local_ping.data_wait = training->spent[SPENT_DATA_WAIT];
    msg.local_ping.optimizer = training->spent[SPENT_OPTIMIZER];
    msg.local_ping.idle = training->spent[SPENT_IDLE];
    training_post(training, &msg, NULL);
    training->reported = now;
}

void training_report_if_due(struct training *training, nanos now)
{
    if (now - training->reported >= REPORT_EVERY)
        training_report(training, now);
}

static void post_applied(struct training *training, uint64_t exchange,
                         bool skipped)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = exchange;
    msg.applied.iteration = training->agenda.pacer.iteration;
    msg.applied.skipped = skipped;
    training_say(training, &msg);
    tell(training, skipped ? TRAINING_SKIPPED : TRAINING_APPLIED, exchange);
}

static void post_cut(struct training *training, uint64_t exchange, bool final)
{
    struct msg msg = {.kind = MSG_LOCAL_CLOSE};

    msg.local_close.exchange = exchange;
    msg.local_close.final = final;
    training_post(training, &msg, NULL);
}

/* ---- an iteration ---- */

/* Who moves the parameters. */
static struct inbox_optimizer mover(const struct training *training)
{
    return (struct inbox_optimizer){
        training->owner.optimize, training->owner.self, training->owner.change,
        training->owner.raise_to};
}

/* Pulls to the anchor, which begins as the starting parameters; as the present
 * ones, where these are gone. Without memory for it there is no pull. */
static void pull(struct training *training)
{
    const struct msg_local_tune *schedule = &training->agenda.pacer.schedule;
    const struct inbox_optimizer optimizer = mover(training);
    size_t elements = training->agenda.inbox.elements;

    if (!schedule->attached)
        return;
    if (schedule->anchor > 0 && !training->anchor) {
        training->anchor = malloc(elements * sizeof *training->anchor);
        if (training->anchor && training->start)
            memcpy(training->anchor, training->start->bytes,
                   training->start->size);
        else if (training->anchor)
            fragment_copy(fragment_of(0, 1), elements, UINT32_MAX,
                          training->values, training->anchor);
    }
    if (schedule->anchor <= 0 || training->anchor)
        blob_unref(&training->start);
    if (training->anchor)
        inbox_pull(&training->agenda.inbox, schedule, training->values,
                   training->anchor, &optimizer);
}

void training_iterated(struct training *training, double loss, uint64_t samples,
                       const struct span *gradients)
{
    if (isfinite(loss) && fabs(loss) < NO_SCORE)
        training->loss =
            isnan(training->loss)
                ? loss
                : training->loss + LOSS_SHARE * (loss - training->loss);
    agenda_step(&training->agenda, samples, gradients);
    pull(training);
}

void training_idled(struct training *training)
{
    pacer_idle(&training->agenda.pacer);
}

/* ---- applying ---- */

static void apply(struct training *training, uint64_t exchange)
{
    const struct inbox_optimizer optimizer = mover(training);
    bool replaced;

    if (inbox_replaces(&training->agenda.inbox, exchange))
        deferred_leave_out(training);
    deferred_moves(training);
    (void)agenda_apply(&training->agenda, exchange, training->values,
                       training->anchor, &optimizer, &replaced);
    training->applied++;
    if (replaced)
        tell(training, TRAINING_REPLACED, exchange);
    post_applied(training, exchange, false);
}

void training_wait_ends(struct training *training, nanos now)
{
    training->waited = training_waited(training, now);
    training->waiting = 0;
}

/* Whether it is blocked now for this exchange. */
static bool waits(struct training *training, uint64_t exchange, nanos now,
                  bool hurried)
{
    nanos longest = training->agenda.pacer.schedule.wait;

    if (training->waiting != exchange) {
        training_wait_ends(training, now);
        training->waiting = exchange;
        training->wait_began = now;
        training->wait_until = time_after(now, longest);
        tell(training, TRAINING_BLOCKED, exchange);
        training_report(training, now);
    }
    if (now < training->wait_until && !hurried)
        return true;
    training_wait_ends(training, now);
    pacer_give_up(&training->agenda.pacer, exchange);
    return false;
}

bool training_apply(struct training *training, nanos now, bool hurried)
{
    uint64_t exchange = 0;

    deferred_check(training);
    if (deferred_holds(training)) {
        training_wait_ends(training, now);
        return true;
    }
    for (;;) {
        switch (agenda_due(&training->agenda, &exchange)) {
        case PACER_APPLY:
            apply(training, exchange);
            break;
        case PACER_SKIP:
            agenda_skip(&training->agenda, exchange);
            post_applied(training, exchange, true);
            break;
        case PACER_CLOSE:
            post_cut(training, exchange, false);
            break;
        case PACER_CUT:
            post_cut(training, exchange, true);
            break;
        case PACER_WAIT:
            if (waits(training, exchange, now, hurried))
                return false;
            break;
        case PACER_GO:
        default:
            training_wait_ends(training, now);
            return true;
        }
    }
}
