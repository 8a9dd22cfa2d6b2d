#include "node/pacer.h"

#include "core/fragment.h"

#include <assert.h>
#include <string.h>

void pacer_init(struct pacer *pacer)
{
    memset(pacer, 0, sizeof *pacer);
    pacer->next_exchange = 1;
}

void pacer_schedule(struct pacer *pacer, const struct msg_local_tune *schedule)
{
    pacer->schedule = *schedule;
    if (!schedule->fragments)
        pacer->schedule.fragments = 1;
}

void pacer_tick(struct pacer *pacer)
{
    pacer->iteration++;
}

void pacer_idle(struct pacer *pacer)
{
    pacer->idle++;
}

uint64_t pacer_time(const struct pacer *pacer)
{
    return pacer->iteration + pacer->idle;
}

static struct pacer_exchange *find(struct pacer *pacer, uint64_t exchange)
{
    for (unsigned i = 0; i < pacer->count; i++)
        if (pacer->flight[i].exchange == exchange)
            return &pacer->flight[i];
    return NULL;
}

static void miss(struct pacer *pacer, struct pacer_exchange *late)
{
    late->missed = true;
    pacer->missed++;
}

/* What to do about an exchange that is due and not there. */
static enum pacer_act judge(struct pacer *pacer, struct pacer_exchange *late)
{
    if (late->missed)
        return PACER_GO;
    if (pacer->schedule.delay == 0 || pacer->schedule.miss == MISS_WAIT)
        return PACER_WAIT;
    miss(pacer, late);
    if (late->whole)
        return PACER_GO;
    return pacer->schedule.miss == MISS_SKIP  ? PACER_SKIP
           : pacer->schedule.miss == MISS_CUT ? PACER_CUT
                                              : PACER_GO;
}

/* The oldest exchange of which no more is to be sent from now on, or NULL. One
 * that is due is cut anyway. */
static struct pacer_exchange *closing(struct pacer *pacer)
{
    for (unsigned i = 0; i < pacer->count && pacer->schedule.miss == MISS_CUT;
         i++) {
        struct pacer_exchange *next = &pacer->flight[i];

        if (next->state == PACER_PENDING && !next->closed &&
            pacer_time(pacer) >= next->closes && pacer_time(pacer) < next->due)
            return next;
    }
    return NULL;
}

/* Whether an exchange before number i in flight may still move the same
 * chunks. */
static bool is_behind(const struct pacer *pacer, unsigned i)
{
    uint32_t fragment = pacer->flight[i].fragment;

    for (unsigned j = 0; j < i; j++)
        if (pacer->flight[j].state != PACER_SKIPPED &&
            (fragment == FRAGMENT_ALL || pacer->flight[j].fragment == fragment))
            return true;
    return false;
}

/* Results of a fragment are applied in order: what is ready behind one that is
 * late waits for it, while the others behind it are judged as they become
 * due. */
enum pacer_act pacer_due(struct pacer *pacer, uint64_t *exchange)
{
    struct pacer_exchange *closes = closing(pacer);

    if (closes) {
        closes->closed = true;
        *exchange = closes->exchange;
        return PACER_CLOSE;
    }
    for (unsigned i = 0; i < pacer->count; i++) {
        struct pacer_exchange *next = &pacer->flight[i];
        bool is_ready = next->state == PACER_READY;
        enum pacer_act act = PACER_GO;

        if (pacer_time(pacer) < next->due)
            break;
        if (!is_ready)
            act = judge(pacer, next);
        else if (!is_behind(pacer, i))
            act = PACER_APPLY;
        if (act != PACER_GO) {
            *exchange = next->exchange;
            return act;
        }
    }
    return PACER_GO;
}

void pacer_give_up(struct pacer *pacer, uint64_t exchange)
{
    struct pacer_exchange *late = find(pacer, exchange);

    if (late && late->state == PACER_PENDING && !late->missed)
        miss(pacer, late);
}

/* Exchanges that d iterations can hide, and one that is late. */
static uint64_t flight_limit(const struct msg_local_tune *schedule)
{
    uint64_t hidden = schedule->delay / schedule->every +
                      (schedule->delay % schedule->every != 0);

    return hidden < PACER_FLIGHT - 1 ? hidden + 1 : PACER_FLIGHT;
}

/* Whether one more of the fragment may be in flight. Not beside one that is
 * late: a node that did that would be a round behind the others, and stay there
 * for ever. */
static bool has_room(const struct pacer *pacer, uint32_t fragment)
{
    const struct msg_local_tune *schedule = &pacer->schedule;
    uint64_t count = 0;

    for (unsigned i = 0; i < pacer->count; i++) {
        const struct pacer_exchange *other = &pacer->flight[i];

        if (other->fragment != fragment)
            continue;
        count++;
        if (schedule->miss == MISS_LATE && other->missed &&
            other->state == PACER_PENDING)
            return false;
    }
    return count < flight_limit(schedule);
}

