#include "node/promise.h"

#include <stdlib.h>
#include <string.h>

#include "node/state.h"

struct promise *promise_new(struct node *node, struct promise **link,
                            uint64_t first, uint64_t exchange,
                            enum exchange kind)
{
    struct promise *promise =
        calloc(1, sizeof *promise + node->chunks * sizeof *promise->given);

    if (!promise)
        abort();
    promise->first = first;
    promise->exchange = exchange;
    promise->kind = kind;
    promise->next = *link;
    *link = promise;
    node->promises.count++;
    return promise;
}

void promise_free(struct node *node, struct promise **link)
{
    struct promise *promise = *link;

    *link = promise->next;
    node->promises.count--;
    node->promises.bytes -= promise->bytes;
    for (uint32_t i = 0; i < node->chunks; i++)
        blob_unref(&promise->given[i].blob);
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
    return promise_new(node, link, exchange, exchange,
                       (enum exchange)flight->snapshot.kind);
}

/* ---- what becomes of them ---- */

void promise_chunk(struct node *node, const struct flight *flight,
                   uint32_t chunk, struct blob *given)
{
    struct promise *promise;

    if (flight->obsolete || flight->snapshot.kind == EXCHANGE_PARAMETERS)
        return;
    promise = promise_of(node, flight);
    promise->given[chunk] =
        (struct input){blob_ref(given), 1, flight->codec};
    promise->bytes += given->size;
    node->promises.bytes += given->size;
    promises_trim(node);
}

/* The one that the exchange is in, or NULL. */
static struct promise *promise_find(const struct node *node, uint64_t exchange)
{
    struct promise *promise = node->promises.first;

    while (promise && promise->exchange < exchange)
        promise = promise->next;
    return promise && promise->first <= exchange ? promise : NULL;
}

void promises_recall(struct node *node, const struct msg_verdict *verdict,
                     uint32_t end)
{
    struct promise *promise = promise_find(node, verdict->exchange);

    if (verdict->exchange > node->promises.recalled)
        node->promises.recalled = verdict->exchange;
    for (uint32_t i = verdict->first;
         promise && verdict->verdict != VERDICT_MERGED && i < end; i++)
        promise->recalled |= promise->given[i].blob != NULL;
}

void promises_doubt(struct node *node)
{
    node->promises.recalled = 0;
    for (struct promise *promise = node->promises.first; promise;
         promise = promise->next)
        promise->recalled = false;
}

void promises_mark(struct marks *marks, uint64_t merged)
{
    if (merged > marks->newest)
        *marks = (struct marks){merged, marks->newest};
}

void promises_kept(struct node *node, uint64_t merged)
{
    if (merged > node->promises.safe)
        node->promises.safe = merged;
    promises_trim(node);
}

void promises_saved(struct node *node, uint64_t merged)
{
    promises_mark(&node->promises.saved, merged);
    promises_trim(node);
}

void promises_forget(struct node *node)
{
    while (node->promises.first)
        promise_free(node, &node->promises.first);
    promises_unfold(node);
    node->promises = (struct promises){
        .folding = {.number = node->promises.folding.number}};
}

static void give_again(struct node *node, const struct promise *promise)
{
    bool gradient = promise->kind == EXCHANGE_GRADIENT;

    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->given[i].blob)
            sum_add(gradient ? &node->residual[i] : &node->reference[i],
                    promise->given[i].blob, gradient ? 1 : -1,
                    promise->given[i].codec);
}

/* Of a promise, the exchanges that are to be given again, and those of which
 * nobody knows: a sum of which the hub has a part. */
static void tell_apart(const struct promise *promise, uint64_t merged,
                       uint64_t *again, uint64_t *lost)
{
    uint64_t count = promise->exchange - promise->first + 1;

    *again = *lost = 0;
    if (promise->first > merged || (promise->recalled && count == 1))
        *again = count;
    else if (promise->exchange > merged)
        *lost = promise->exchange - merged;
    else if (promise->recalled)
        *lost = 1;
}

/* Gives again what is behind exchange `merged`, or was recalled, and says
 * so. */
static void undo(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;
    struct promise **link = &promises->first;
    uint64_t again = 0, lost = 0;

    if (promises->forgotten > merged) {
        lost = promises->forgotten - merged;
        promises->forgotten = merged;
    }
    while (*link) {
        uint64_t more, gone;

        tell_apart(*link, merged, &more, &gone);
        again += more;
        lost += gone;
        if (more)
            give_again(node, *link);
        if (more || gone)
            promise_free(node, link);
        else
            link = &(*link)->next;
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
    uint64_t bytes = 0;

    for (const struct promise *promise = node->promises.first; promise;
         promise = promise->next) {
        bytes += promise->bytes;
        if (!promise->bytes)
            return "an exchange is promised of which nothing was merged";
        if (promise->first > promise->exchange ||
            (promise->next && promise->next->exchange <= promise->exchange))
            return "promises are out of order";
    }
    if (bytes != node->promises.bytes)
        return "the bytes of promises do not add up";
    return NULL;
}
