#include "node/pacer.h"

#include <string.h>

void pacer_init(struct pacer *pacer)
{
    memset(pacer, 0, sizeof *pacer);
    pacer->next_exchange = 1;
}

void pacer_schedule(struct pacer *pacer, const struct msg_schedule *schedule)
{
    pacer->schedule = *schedule;
}

void pacer_tick(struct pacer *pacer)
{
    pacer->iteration++;
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
    return pacer->schedule.miss == MISS_SKIP ? PACER_SKIP : PACER_GO;
}

/* Results are applied in order: what is ready behind one that is late waits
 * for it, while the others behind it are judged as they become due. */
enum pacer_act pacer_due(struct pacer *pacer, uint64_t *exchange)
{
    for (unsigned i = 0; i < pacer->count; i++) {
        struct pacer_exchange *next = &pacer->flight[i];
        bool is_ready = next->state == PACER_READY;
        enum pacer_act act = PACER_GO;

        if (pacer->iteration < next->due)
            break;
        if (!is_ready)
            act = judge(pacer, next);
        else if (i == 0)
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
static uint64_t flight_limit(const struct msg_schedule *schedule)
{
    uint64_t hidden = schedule->delay / schedule->every +
                      (schedule->delay % schedule->every != 0);

    return hidden < PACER_FLIGHT - 1 ? hidden + 1 : PACER_FLIGHT;
}

static bool is_turn(const struct pacer *pacer)
{
    const struct msg_schedule *schedule = &pacer->schedule;

    return pacer->iteration % schedule->every == 0 &&
           pacer->iteration != pacer->last_offer &&
           pacer->count < flight_limit(schedule);
}

bool pacer_offer(struct pacer *pacer, bool last, uint64_t *exchange)
{
    const struct msg_schedule *schedule = &pacer->schedule;
    uint64_t now = pacer->iteration;

    if (!schedule->attached || !schedule->offering || !schedule->every ||
        pacer->count == PACER_FLIGHT || !(last || is_turn(pacer)))
        return false;
    pacer->flight[pacer->count++] = (struct pacer_exchange){
        .exchange = pacer->next_exchange,
        .due = schedule->delay < UINT64_MAX - now ? now + schedule->delay
                                                  : UINT64_MAX,
    };
    pacer->last_offer = now;
    *exchange = pacer->next_exchange++;
    return true;
}

void pacer_ready(struct pacer *pacer, uint64_t exchange)
{
    struct pacer_exchange *found = find(pacer, exchange);

    if (found)
        found->state = PACER_READY;
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

void pacer_done(struct pacer *pacer, uint64_t exchange)
{
    pacer_forget(pacer, exchange, exchange);
}
