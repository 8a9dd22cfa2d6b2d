#include "node/promise.h"
#include "core/need.h"

#include <stdlib.h>
#include <string.h>

#include "node/state.h"

struct promise *promise_new(struct node *node, struct promise **link,
                            uint64_t first, uint64_t exchange,
                            enum exchange kind)
{
    struct promise *promise = need_memory(
        1, sizeof *promise + node->chunks * sizeof *promise->chunks);
    promise->first = first;
    promise->exchange = exchange;
    promise->kind = kind;
    promise->next = *link;
    *link = promise;
    node->promises.count++;
    return promise;
}

static void chunk_free(struct node *node, struct promise *promise,
                       uint32_t chunk)
{
    struct promised *place = &promise->chunks[chunk];

    if (place->given.blob) {
        promise->bytes -= place->given.blob->size;
        node->promises.bytes -= place->given.blob->size;
    }
    blob_unref(&place->given.blob);
    free(place->turn);
    *place = (struct promised){0};
}

void promise_free(struct node *node, struct promise **link)
{
    struct promise *promise = *link;

    *link = promise->next;
    node->promises.count--;
    for (uint32_t i = 0; i < node->chunks; i++)
        chunk_free(node, promise, i);
    free(promise);
}

bool promise_counts(const struct node *node, const struct promise *promise)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->chunks[i].given.blob && promise->chunks[i].turns % 2 == 0)
            return true;
    return false;
}

bool promise_turned(const struct node *node, const struct promise *promise)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->chunks[i].turns)
            return true;
    return false;
}

/* The exchange's place in the list, made if need be. */
static struct promise *promise_of(struct node *node,
                                  const struct flight *flight)
{
    uint64_t exchange = flight->snapshot.exchange;
    struct promise **link = &node->promises.first;

    while (*link && (*link)->exchange < exchange)
        link = &(*link)->next;
    if (!*link || (*link)->exchange != exchange)
        promise_new(node, link, exchange, exchange,
                    (enum exchange)flight->snapshot.kind);
    return *link;
}

/* ---- what becomes of them ---- */

static struct promised *remember(struct node *node,
                                 const struct flight *flight, uint32_t chunk,
                                 struct blob *given)
{
    struct promise *promise = promise_of(node, flight);

    promise->chunks[chunk].given =
        (struct input){blob_ref(given), 1, flight->codec};
    promise->bytes += given->size;
    node->promises.bytes += given->size;
    return &promise->chunks[chunk];
}

/* The last exchange that the hub, or one before it, has been offered. */
static uint64_t offered(const struct node *node)
{
    const struct flight *flight = node->flights;

    while (flight && flight->stage >= FLIGHT_OFFERED)
        flight = flight->next;
    return flight ? flight->snapshot.exchange - 1 : node->newest;
}

static void turn(const struct node *node, struct promised *place)
{
    place->turn =
        need_more(place->turn, (place->turns + 1) * sizeof *place->turn);
    place->turn[place->turns++] = offered(node);
}

void promise_chunk(struct node *node, const struct flight *flight,
                   uint32_t chunk, enum verdict verdict)
{
    struct blob *given = flight->chunks[chunk].encoded;
    bool merged = verdict == VERDICT_MERGED;
    struct promised *place;

    if (!given || flight->obsolete ||
        flight->snapshot.kind == EXCHANGE_PARAMETERS ||
        (!merged && (verdict != VERDICT_LOST || !node->unsettled)))
        return;
    place = remember(node, flight, chunk, given);
    place->doubted = place->flown = !merged;
    place->beside = flight->chunks[chunk].beside;
    if (merged)
        node->dirty |= DIRTY_PROMISES;
    else
        turn(node, place);
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

    if (verdict->exchange > node->promises.former ||
        (!node->unsettled && node->start == START_GO))
        return;
    if (verdict->exchange > node->promises.recalled)
        node->promises.recalled = verdict->exchange;
    for (uint32_t i = verdict->first; promise && i < end; i++)
        if (verdict->verdict == VERDICT_MERGED)
            promise->chunks[i].confirmed = true;
        else
            promise->chunks[i].recalled = true;
}

void promises_doubt(struct node *node)
{
    node->promises.recalled = 0;
    for (struct promise *promise = node->promises.first; promise;
         promise = promise->next)
        for (uint32_t i = 0; i < node->chunks; i++)
            promise->chunks[i].recalled = promise->chunks[i].confirmed = false;
}

void promises_hello(struct node *node)
{
    node->promises.former = offered(node);
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
    node->dirty |= DIRTY_PROMISES;
}

void promises_saved(struct node *node, uint64_t merged)
{
    promises_mark(&node->promises.saved, merged);
    node->dirty |= DIRTY_PROMISES;
}

void promises_unfold(struct node *node)
{
    struct folding *folding = &node->promises.folding;

    for (uint32_t i = 0; folding->sum && i < node->chunks; i++)
        blob_unref(&folding->sum[i].blob);
    free(folding->sum);
    folding->sum = NULL;
    folding->left = 0;
    folding->number++;
}

void promises_forget(struct node *node)
{
    while (node->promises.first)
        promise_free(node, &node->promises.first);
    promises_unfold(node);
    node->promises = (struct promises){
        .folding = {.number = node->promises.folding.number}};
}

static bool is_given_again(const struct promised *place)
{
    return place->turns % 2;
}

