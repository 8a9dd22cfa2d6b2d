#include "node/promise.h"

#include <stdlib.h>

#include "node/state.h"

static void promise_free(struct node *node, struct promise **link)
{
    struct promise *promise = *link;

    *link = promise->next;
    node->promises.bytes -= promise->bytes;
    for (uint32_t i = 0; i < node->chunks; i++)
        blob_unref(&promise->given[i]);
    free(promise);
}

/* The exchange's place in the list, made if need be. */
static struct promise *promise_of(struct node *node,
                                  const struct flight *flight)
{
    uint64_t exchange = flight->snapshot.exchange;
    struct promise **link = &node->promises.first, *promise;

    while ((promise = *link) && promise->exchange < exchange)
        link = &promise->next;
    if (promise && promise->exchange == exchange)
        return promise;
    promise = calloc(1, sizeof *promise +
                            node->chunks * sizeof *promise->given);
    if (!promise)
        abort();
    promise->exchange = exchange;
    promise->kind = (enum exchange)flight->snapshot.kind;
    promise->codec = flight->codec;
    promise->next = *link;
    *link = promise;
    return promise;
}

static uint64_t room(const struct node *node)
{
    return PROMISED_MODELS * sizeof(float) * node->config.schema->elements;
}

/* Keeps to the room that there is. */
static void trim(struct node *node)
{
    struct promises *promises = &node->promises;

    while (promises->bytes > room(node)) {
        promises->dropped++;
        promises->last_dropped = promises->first->exchange;
        promise_free(node, &promises->first);
    }
}

void promise_chunk(struct node *node, const struct flight *flight,
                   uint32_t chunk, struct blob *given)
{
    const struct kept *whole = &node->keep.whole;
    uint64_t exchange = flight->snapshot.exchange;
    struct promise *promise;

    if (flight->obsolete || flight->snapshot.kind == EXCHANGE_PARAMETERS ||
        (whole->manifest && exchange <= whole->merged))
        return;
    promise = promise_of(node, flight);
    promise->given[chunk] = blob_ref(given);
    promise->bytes += given->size;
    node->promises.bytes += given->size;
    trim(node);
}

void promises_recall(struct node *node, uint64_t exchange)
{
    if (exchange > node->promises.recalled)
        node->promises.recalled = exchange;
}

void promises_doubt(struct node *node)
{
    node->promises.recalled = 0;
}

void promises_kept(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;

    while (promises->first && promises->first->exchange <= merged)
        promise_free(node, &promises->first);
}

void promises_forget(struct node *node)
{
    promises_kept(node, UINT64_MAX);
    node->promises = (struct promises){0};
}

static void give_again(struct node *node, const struct promise *promise)
{
    bool gradient = promise->kind == EXCHANGE_GRADIENT;

    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->given[i])
            sum_add(gradient ? &node->residual[i] : &node->reference[i],
                    promise->given[i], gradient ? 1 : -1, promise->codec);
}

/* Of what was dropped, how many exchanges the hub has not. */
static uint64_t count_lost(struct promises *promises, uint64_t merged)
{
    uint64_t behind = promises->last_dropped > merged
                          ? promises->last_dropped - merged
                          : 0;
    uint64_t lost = behind < promises->dropped ? behind : promises->dropped;

    promises->dropped -= lost;
    promises->last_dropped -= behind;
    return lost;
}

/* Gives again what is behind exchange `merged`, and says so. */
static void undo(struct node *node, uint64_t merged)
{
    struct promise **link = &node->promises.first;
    uint64_t again = 0, lost = count_lost(&node->promises, merged);

    while (*link && (*link)->exchange <= merged)
        link = &(*link)->next;
    for (; *link; again++) {
        give_again(node, *link);
        promise_free(node, link);
    }
    if (again || lost)
        effects_note(node->out, NOTE_RESTORED, node->name,
                     "the hub is back at version %llu: %llu merged exchanges "
                     "are offered again, %llu are lost",
                     (unsigned long long)node->welcome.version,
                     (unsigned long long)again, (unsigned long long)lost);
}

void promises_settle(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;
    uint64_t life = epoch_life(node->keep.epoch);

    if (life != promises->life)
        undo(node, merged > promises->recalled ? merged : promises->recalled);
    promises->life = life;
    promises_doubt(node);
}

const char *promises_check(const struct node *node)
{
    const struct kept *whole = &node->keep.whole;
    uint64_t bytes = 0;

    for (const struct promise *promise = node->promises.first; promise;
         promise = promise->next) {
        bytes += promise->bytes;
        if (!promise->bytes)
            return "an exchange is promised of which nothing was merged";
        if (promise->next && promise->next->exchange <= promise->exchange)
            return "promises are out of order";
        if (whole->manifest && promise->exchange <= whole->merged)
            return "what is kept is promised";
    }
    if (bytes != node->promises.bytes)
        return "the bytes of promises do not add up";
    return bytes > room(node) ? "more is promised than there is room for"
                              : NULL;
}
