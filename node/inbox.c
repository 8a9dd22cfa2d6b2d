#include "node/inbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void inbox_init(struct inbox *inbox, size_t elements)
{
    memset(inbox, 0, sizeof *inbox);
    inbox->elements = elements;
}

static void drop(struct inbox *inbox, struct inbox_exchange *entry)
{
    for (uint32_t i = 0; i < entry->capacity; i++) {
        blob_unref(&entry->parts[i].payload);
        blob_unref(&entry->parts[i].anchor);
    }
    inbox->used -= entry->used;
    entry->used = false;
    entry->arrived = 0;
}

void inbox_free(struct inbox *inbox)
{
    for (unsigned i = 0; i < INBOX_EXCHANGES; i++) {
        drop(inbox, &inbox->list[i]);
        free(inbox->list[i].parts);
        inbox->list[i].parts = NULL;
        inbox->list[i].capacity = 0;
    }
}

static const struct inbox_exchange *find(const struct inbox *inbox,
                                         uint64_t exchange)
{
    for (unsigned i = 0, left = inbox->used; left; i++) {
        if (inbox->list[i].used && inbox->list[i].exchange == exchange)
            return &inbox->list[i];
        left -= inbox->list[i].used;
    }
    return NULL;
}

/* The place of this exchange, a free one for it, or NULL. */
static struct inbox_exchange *place(struct inbox *inbox, uint64_t exchange)
{
    struct inbox_exchange *unused = NULL;

    for (unsigned i = 0; i < INBOX_EXCHANGES; i++) {
        struct inbox_exchange *entry = &inbox->list[i];

        if (entry->used && entry->exchange == exchange)
            return entry;
        if (!entry->used && !unused)
            unused = entry;
    }
    if (unused) {
        unused->used = true;
        inbox->used++;
        unused->exchange = exchange;
    }
    return unused;
}

static bool has_room(struct inbox_exchange *entry, uint32_t chunk)
{
    uint32_t capacity = entry->capacity ? entry->capacity : 4;
    struct inbox_part *parts;

    if (chunk < entry->capacity)
        return true;
    while (capacity <= chunk)
        capacity *= 2;
    parts = realloc(entry->parts, capacity * sizeof *parts);
    if (!parts)
        return false;
    memset(parts + entry->capacity, 0,
           (capacity - entry->capacity) * sizeof *parts);
    entry->parts = parts;
    entry->capacity = capacity;
    return true;
}

bool inbox_add(struct inbox *inbox, const struct msg_local_result *apply,
               struct blob *payload)
{
    size_t count = payload ? payload->size / sizeof(float) : 0;
    struct inbox_exchange *entry;
    struct inbox_part *part;

    if (count == 0 || count > inbox->elements ||
        apply->first > inbox->elements - count || apply->chunk > apply->first)
        return true;
    entry = place(inbox, apply->exchange);
    if (!entry)
        return true;
    if (!has_room(entry, apply->chunk))
        return false;
    part = &entry->parts[apply->chunk];
    if (part->payload)
        return true;
    if (apply->anchor) {
        blob_unref(&part->anchor);
        part->anchor = blob_ref(payload);
        return true;
    }
    part->payload = blob_ref(payload);
    part->first = (size_t)apply->first;
    part->verb = (enum verb)apply->verb;
    part->weight = apply->weight;
    entry->expected = apply->parts;
    entry->arrived++;
    return true;
}

bool inbox_complete(const struct inbox *inbox, uint64_t exchange)
{
    const struct inbox_exchange *entry = find(inbox, exchange);

    return entry && entry->arrived && entry->arrived == entry->expected;
}

