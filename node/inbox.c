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

/* What is done to some elements in a row. */
struct move {
    enum verb verb;
    double weight;
    bool raises; /* x = max(x, v) */
};

/* Of elements of this kind. */
static struct move move_of(const struct inbox *inbox,
                           const struct inbox_part *part, enum tensor_kind kind)
{
    struct move move = {part->verb, part->weight, false};
    bool plain = part->verb == VERB_PULL ||
                 (part->verb == VERB_REBASE && part->weight == 1);

    if (kind == TENSOR_LARGEST && part->verb != VERB_REPLACE) {
        move.raises = true;
    } else if (kind == TENSOR_AVERAGED && plain) {
        move.verb = VERB_PULL;
        if (inbox->share < move.weight)
            move.weight = inbox->share;
    }
    return move;
}

static void raise_piece(const float *v, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = v[i] > x[i] ? v[i] : x[i];
}

static void apply_piece(const struct move *move, const float *v, float *x,
                        size_t count)
{
    double a = move->weight;

    switch (move->verb) {
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
static void change_piece(const struct move *move, const float *v,
                         const struct statistic_part *place,
                         const struct inbox_optimizer *optimizer)
{
    double a = move->weight;
    double keep = move->verb == VERB_REPLACE ? 0
                  : move->verb == VERB_PULL  ? 1 - a
                                             : 1;
    double scale = move->verb == VERB_PULL || move->verb == VERB_ADD ? a : 1;

    if (!move->raises)
        optimizer->change(optimizer->context, keep, scale, v, place->at,
                          place->count);
    else if (optimizer->raise_to)
        optimizer->raise_to(optimizer->context, v, place->at, place->count);
}

/* Elements of one kind; `place` says where they are in the vector. */
static void apply_kind(const struct move *move, const float *v,
                       const struct statistic_part *place,
                       const struct span *spans,
                       const struct inbox_optimizer *optimizer)
{
    size_t done = 0;

    if (optimizer->change && place->count)
        change_piece(move, v, place, optimizer);
    while (done < place->count && !optimizer->change) {
        size_t piece = place->count - done;
        float *x = span_at(spans, place->at + done, &piece);

        if (move->raises)
            raise_piece(v + done, x, piece);
        else
            apply_piece(move, v + done, x, piece);
        done += piece;
    }
}

/* Those that are trained, and the statistics among them. */
static void apply_all(const struct inbox *inbox, const struct inbox_part *part,
                      const struct span *spans,
                      const struct inbox_optimizer *optimizer)
{
    const float *v = blob_floats(part->payload);
    size_t count = part->payload->size / sizeof(float), done = 0;
    struct move trained = move_of(inbox, part, TENSOR_TRAINED);
    struct statistic_part next = {0}, place;

    while (statistics_next(inbox->statistics, part->first, count, &next)) {
        struct move move = move_of(inbox, part, next.kind);

        place = (struct statistic_part){part->first + done, next.at - done,
                                        TENSOR_TRAINED};
        apply_kind(&trained, v + done, &place, spans, optimizer);
        place = (struct statistic_part){part->first + next.at, next.count,
                                        next.kind};
        apply_kind(&move, v + next.at, &place, spans, optimizer);
        done = next.at + next.count;
    }
    place = (struct statistic_part){part->first + done, count - done,
                                    TENSOR_TRAINED};
    apply_kind(&trained, v + done, &place, spans, optimizer);
}

static size_t apply_part(const struct inbox *inbox,
                         const struct inbox_part *part,
                         const struct span *spans, float *anchor,
                         const struct inbox_optimizer *optimizer)
{
    size_t count = part->payload->size / sizeof(float);

    if (anchor && part->anchor && part->anchor->size == part->payload->size)
        memcpy(anchor + part->first, part->anchor->bytes, part->anchor->size);
    if (part->verb == VERB_STEP)
        optimizer->step(optimizer->context, blob_floats(part->payload),
                        part->first, count);
    else
        apply_all(inbox, part, spans, optimizer);
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
            moved +=
                apply_part(inbox, &entry->parts[i], spans, anchor, optimizer);
    drop(inbox, entry);
    return moved;
}

static void pull_piece(const struct inbox_part *to, size_t count,
                       const struct span *spans, const float *anchor,
                       const struct inbox_optimizer *optimizer)
{
    const struct move move = {VERB_PULL, to->weight, false};
    const struct statistic_part place = {to->first, count, TENSOR_TRAINED};

    apply_kind(&move, anchor + to->first, &place, spans, optimizer);
}

void inbox_pull(const struct inbox *inbox,
                const struct msg_local_tune *schedule, const struct span *spans,
                const float *anchor, const struct inbox_optimizer *optimizer)
{
    struct inbox_part to = {.weight =
                                schedule->anchor / (double)schedule->every};
    struct statistic_part next = {0};

    if (!schedule->offering || !(schedule->anchor > 0))
        return;
    while (statistics_next(inbox->statistics, 0, inbox->elements, &next)) {
        pull_piece(&to, next.at - to.first, spans, anchor, optimizer);
        to.first = next.at + next.count;
    }
    pull_piece(&to, inbox->elements - to.first, spans, anchor, optimizer);
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
