#include "node/promise.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "node/state.h"
#include "node/work.h"

/* Before *link. */
static struct promise *add(struct node *node, struct promise **link,
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

static void drop(struct node *node, struct promise **link)
{
    struct promise *promise = *link;

    *link = promise->next;
    if (node->promises.recent == promise)
        node->promises.recent = NULL;
    node->promises.count--;
    for (uint32_t i = 0; i < node->chunks; i++)
        chunk_free(node, promise, i);
    free(promise);
}

/* Whether some of it is not to be given again. */
static bool counts(const struct node *node, const struct promise *promise)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->chunks[i].given.blob && promise->chunks[i].turns % 2 == 0)
            return true;
    return false;
}

/* Whether a chunk of it has ever been given again. */
static bool has_turned(const struct node *node, const struct promise *promise)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->chunks[i].turns)
            return true;
    return false;
}

/* The exchange's place in the list, made if need be. Most chunks are of the one
 * before's exchange, or of a later one. */
static struct promise *promise_of(struct node *node,
                                  const struct flight *flight)
{
    uint64_t exchange = flight->offer.exchange;
    struct promise *recent = node->promises.recent;
    struct promise **link = &node->promises.first;

    if (recent && recent->exchange == exchange)
        return recent;
    if (recent && recent->exchange < exchange)
        link = &recent->next;
    while (*link && (*link)->exchange < exchange)
        link = &(*link)->next;
    if (!*link || (*link)->exchange != exchange)
        add(node, link, exchange, exchange, (enum exchange)flight->offer.kind);
    node->promises.recent = *link;
    return *link;
}

/* ---- what becomes of them ---- */

static struct promised *remember(struct node *node, const struct flight *flight,
                                 uint32_t chunk, struct blob *given)
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
    return flight ? flight->offer.exchange - 1 : node->newest;
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
        flight->offer.kind == EXCHANGE_PARAMETERS ||
        (!merged && (verdict != VERDICT_LOST || !node->unreconciled)))
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

/* What is being added up is not. */
static void unfold(struct node *node)
{
    struct folding *folding = &node->promises.folding;

    for (uint32_t i = 0; folding->sum && i < node->chunks; i++)
        blob_unref(&folding->sum[i].blob);
    free(folding->sum);
    folding->sum = NULL;
    folding->left = 0;
    folding->number++;
}

void promises_recall(struct node *node, const struct msg_verdict *verdict,
                     uint32_t end)
{
    struct promise *promise = promise_find(node, verdict->exchange);

    if (verdict->exchange > node->promises.former ||
        (!node->unreconciled && node->start == START_GO))
        return;
    if (verdict->exchange > node->promises.recalled)
        node->promises.recalled = verdict->exchange;
    unfold(node); /* a sum has no place for it */
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

void promises_forget(struct node *node)
{
    while (node->promises.first)
        drop(node, &node->promises.first);
    unfold(node);
    node->promises =
        (struct promises){.folding = {.number = node->promises.folding.number}};
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
        recalled |=
            promise->chunks[i].given.blob && promise->chunks[i].recalled;
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
        if (counts(node, *link))
            outcome.lost +=
                (*link)->exchange > merged ? (*link)->exchange - merged : 1;
        drop(node, link);
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
            drop(node, link);
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

void promises_abandon(struct node *node)
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

void promises_reconcile(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;
    uint64_t life = epoch_life(node->keep.epoch);
    uint64_t told = promises->recalled;

    unfold(node); /* as each may get a turn */
    if (life != promises->life)
        settle_all(node, merged > told ? merged : told);
    else
        drop_chunks(node, is_over);
    promises->life = life;
    promises_doubt(node);
    node->dirty |= DIRTY_PROMISES;
}

/* ---- room: they are added up, or forgotten where that is safe ---- */

static uint64_t room(const struct node *node)
{
    const struct node_config *config = &node->config;
    uint64_t models =
        PROMISED_MODELS * sizeof(float) * config->schema->elements;
    uint64_t least = PROMISED_BYTES / (config->scale ? config->scale : 1);

    if (config->promised)
        return config->promised;
    return models > least ? models : least;
}

/* Whether a centre that may be gone on from has the one and not the next. */
static bool is_between(const struct promises *promises,
                       const struct promise *one)
{
    const uint64_t marks[] = {promises->kept.newest, promises->kept.former,
                              promises->saved.newest, promises->saved.former};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i] >= one->exchange && marks[i] < one->next->first)
            return true;
    return false;
}

/* Of an older exchange something may still be merged. */
static bool is_open(const struct node *node, const struct promise *one)
{
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (flight->stage != FLIGHT_JUDGED &&
            flight->offer.exchange <= one->exchange)
            return true;
    return false;
}

/* The last of those that can be added up with this one. The newest cannot: it
 * is what a hub that comes back lacks first. */
static const struct promise *group_end(const struct node *node,
                                       const struct promise *first,
                                       uint64_t *bytes, unsigned *count)
{
    *bytes = first->bytes;
    *count = 1;
    while (first->next && first->next->next &&
           first->next->kind == first->kind && !has_turned(node, first) &&
           !has_turned(node, first->next) &&
           !is_between(&node->promises, first) && !is_open(node, first->next)) {
        first = first->next;
        *bytes += first->bytes;
        ++*count;
    }
    return first;
}

/* What of a chunk was given from `first` to `last`. */
static struct job *chunk_sum(const struct node *node,
                             const struct promise *first,
                             const struct promise *last, uint32_t chunk)
{
    const struct promise *end = last->next;
    unsigned count = 0;
    struct job *job;

    for (const struct promise *one = first; one != end; one = one->next)
        count += one->chunks[chunk].given.blob != NULL;
    job = job_new(&work_fold, node->pool, count);
    count = 0;
    for (const struct promise *one = first; one != end; one = one->next)
        if (one->chunks[chunk].given.blob) {
            job->in[count] = one->chunks[chunk].given;
            (void)blob_ref(job->in[count++].blob);
        }
    job->plain = count;
    return job;
}

