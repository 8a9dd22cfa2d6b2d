#include "node/agenda.h"

#include <stdlib.h>
#include <string.h>

void agenda_init(struct agenda *agenda, size_t elements)
{
    *agenda = (struct agenda){0};
    pacer_init(&agenda->pacer);
    inbox_init(&agenda->inbox, elements);
}

void agenda_free(struct agenda *agenda)
{
    inbox_free(&agenda->inbox);
    free(agenda->sum);
    agenda->sum = NULL;
}

static void forget(struct agenda *agenda, uint64_t first, uint64_t last)
{
    pacer_forget(&agenda->pacer, first, last);
    inbox_forget(&agenda->inbox, first, last);
}

/* False: gradients are to be offered, and there is no memory for their sum. */
static bool can_sum(struct agenda *agenda,
                    const struct msg_local_tune *schedule)
{
    if (!agenda->sum && schedule->exchange == EXCHANGE_GRADIENT)
        agenda->sum = calloc(agenda->inbox.elements, sizeof *agenda->sum);
    return agenda->sum || schedule->exchange != EXCHANGE_GRADIENT;
}

bool agenda_receive(struct agenda *agenda, const struct msg *msg,
                    struct blob *payload)
{
    if (msg->kind == MSG_LOCAL_TUNE) {
        if (!can_sum(agenda, &msg->local_tune))
            return false;
        pacer_schedule(&agenda->pacer, &msg->local_tune);
    } else if (msg->kind == MSG_LOCAL_VERDICT) {
        forget(agenda, msg->local_verdict.first, msg->local_verdict.last);
    } else if (msg->kind == MSG_LOCAL_RESULT) {
        if (!inbox_add(&agenda->inbox, &msg->local_result, payload))
            return false;
        if (inbox_complete(&agenda->inbox, msg->local_result.exchange))
            pacer_ready(&agenda->pacer, msg->local_result.exchange);
    }
    return true;
}

bool agenda_wants_gradients(const struct agenda *agenda)
{
    return agenda->pacer.schedule.attached &&
           agenda->pacer.schedule.exchange == EXCHANGE_GRADIENT;
}

/* The mean is taken when it is offered. */
static void sum_gradient(struct agenda *agenda, const struct span *gradients)
{
    size_t elements = agenda->inbox.elements, count;

    for (size_t at = 0; at < elements; at += count) {
        const float *part;

        count = elements - at;
        part = span_at(gradients, at, &count);
        for (size_t i = 0; part && i < count; i++)
            agenda->sum[at + i] += (double)part[i];
    }
    agenda->summed++;
}

static void forget_gradients(struct agenda *agenda)
{
    if (agenda->sum)
        memset(agenda->sum, 0, agenda->inbox.elements * sizeof *agenda->sum);
    agenda->summed = 0;
}

void agenda_step(struct agenda *agenda, uint64_t samples,
                 const struct span *gradients)
{
    agenda->samples += samples;
    pacer_tick(&agenda->pacer);
    if (gradients && agenda_wants_gradients(agenda))
        sum_gradient(agenda, gradients);
}

bool agenda_offer(struct agenda *agenda, bool last, uint64_t *exchange)
{
    return (!agenda_wants_gradients(agenda) || agenda->summed) &&
           pacer_offer(&agenda->pacer, last, exchange);
}

enum pacer_act agenda_due(struct agenda *agenda, uint64_t *exchange)
{
    if (!inbox_complete(&agenda->inbox, 0))
        return pacer_due(&agenda->pacer, exchange);
    *exchange = 0;
    return PACER_APPLY;
}

/* How far averages go to what comes: all the way, without a delay; else what
 * the node has seen in those d iterations counts, too. Where it is the only
 * node, that is all there is: what comes is its own, of d iterations ago. */
static double share_of(const struct msg_local_tune *schedule)
{
    double every = (double)schedule->every, delay = (double)schedule->delay;

    if (schedule->shards == 1)
        return 0;
    return every > 0 ? every / (every + delay) : 1;
}

size_t agenda_apply(struct agenda *agenda, uint64_t exchange,
                    const struct span *spans, float *anchor,
                    const struct inbox_optimizer *optimizer, bool *replaced)
{
    size_t moved;

    agenda->inbox.share = share_of(&agenda->pacer.schedule);
    *replaced = inbox_replaces(&agenda->inbox, exchange);
    moved = inbox_apply(&agenda->inbox, exchange, spans, anchor, optimizer);
    pacer_done(&agenda->pacer, exchange);
    if (*replaced) {
        forget(agenda, 1, UINT64_MAX);
        forget_gradients(agenda);
        agenda->samples = agenda->told = 0;
    }
    return moved;
}

void agenda_skip(struct agenda *agenda, uint64_t exchange)
{
    pacer_skip(&agenda->pacer, exchange);
    inbox_forget(&agenda->inbox, exchange, exchange);
}

static struct fragment part_of(const struct agenda *agenda)
{
    return fragment_of(agenda->pacer.fragment,
                       agenda->pacer.schedule.fragments);
}

/* Whether what is offered now stands for other samples than what was offered
 * before. k later it is a fragment's second turn, even without an iteration. */
static bool tells_anew(const struct agenda *agenda)
{
    const struct pacer *pacer = &agenda->pacer;
    const struct msg_local_tune *schedule = &pacer->schedule;
    uint64_t turns = schedule->fragments > 1 ? schedule->every : 1;

    return agenda->told_at != pacer->iteration ||
           pacer_time(pacer) - agenda->told_then >= turns;
}

void agenda_describe(struct agenda *agenda, bool last,
                     struct msg_local_offer *offer)
{
    const struct pacer *pacer = &agenda->pacer;

    if (last || tells_anew(agenda)) {
        agenda->told = agenda->samples;
        agenda->told_at = pacer->iteration;
        agenda->told_then = pacer_time(pacer);
        agenda->samples = 0;
    }
    offer->iteration = pacer->iteration;
    offer->kind = pacer->schedule.exchange;
    offer->fragment = pacer->fragment;
    offer->fragments = pacer->schedule.fragments;
    offer->samples = agenda->told;
}

void agenda_take_back(struct agenda *agenda, uint64_t samples)
{
    agenda->samples += samples;
    agenda->told = 0;
    agenda->told_at = 0;
}

size_t agenda_elements(const struct agenda *agenda)
{
    return fragment_elements(part_of(agenda), agenda->inbox.elements,
                             agenda->pacer.schedule.chunk_elements);
}

/* Among gradients they stand as they are. */
static void copy_statistics(const struct agenda *agenda,
                            const struct span *spans, float *to)
{
    struct statistic_part part = {0};

    while (statistics_next(agenda->inbox.statistics, 0, agenda->inbox.elements,
                           &part))
        for (size_t at = part.at, end = at + part.count, count; at < end;
             at += count) {
            const float *from;

            count = end - at;
            from = span_at(spans, at, &count);
            memcpy(to + at, from, count * sizeof *to);
        }
}

void agenda_copy(struct agenda *agenda, const struct span *spans, float *to)
{
    if (agenda->pacer.schedule.exchange == EXCHANGE_GRADIENT) {
        for (size_t i = 0; i < agenda->inbox.elements; i++)
            to[i] = (float)(agenda->sum[i] / (double)agenda->summed);
        copy_statistics(agenda, spans, to);
        forget_gradients(agenda);
        return;
    }
    fragment_copy(part_of(agenda), agenda->inbox.elements,
                  agenda->pacer.schedule.chunk_elements, spans, to);
}