static void apply_piece(const struct inbox_part *part, const float *v, float *x,
                        size_t count)
{
    double a = part->weight;

    switch (part->verb) {
    case VERB_REBASE:
        for (size_t i = 0; i < count; i++)
            x[i] += v[i];
        break;
    case VERB_PULL:
        if (a == 1)
            memcpy(x, v, count * sizeof *x);
        for (size_t i = 0; i < count && a != 1; i++)
            x[i] = (float)((1 - a) * (double)x[i] + a * (double)v[i]);
        break;
    case VERB_REPLACE:
        memcpy(x, v, count * sizeof *x);
        break;
    case VERB_ADD:
        for (size_t i = 0; i < count; i++)
            x[i] = (float)((double)x[i] + a * (double)v[i]);
        break;
    case VERB_STEP:
    case VERB_COUNT:
        break;
    }
}

/* The same for parameters that lie elsewhere. */
static void change_piece(const struct inbox_part *part, const float *v,
                         size_t count, const struct inbox_optimizer *optimizer)
{
    double a = part->weight;
    double keep = part->verb == VERB_REPLACE ? 0
                  : part->verb == VERB_PULL  ? 1 - a
                                             : 1;
    double scale = part->verb == VERB_PULL || part->verb == VERB_ADD ? a : 1;

    optimizer->change(optimizer->context, keep, scale, v, part->first, count);
}

static size_t apply_part(const struct inbox_part *part,
                         const struct span *spans, float *anchor,
                         const struct inbox_optimizer *optimizer)
{
    const float *v = blob_floats(part->payload);
    size_t count = part->payload->size / sizeof(float);
    size_t done = 0;

    if (anchor && part->anchor && part->anchor->size == part->payload->size)
        memcpy(anchor + part->first, part->anchor->bytes, part->anchor->size);
    if (part->verb == VERB_STEP)
        optimizer->step(optimizer->context, v, part->first, count);
    else if (optimizer->change)
        change_piece(part, v, count, optimizer);
    while (done < count && !optimizer->change) {
        size_t piece = count - done;
        float *x = span_at(spans, part->first + done, &piece);

        apply_piece(part, v + done, x, piece);
        done += piece;
    }
    return count;
}

size_t inbox_apply(struct inbox *inbox, uint64_t exchange,
                   const struct span *spans, float *anchor,
                   const struct inbox_optimizer *optimizer)
{
    struct inbox_exchange *entry = place(inbox, exchange);
    size_t moved = 0;

    assert(entry && entry->arrived && entry->arrived == entry->expected);
    for (uint32_t i = 0; i < entry->capacity; i++)
        if (entry->parts[i].payload)
            moved += apply_part(&entry->parts[i], spans, anchor, optimizer);
    drop(inbox, entry);
    return moved;
}

void inbox_pull(const struct inbox *inbox,
                const struct msg_local_tune *schedule, const struct span *spans,
                const float *anchor, const struct inbox_optimizer *optimizer)
{
    double share = schedule->anchor / (double)schedule->every;
    size_t done = 0;

    if (!schedule->offering || !(schedule->anchor > 0))
        return;
    if (optimizer->change) {
        optimizer->change(optimizer->context, 1 - share, share, anchor, 0,
                          inbox->elements);
        return;
    }
    for (const struct span *span = spans; done < inbox->elements;
         done += span++->count)
        for (size_t i = 0; i < span->count; i++)
            span->values[i] = (float)((1 - share) * (double)span->values[i] +
                                      share * (double)anchor[done + i]);
}

bool inbox_replaces(const struct inbox *inbox, uint64_t exchange)
{
    const struct inbox_exchange *entry = find(inbox, exchange);

    for (uint32_t i = 0; entry && i < entry->capacity; i++)
        if (entry->parts[i].payload && entry->parts[i].verb == VERB_REPLACE)
            return true;
    return false;
}

void inbox_forget(struct inbox *inbox, uint64_t first, uint64_t last)
{
    for (unsigned i = 0; i < INBOX_EXCHANGES; i++) {
        struct inbox_exchange *entry = &inbox->list[i];

        if (entry->used && entry->exchange >= first && entry->exchange <= last)
            drop(inbox, entry);
    }
}
