#include "node/agenda.h"

void agenda_init(struct agenda *agenda, size_t elements)
{
    pacer_init(&agenda->pacer);
    inbox_init(&agenda->inbox, elements);
}

void agenda_free(struct agenda *agenda)
{
    inbox_free(&agenda->inbox);
}

static void forget(struct agenda *agenda, uint64_t first, uint64_t last)
{
    pacer_forget(&agenda->pacer, first, last);
    inbox_forget(&agenda->inbox, first, last);
}

void agenda_take(struct agenda *agenda, const struct msg *msg,
                 struct blob *payload)
{
    if (msg->kind == MSG_SCHEDULE) {
        pacer_schedule(&agenda->pacer, &msg->schedule);
    } else if (msg->kind == MSG_FORGET) {
        forget(agenda, msg->forget.first, msg->forget.last);
    } else if (msg->kind == MSG_APPLY) {
        inbox_take(&agenda->inbox, &msg->apply, payload);
        if (inbox_complete(&agenda->inbox, msg->apply.exchange))
            pacer_ready(&agenda->pacer, msg->apply.exchange);
    }
}

enum pacer_act agenda_due(struct agenda *agenda, uint64_t *exchange)
{
    if (!inbox_complete(&agenda->inbox, 0))
        return pacer_due(&agenda->pacer, exchange);
    *exchange = 0;
    return PACER_APPLY;
}

size_t agenda_apply(struct agenda *agenda, uint64_t exchange,
                    const struct span *spans, float *anchor,
                    const struct inbox_optimizer *optimizer, bool *replaced)
{
    size_t moved;

    *replaced = inbox_replaces(&agenda->inbox, exchange);
    moved = inbox_apply(&agenda->inbox, exchange, spans, anchor, optimizer);
    pacer_done(&agenda->pacer, exchange);
    if (*replaced)
        forget(agenda, 1, UINT64_MAX);
    return moved;
}

void agenda_skip(struct agenda *agenda, uint64_t exchange)
{
    forget(agenda, exchange, exchange);
}

static struct fragment part_of(const struct agenda *agenda)
{
    return fragment_of(agenda->pacer.fragment,
                       agenda->pacer.schedule.fragments);
}

void agenda_describe(const struct agenda *agenda,
                     struct msg_snapshot *snapshot)
{
    const struct pacer *pacer = &agenda->pacer;

    snapshot->iteration = pacer->iteration;
    snapshot->kind = pacer->schedule.exchange;
    snapshot->fragment = pacer->fragment;
    snapshot->fragments = pacer->schedule.fragments;
}

size_t agenda_elements(const struct agenda *agenda)
{
    return fragment_elements(part_of(agenda), agenda->inbox.elements,
                             agenda->pacer.schedule.chunk_elements);
}

void agenda_copy(const struct agenda *agenda, const struct span *spans,
                 float *to)
{
    fragment_copy(part_of(agenda), agenda->inbox.elements,
                  agenda->pacer.schedule.chunk_elements, spans, to);
}