/* It holds what any of them does. */
static void take_over(const struct node *node, struct promise *sum,
                      const struct promise *one)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        if (one->chunks[i].given.blob &&
            one->chunks[i].beside < sum->chunks[i].beside)
            sum->chunks[i].beside = one->chunks[i].beside;
}

/* They are one now, if they still are there. */
static void replace(struct node *node)
{
    struct promises *promises = &node->promises;
    struct folding *folding = &promises->folding;
    struct promise **link = &promises->first, *last, *sum;

    while (*link && (*link)->first != folding->first)
        link = &(*link)->next;
    for (last = *link; last && last->exchange < folding->last;)
        last = last->next;
    if (!last || last->exchange != folding->last || folding->failed)
        return;
    sum = add(node, link, folding->first, folding->last, last->kind);
    for (uint32_t i = 0; i < node->chunks; i++)
        sum->chunks[i].beside = UINT64_MAX;
    while (sum->next && sum->next->exchange <= folding->last) {
        take_over(node, sum, sum->next);
        drop(node, &sum->next);
    }
    for (uint32_t i = 0; i < node->chunks; i++) {
        const struct blob *blob = blob_ref(folding->sum[i].blob);

        sum->chunks[i].given = folding->sum[i];
        sum->bytes += blob ? blob->size : 0;
    }
    promises->bytes += sum->bytes;
}

static void folded(struct node *node)
{
    replace(node);
    unfold(node);
}

/* Adds up what they hold of a chunk: a job, unless there is one at most. */
static void fold_chunk(struct node *node, const struct promise *first,
                       const struct promise *last, uint32_t chunk)
{
    struct folding *folding = &node->promises.folding;
    struct job *job = chunk_sum(node, first, last, chunk);

    if (job->inputs < 2) {
        if (job->inputs) {
            folding->sum[chunk] = job->in[0];
            (void)blob_ref(job->in[0].blob);
        }
        job_destroy(&job);
        return;
    }
    job->extent = node_extent(node, chunk);
    job->tag[0] = folding->number;
    job->tag[1] = chunk;
    job->tag[2] = CODEC_RAW;
    folding->left++;
    node_job(node, job);
}

static void fold(struct node *node, const struct promise *first,
                 const struct promise *last)
{
    struct folding *folding = &node->promises.folding;

    folding->first = first->first;
    folding->last = last->exchange;
    folding->failed = false;
    folding->sum = need_memory(node->chunks, sizeof *folding->sum);
    for (uint32_t i = 0; i < node->chunks; i++)
        fold_chunk(node, first, last, i);
    if (!folding->left)
        folded(node);
}

/* Adds up the oldest that are many, or make less together. */
static bool fold_some(struct node *node)
{
    uint64_t model = sizeof(float) * node->config.schema->elements, bytes;
    const struct promise *last;
    unsigned count;

    for (const struct promise *one = node->promises.first; one;
         one = last->next) {
        last = group_end(node, one, &bytes, &count);
        if (bytes <= model && count <= PROMISED_COUNT / 4)
            continue;
        if (count < 2)
            continue;
        fold(node, one, last);
        return true;
    }
    return false;
}

static bool is_full(const struct node *node)
{
    return node->promises.bytes > room(node) ||
           node->promises.count > PROMISED_COUNT;
}

/* Room for what is in the version that this node keeps: a model's worth. */
static uint64_t spare_room(const struct node *node)
{
    return room(node) / PROMISED_MODELS;
}

/* Forgets of what is in the version that this node keeps the oldest, once it
 * takes too much room: a disk may be lost while this node is away. */
static void forget_kept(struct node *node)
{
    struct promises *promises = &node->promises;
    const struct promise *one;
    uint64_t bytes = 0;

    if (promises->trimmed == promises->safe && !is_full(node))
        return;
    promises->trimmed = promises->safe;
    for (one = promises->first; one && one->exchange <= promises->safe;
         one = one->next)
        bytes += one->bytes;
    while ((one = promises->first) && one->exchange <= promises->safe &&
           (bytes > spare_room(node) || is_full(node))) {
        bytes -= one->bytes;
        if (counts(node, one))
            promises->forgotten = one->exchange;
        drop(node, &promises->first);
    }
}

/* Forgets the oldest of what was given again: a hub that has it all the same
 * may come no more. */
static void forget_turned(struct node *node)
{
    struct promise **link = &node->promises.first;

    while (*link && is_full(node))
        if (has_turned(node, *link))
            drop(node, link);
        else
            link = &(*link)->next;
}

/* At last by what can then not be told apart any more. */
void promises_trim(struct node *node)
{
    struct promises *promises = &node->promises;

    forget_kept(node);
    if (!is_full(node) || promises->folding.sum || promises->recalled ||
        fold_some(node))
        return;
    forget_turned(node);
    if (!is_full(node))
        return;
    promises->kept.former = promises->saved.former = 0;
    if (fold_some(node))
        return;
    promises->kept.newest = promises->saved.newest = 0;
    (void)fold_some(node);
}

void promises_folded(struct node *node, struct job *job)
{
    struct folding *folding = &node->promises.folding;

    if (job->tag[0] != folding->number || !folding->left)
        return;
    folding->failed |= job->status != STATUS_OK;
    if (job->status == STATUS_OK)
        folding->sum[job->tag[1]] =
            (struct input){blob_ref(job->out[0]), 1, CODEC_RAW};
    if (--folding->left)
        return;
    folded(node);
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
