#include "node/deferred.h"

#include <assert.h>

bool training_awaits(const struct training *training)
{
    return training->deferred && training->deferred->count;
}

void deferred_begin(struct training *training, const struct msg *offer)
{
    const struct pacer *pacer = &training->agenda.pacer;
    const struct pacer_exchange *begun = &pacer->flight[pacer->count - 1];
    struct deferred *deferred = training->deferred;
    uint64_t now = pacer_time(pacer);
    uint64_t until =
        pacer->schedule.miss == MISS_CUT ? begun->closes : begun->due;

    assert(deferred->count < PACER_FLIGHT + 1);
    deferred->offers[deferred->count++] = *offer;
    deferred->iteration = pacer->iteration;
    deferred->until = until > now ? until : now + 1;
    deferred->asked = true;
    deferred->stale = false;
}

/* Whether a copy as of this iteration is on its way. */
static bool is_asked(const struct deferred *deferred, uint64_t iteration)
{
    return deferred && deferred->asked && deferred->iteration == iteration;
}

bool deferred_may_begin(const struct training *training)
{
    return !training_awaits(training) &&
           !is_asked(training->deferred, training->agenda.pacer.iteration);
}

bool deferred_holds(const struct training *training)
{
    const struct pacer *pacer = &training->agenda.pacer;

    return training_awaits(training) &&
           (!pacer->schedule.delay ||
            training->deferred->iteration == pacer->iteration);
}

void deferred_moves(struct training *training)
{
    if (!training->deferred)
        return;
    training->deferred->fresh = UINT64_MAX;
    training->deferred->stale = true;
}

/* Nothing is awaited any more. */
static void let_go(struct training *training)
{
    struct deferred *deferred = training->deferred;

    deferred->count = 0;
    for (unsigned i = 0; i < deferred->held; i++)
        training_post(training, &deferred->behind[i], NULL);
    deferred->held = 0;
}

void deferred_leave_out(struct training *training)
{
    struct agenda *agenda = &training->agenda;

    const struct msg *offers;

    if (!training_awaits(training))
        return;
    offers = training->deferred->offers;
    for (unsigned i = training->deferred->count; i-- > 0;)
        pacer_undo_offer(&agenda->pacer, offers[i].local_offer.exchange);
    agenda_take_back(agenda, offers[0].local_offer.samples);
    let_go(training);
}

void deferred_check(struct training *training)
{
    const struct deferred *deferred = training->deferred;
    const struct pacer *pacer = &training->agenda.pacer;

    if (training_awaits(training) && pacer_time(pacer) >= deferred->until &&
        pacer->iteration != deferred->iteration)
        deferred_leave_out(training);
}

void training_say(struct training *training, const struct msg *msg)
{
    struct deferred *deferred = training->deferred;

    if (training_awaits(training) && deferred->held < DEFERRED_BEHIND) {
        deferred->behind[deferred->held++] = *msg;
        return;
    }
    deferred_leave_out(training);
    training_post(training, msg, NULL);
}

/* ---- giving ---- */

/* A copy of what is to be offered; NULL: no memory. */
static struct blob *copy(const struct training *training,
                         const struct msg_local_offer *offer,
                         const struct span *values)
{
    size_t elements = training->agenda.inbox.elements;
    uint32_t chunk = training->agenda.pacer.schedule.chunk_elements;
    struct fragment part = fragment_of(offer->fragment, offer->fragments);
    struct blob *blob =
        blob_new(training->pool,
                 fragment_elements(part, elements, chunk) * sizeof(float));

    if (blob)
        fragment_copy(part, elements, chunk, values, blob_floats(blob));
    return blob;
}

/* All of them, or none where there is no memory. */
static void give(struct training *training, const struct span *values)
{
    struct deferred *deferred = training->deferred;
    struct blob *blobs[PACER_FLIGHT + 1] = {NULL};
    unsigned made = 0;

    while (made < deferred->count &&
           (blobs[made] =
                copy(training, &deferred->offers[made].local_offer, values)))
        made++;
    if (made < deferred->count) {
        while (made > 0)
            blob_unref(&blobs[--made]);
        training->left_out++;
        deferred_leave_out(training);
        return;
    }
    for (unsigned i = 0; i < deferred->count; i++)
        training_post(training, &deferred->offers[i], blobs[i]);
    training->offered += deferred->count;
    let_go(training);
}

bool training_give(struct training *training, uint64_t iteration,
                   const struct span *values)
{
    struct deferred *deferred = training->deferred;
    bool asked = is_asked(deferred, iteration);
    bool fresh = deferred && iteration == training->agenda.pacer.iteration &&
                 !(asked && deferred->stale);
    bool awaited =
        training_awaits(training) && deferred->iteration == iteration;

    if (asked)
        deferred->asked = false;
    if (fresh && values == training->values)
        deferred->fresh = iteration;
    if (awaited)
        give(training, values);
    return awaited || fresh;
}