/* p k / F, rounded down, without overflow. */
static uint64_t offset_of(const struct msg_local_tune *schedule,
                          uint32_t fragment)
{
    uint64_t fragments = schedule->fragments;

    assert(fragments);
    return fragment * (schedule->every / fragments) +
           fragment * (schedule->every % fragments) / fragments;
}

static bool is_turn(const struct pacer *pacer, uint32_t fragment)
{
    const struct msg_local_tune *schedule = &pacer->schedule;
    uint64_t now = pacer_time(pacer), offset = offset_of(schedule, fragment);

    return now > 0 && now >= offset && (now - offset) % schedule->every == 0 &&
           has_room(pacer, fragment);
}

/* The next fragment whose turn it is and that has not had it at this
 * iteration, or F. */
static uint32_t whose_turn(const struct pacer *pacer)
{
    uint32_t fragments = pacer->schedule.fragments;
    uint32_t fragment = 0;

    if (pacer_time(pacer) == pacer->last_offer)
        fragment =
            pacer->fragment < fragments ? pacer->fragment + 1 : fragments;
    while (fragment < fragments && !is_turn(pacer, fragment))
        fragment++;
    return fragment;
}

/* A quarter of d, rounded to the nearest; 0 of 1. */
static uint64_t quarter(uint64_t delay)
{
    return delay / 4 + (delay % 4 >= 2);
}

bool pacer_offer(struct pacer *pacer, bool last, uint64_t *exchange)
{
    const struct msg_local_tune *schedule = &pacer->schedule;
    uint64_t now = pacer_time(pacer);
    uint64_t due =
        schedule->delay < UINT64_MAX - now ? now + schedule->delay : UINT64_MAX;
    uint32_t fragment = schedule->fragments > 1 ? FRAGMENT_ALL : 0;

    if (!schedule->attached || !schedule->offering || !schedule->every ||
        pacer->count >= PACER_FLIGHT + (unsigned)last ||
        (last && schedule->exchange == EXCHANGE_GRADIENT))
        return false;
    if (!last)
        fragment = whose_turn(pacer);
    if (!last && fragment == schedule->fragments)
        return false;
    pacer->flight[pacer->count++] = (struct pacer_exchange){
        .exchange = pacer->next_exchange,
        .offered = now,
        .due = due,
        .closes = due - quarter(due - now),
        .fragment = fragment,
        .whole = schedule->exchange == EXCHANGE_PARAMETERS,
    };
    pacer->last_offer = now;
    pacer->fragment = fragment;
    *exchange = pacer->next_exchange++;
    return true;
}

bool pacer_will_offer(const struct pacer *pacer)
{
    struct pacer next = *pacer;
    enum pacer_act act;
    uint64_t exchange;

    pacer_tick(&next);
    while ((act = pacer_due(&next, &exchange)) != PACER_GO)
        if (act == PACER_APPLY || act == PACER_WAIT) /* it will have come */
            pacer_done(&next, exchange);
        else if (act == PACER_SKIP)
            pacer_skip(&next, exchange);
    return pacer_offer(&next, false, &exchange);
}

bool pacer_will_apply(const struct pacer *pacer)
{
    struct pacer next = *pacer;
    enum pacer_act act;
    uint64_t exchange;

    pacer_tick(&next);
    while ((act = pacer_due(&next, &exchange)) == PACER_SKIP ||
           act == PACER_CLOSE || act == PACER_CUT)
        if (act == PACER_SKIP)
            pacer_skip(&next, exchange);
    return act != PACER_GO;
}

void pacer_ready(struct pacer *pacer, uint64_t exchange)
{
    struct pacer_exchange *found = find(pacer, exchange);

    if (!found || found->state != PACER_PENDING)
        return;
    found->state = PACER_READY;
    pacer->results++;
    pacer->taken += pacer_time(pacer) + 1 - found->offered;
}

void pacer_skip(struct pacer *pacer, uint64_t exchange)
{
    struct pacer_exchange *found = find(pacer, exchange);

    if (found)
        found->state = PACER_SKIPPED;
}

void pacer_forget(struct pacer *pacer, uint64_t first, uint64_t last)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < pacer->count; i++) {
        const struct pacer_exchange *old = &pacer->flight[i];

        if (old->exchange < first || old->exchange > last)
            pacer->flight[kept++] = *old;
    }
    pacer->count = kept;
}

void pacer_undo_offer(struct pacer *pacer, uint64_t exchange)
{
    pacer_forget(pacer, exchange, exchange);
    if (pacer->next_exchange == exchange + 1)
        pacer->next_exchange = exchange;
}

void pacer_done(struct pacer *pacer, uint64_t exchange)
{
    pacer_forget(pacer, exchange, exchange);
}