/* Whether a version up to `merged` has it: as it was when that was offered. */
static bool is_in(const struct promise *promise, const struct promised *place,
                  uint64_t merged)
{
    unsigned turns = 0;

    while (turns < place->turns && place->turn[turns] < merged)
        turns++;
    return promise->exchange <= merged && !place->recalled && turns % 2 == 0;
}

/* Gives it again, or takes that back. */
static void turn_over(struct node *node, struct promise *promise,
                      uint32_t chunk)
{
    bool gradient = promise->kind == EXCHANGE_GRADIENT;
    struct promised *place = &promise->chunks[chunk];
    bool back = is_given_again(place);

    sum_add(gradient ? &node->residual[chunk] : &node->reference[chunk],
            place->given.blob, gradient == back ? -1 : 1, place->given.codec);
    turn(node, place);
}

/* A sum of which the hub has a part: nobody knows which. */
static bool is_apart(const struct node *node, const struct promise *promise,
                     uint64_t merged)
{
    bool recalled = false;

    for (uint32_t i = 0; i < node->chunks; i++)
        recalled |= promise->chunks[i].given.blob &&
                    promise->chunks[i].recalled;
    return promise->first <= merged &&
           (promise->exchange > merged ||
            (recalled && promise->first < promise->exchange));
}

/* By exchanges: what a version means for them. */
struct outcome {
    uint64_t again, back, lost;
};

/* The hub has of what was in flight what is up to the exchange that WELCOME
 * names, and what it tells. */
static void settle_one(struct node *node, struct promise *promise,
                       uint64_t merged, struct outcome *outcome)
{
    uint64_t count = promise->exchange - promise->first + 1;
    bool again = false, back = false;

    for (uint32_t i = 0; i < node->chunks; i++) {
        struct promised *place = &promise->chunks[i];
        bool told = !place->flown || place->confirmed;

        place->doubted = false;
        if (!place->given.blob ||
            is_in(promise, place, told ? merged : node->welcome.merged) !=
                is_given_again(place))
            continue;
        back |= is_given_again(place);
        again |= !is_given_again(place);
        turn_over(node, promise, i);
    }
    outcome->again += again * count;
    outcome->back += back * count;
}

static void say(struct node *node, const struct outcome *outcome)
{
    unsigned long long version = node->welcome.version;

    if (outcome->again || outcome->lost)
        effects_note(node->out, NOTE_RESTORED, node->name,
                     "the hub is back at version %llu: %llu merged exchanges "
                     "are offered again, %llu are lost",
                     version, (unsigned long long)outcome->again,
                     (unsigned long long)outcome->lost);
    if (outcome->back)
        effects_note(node->out, NOTE_RESTORED, node->name,
                     "version %llu of the hub has %llu exchanges that were to "
                     "be offered again: they count once",
                     version, (unsigned long long)outcome->back);
}

/* Gives again what the version has not got, and takes back what it has. */
static void settle_all(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;
    struct promise **link = &promises->first;
    struct outcome outcome = {0};

    if (promises->forgotten > merged) {
        outcome.lost = promises->forgotten - merged;
        promises->forgotten = merged;
    }
    while (*link) {
        if (!is_apart(node, *link, merged)) {
            settle_one(node, *link, merged, &outcome);
            link = &(*link)->next;
            continue;
        }
        if (promise_counts(node, *link))
            outcome.lost += (*link)->exchange > merged
                                ? (*link)->exchange - merged
                                : 1;
        promise_free(node, link);
    }
    say(node, &outcome);
}

/* Forgets chunks, and exchanges of which nothing is left. */
static void drop_chunks(struct node *node,
                        bool (*goes)(const struct promise *, uint32_t))
{
    struct promise **link = &node->promises.first;

    while (*link) {
        for (uint32_t i = 0; i < node->chunks; i++)
            if ((*link)->chunks[i].given.blob && goes(*link, i))
                chunk_free(node, *link, i);
        if ((*link)->bytes)
            link = &(*link)->next;
        else
            promise_free(node, link);
    }
}

/* The hub that it was offered to says that it was not merged. */
static bool is_over(const struct promise *promise, uint32_t chunk)
{
    return promise->chunks[chunk].doubted;
}

/* Whether what was offered since its last turn holds it, and `counts`. What was
 * offered while an earlier offer since that was under way does not. */
static bool is_held(const struct promise *promise, uint32_t chunk, bool counts)
{
    const struct promised *place = &promise->chunks[chunk];
    uint64_t turned = place->turn[place->turns - 1];

    for (const struct promise *later = promise->next; later;
         later = later->next) {
        const struct promised *other = &later->chunks[chunk];

        if (later->first > turned && other->given.blob &&
            other->beside <= turned && !(counts && is_given_again(other)))
            return true;
    }
    return false;
}

static bool is_owed(const struct promise *promise, uint32_t chunk)
{
    return is_given_again(&promise->chunks[chunk]) &&
           !is_held(promise, chunk, true);
}

void promises_taken(struct node *node)
{
    drop_chunks(node, is_owed);
}

void promises_leave(struct node *node)
{
    for (struct promise *promise = node->promises.first; promise;
         promise = promise->next)
        for (uint32_t i = 0; i < node->chunks; i++)
            if (is_given_again(&promise->chunks[i]) &&
                !is_held(promise, i, false))
                turn_over(node, promise, i);
}

void promises_settle(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;
    uint64_t life = epoch_life(node->keep.epoch);
    uint64_t told = promises->recalled;

    if (life != promises->life)
        settle_all(node, merged > told ? merged : told);
    else
        drop_chunks(node, is_over);
    promises->life = life;
    promises_doubt(node);
    node->dirty |= DIRTY_PROMISES;
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
