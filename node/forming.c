/* An offer that is being made: the snapshot, what is to be given, OFFER. */
#include <math.h>
#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"
#include "node/work.h"

/* A reference of more terms than this, or of more that are float32, is added up
 * by the next job. The latter are the model's size, and where results move
 * nodes by a part each leaves one. */
enum { REFERENCE_TERMS = 16, REFERENCE_FLOATS = 4 };

static bool is_long(const struct sum *reference)
{
    unsigned floats = 0;

    for (unsigned i = 0; i < reference->count; i++)
        floats += reference->term[i].codec == CODEC_RAW;
    return reference->count > REFERENCE_TERMS || floats > REFERENCE_FLOATS;
}

static bool is_lossy(const struct flight *flight)
{
    return flight->codec != CODEC_RAW;
}

/* Parameters are not what adds up; the last offer leaves nothing behind. */
static enum codec_id choose_codec(const struct node *node,
                                  const struct msg_local_offer *offer)
{
    enum codec_id codec = node->welcome.codec;
    bool apt = offer->kind != EXCHANGE_PARAMETERS ||
               codecs[codec].use == CODEC_FOR_ALL;

    return apt && !offer->last ? codec : CODEC_RAW;
}

static void delta_start(struct node *node, struct flight *flight,
                        uint32_t chunk, struct job *job)
{
    job->extent = node_extent(node, chunk);
    job->tag[0] = flight->offer.exchange;
    job->tag[1] = chunk;
    job->tag[2] = flight->codec;
    node_job(node, job);
    flight->chunks[chunk].job = job->id;
}

/* p = x - r, where x_sent still is x. Raw, r = x_sent = x; else both become r
 * plus what was encoded, which flight_formed adds. */
static struct job *difference(struct node *node, struct flight *flight,
                              uint32_t chunk)
{
    struct sum *reference = &node->reference[chunk];
    struct sum *sent = &flight->chunks[chunk].sent;
    struct job *job =
        job_new(&work_delta, node->pool, sent->count + reference->count);
    unsigned at = sum_into(sent, 1, job, 0);

    (void)sum_into(reference, -1, job, at);
    job->plain = 1; /* statistics are given as they are */
    if (!is_lossy(flight)) {
        sum_copy(reference, sent);
        return job;
    }
    sum_copy(sent, reference);
    if (is_long(reference))
        job->number[DELTA_PARTS] = at;
    return job;
}

/* Parameters are given as they are, gradients with what is left of those
 * before. */
static struct job *whole(struct node *node, struct flight *flight,
                         uint32_t chunk)
{
    struct flight_chunk *place = &flight->chunks[chunk];
    bool gradient = flight->offer.kind == EXCHANGE_GRADIENT;
    struct sum *residual = &node->residual[chunk];
    struct job *job =
        job_new(&work_delta, node->pool, 1 + (gradient ? residual->count : 0));

    job->in[0] = (struct input){blob_ref(place->taken), 1, CODEC_RAW};
    if (gradient) {
        (void)sum_into(residual, 1, job, 1);
        sum_free(residual);
    }
    job->plain = 1;
    job->number[DELTA_KEEPS] = gradient && is_lossy(flight);
    return job;
}

/* The newest exchange that holds some of the chunk back while this one is made:
 * what is under way is not in what comes later, whatever becomes of it. */
static uint64_t beside(const struct node *node, const struct flight *flight,
                       uint32_t chunk)
{
    uint64_t newest = 0;

    for (const struct flight *other = node->flights; other != flight;
         other = other->next)
        if (other->stage != FLIGHT_TAKEN && !other->obsolete &&
            other->offer.kind == flight->offer.kind &&
            fragment_holds(other->part, chunk) && !other->chunks[chunk].judged)
            newest = other->offer.exchange;
    return newest;
}

static void begin(struct node *node, struct flight *flight)
{
    flight->stage = FLIGHT_FORMING;
    flight->codec = choose_codec(node, &flight->offer);
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride) {
        bool carries = flight->offer.kind == EXCHANGE_GRADIENT &&
                       (is_lossy(flight) || node->residual[i].count);
        struct job *job = flight->offer.kind == EXCHANGE_DELTA
                              ? difference(node, flight, i)
                              : whole(node, flight, i);

        flight->chunks[i].beside = beside(node, flight, i);
        if (!carries)
            blob_unref(&flight->chunks[i].taken);
        delta_start(node, flight, i, job);
    }
}

/* What the codec leaves out of an earlier offer is part of this one, and known
 * only when that one is formed. The last offer holds all that is not merged, so
 * each one before it must have its verdict; so must parameters, by which r
 * moves to what they were, before what is learnt since is measured from r. */
static bool must_wait(const struct node *node, const struct flight *flight)
{
    bool last = flight->offer.last;
    bool delta = flight->offer.kind == EXCHANGE_DELTA;

    for (const struct flight *other = node->flights; other != flight;
         other = other->next)
        if (((last || (delta && other->offer.kind == EXCHANGE_PARAMETERS)) &&
             other->stage != FLIGHT_JUDGED && !other->obsolete) ||
            (other->stage < FLIGHT_OFFERED && !other->obsolete &&
             other->offer.kind == flight->offer.kind &&
             flight->offer.kind != EXCHANGE_PARAMETERS &&
             fragments_meet(other->part, flight->part) &&
             (other->stage == FLIGHT_TAKEN || is_lossy(other))))
            return true;
    return false;
}

static bool gives(const struct node *node)
{
    return node->start == START_GIVE;
}

/* What is being formed is in r, raw, and is put back when it is found that the
 * hub cannot take it: only then is r what the node has given to nobody. */
static bool may_found(const struct node *node)
{
    if (!node->initial_upload || node->initial_upload->stage != FLIGHT_TAKEN)
        return false;
    for (const struct flight *flight = node->flights; flight && !gives(node);
         flight = flight->next)
        if (flight->stage < FLIGHT_OFFERED)
            return false;
    return true;
}

static void found(struct node *node)
{
    node->initial_upload->stage = FLIGHT_FORMING;
    for (uint32_t i = 0; i < node->chunks; i++) {
        struct sum *reference = &node->reference[i];
        struct job *job = job_new(&work_delta, node->pool,
                                  gives(node) ? 1 : reference->count);

        if (gives(node))
            job->in[0] = (struct input){blob_ref(node->keep.whole.chunks[i]), 1,
                                        CODEC_RAW};
        else
            (void)sum_into(reference, 1, job, 0);
        job->plain = gives(node) ? 0 : sum_plain(reference);
        delta_start(node, node->initial_upload, i, job);
    }
}

/* Gradients are taken while x does not move on its own, so that x_sent = r. */
static void take(struct node *node, struct flight *flight, uint32_t chunk,
                 struct blob *values)
{
    struct flight_chunk *place = &flight->chunks[chunk];
    size_t before = chunk / flight->part.stride; /* chunks in `values` */

    place->taken =
        blob_slice(values, before * node->chunk_elements * sizeof(float),
                   node_chunk_length(node, chunk) * sizeof(float));
    if (flight->offer.kind == EXCHANGE_GRADIENT)
        sum_copy(&place->sent, &node->reference[chunk]);
    else
        sum_set(&place->sent, place->taken);
}

/* What the trainer has skipped counts until it is judged. */
static unsigned flights_count(const struct node *node)
{
    unsigned count = 0;

    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        count++;
    return count;
}

/* Whether there is room, and it is what the node was told to ask for, which the
 * trainer may not have heard of yet. */
static bool is_wanted(const struct node *node,
                      const struct msg_local_offer *offer,
                      const struct blob *values)
{
    uint32_t fragments = node_fragments(node, offer->kind);
    struct fragment part = fragment_of(offer->fragment, fragments);

    return node->hub == HUB_MEMBER && node->start == START_GO &&
           offer->exchange && offer->fragments == fragments && values &&
           flights_count(node) < NODE_MAX_FLIGHT + (unsigned)offer->last &&
           part.first < part.stride &&
           values->size ==
               sizeof(float) * fragment_elements(part,
                                                 node->config.schema->elements,
                                                 node->chunk_elements);
}

void flights_start(struct node *node, const struct msg_local_offer *offer,
                   struct blob *values)
{
    struct msg forget = {.kind = MSG_LOCAL_VERDICT};
    struct flight **end = &node->flights;

    if (!is_wanted(node, offer, values)) {
        forget.local_verdict.first = forget.local_verdict.last =
            offer->exchange;
        node_to_trainer(node, &forget, NULL);
        if (offer->kind == EXCHANGE_DELTA && !offer->last)
            flight_give_back(node, offer);
        return;
    }
    while (*end)
        end = &(*end)->next;
    *end = flight_new(node, offer);
    for (uint32_t i = (*end)->part.first; i < node->chunks;
         i += (*end)->part.stride)
        take(node, *end, i, values);
    node->dirty |= DIRTY_OFFERS;
}

struct rank {
    double squares;
    uint32_t chunk;
};

static int by_size(const void *one, const void *other)
{
    const struct rank *a = one, *b = other;

    if (a->squares < b->squares || a->squares > b->squares)
        return a->squares > b->squares ? -1 : 1;
    return a->chunk < b->chunk ? -1 : 1;
}

static void order_chunks(struct node *node, struct flight *flight)
{
    struct rank *ranks;
    uint32_t count = 0;

    if (node->welcome.miss != MISS_CUT || flight->order ||
        flight->offer.kind != EXCHANGE_DELTA)
        return;
    ranks = need_memory(flight->parts, sizeof *ranks);
    flight->order = need_memory(flight->parts, sizeof *flight->order);
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride)
        ranks[count++] = (struct rank){flight->chunks[i].squares, i};
    qsort(ranks, count, sizeof *ranks, by_size);
    for (uint32_t i = 0; i < count; i++)
        flight->order[i] = ranks[i].chunk;
    free(ranks);
}

static bool is_unfit(const struct flight *flight)
{
    return flight->broken || flight->starved || flight->obsolete;
}

static void offer(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_OFFER};
    const struct msg_local_offer *offer = &flight->offer;

    if (is_unfit(flight) || node->hub != HUB_MEMBER ||
        node->start != START_GO || (node->leave && !offer->last) ||
        (is_lossy(flight) && flight->codec != node->welcome.codec)) {
        flight_set_other_verdicts(node, flight,
                                  offer->kind == EXCHANGE_GRADIENT &&
                                          !flight->starved
                                      ? VERDICT_SUPERSEDED
                                      : VERDICT_LOST);
        flight_forget(node, flight);
        if (flight->broken && !flight->obsolete)
            node->dirty |= DIRTY_SPOILED;
        if (flight->starved)
            node_starves(node);
        return;
    }
    flight->stage = FLIGHT_OFFERED;
    flight->offer.samples += node->samples_back;
    node->samples_back = 0;
    order_chunks(node, flight);
    msg.offer.exchange = offer->exchange;
    msg.offer.iteration = offer->iteration;
    msg.offer.base_version = flight->base_version;
    if (msg.offer.base_version > node->hub_version) /* it went back */
        msg.offer.base_version = node->hub_version;
    msg.offer.samples = offer->samples;
    msg.offer.score = offer->score;
    msg.offer.norm = sqrt(flight->squares);
    msg.offer.last = offer->last;
    msg.offer.kind = offer->kind;
    /* Of one it is all, whatever F the hub has told since. */
    msg.offer.fragment =
        flight->part.stride < 2 ? FRAGMENT_ALL : offer->fragment;
    msg.offer.lineage = flight->lineage;
    node_to_hub(node, &msg, NULL);
    if (flight->cut == CUT_RESULT)
        flight_waive(node, flight);
}

/* Jobs end in any order, and the hub takes the numbers of offers as they rise:
 * by one of them it says what of all before it was merged. */
static void offer_formed(struct node *node)
{
    struct flight *next;

    for (struct flight *flight = node->flights; flight; flight = next) {
        next = flight->next;
        if (flight->stage >= FLIGHT_OFFERED)
            continue;
        if (flight->forming < flight->parts)
            return;
        offer(node, flight);
    }
}

/* r was more than a few terms, and is one now. */
static void fold(struct sum *reference, const struct job *job)
{
    for (unsigned i = (unsigned)job->number[DELTA_PARTS]; i < job->inputs; i++)
        sum_add(reference, job->in[i].blob, job->in[i].weight,
                job->in[i].codec);
    sum_add(reference, job->out[1], 1, CODEC_RAW);
}

/* What others will take it for is what counts: r and x_sent move by what was
 * encoded, so that what the codec has left out still is in x - r. */
static void feed_back(struct node *node, struct flight *flight, uint32_t chunk,
                      struct job *job)
{
    struct flight_chunk *place = &flight->chunks[chunk];
    struct sum *reference = &node->reference[chunk];

    switch (flight->offer.kind) {
    case EXCHANGE_DELTA:
        if (job->out[1]) {
            fold(reference, job);
            fold(&place->sent, job);
        }
        sum_add(reference, job->out[0], 1, flight->codec);
        sum_add(&place->sent, job->out[0], 1, flight->codec);
        break;
    case EXCHANGE_PARAMETERS:
        sum_add(&place->sent, job->in[0].blob, -1, CODEC_RAW);
        sum_add(&place->sent, job->out[0], 1, flight->codec);
        break;
    case EXCHANGE_GRADIENT:
        sum_add(&node->residual[chunk], job->out[1], 1, CODEC_RAW);
        break;
    default:
        break;
    }
}

/* What could not be formed is given by none: the next offer holds it. Of what
 * was encoded, the reference has not moved. */
static void put_back(struct node *node, const struct flight *flight,
                     uint32_t chunk, const struct job *job)
{
    bool gradient = flight->offer.kind == EXCHANGE_GRADIENT;
    struct sum *to =
        gradient ? &node->residual[chunk] : &node->reference[chunk];

    if (flight->obsolete || flight == node->initial_upload ||
        (!gradient &&
         (is_lossy(flight) || flight->offer.kind != EXCHANGE_DELTA)))
        return;
    for (unsigned i = 0; i < job->inputs; i++)
        sum_add(to, job->in[i].blob,
                gradient ? job->in[i].weight : -job->in[i].weight,
                job->in[i].codec);
}

static void chunk_formed(struct node *node, struct flight *flight,
                         uint32_t chunk, struct job *job)
{
    flight->forming++;
    flight->chunks[chunk].job = 0;
    if (job->status != STATUS_OK) {
        flight->starved |= job->status == STATUS_NO_MEMORY;
        flight->broken |= job->status != STATUS_NO_MEMORY;
        if (job->status == STATUS_NO_MEMORY)
            put_back(node, flight, chunk, job);
        return;
    }
    if (!flight->chunks[chunk].judged)
        flight->chunks[chunk].encoded = blob_ref(job->out[0]);
    flight->chunks[chunk].squares = job->number[DELTA_SQUARES];
    flight->squares += job->number[DELTA_SQUARES];
    if (is_lossy(flight) && !flight->obsolete)
        feed_back(node, flight, chunk, job);
}

void flight_formed(struct node *node, struct job *job)
{
    struct flight *flight =
        job->tag[0] ? flight_find(node, job->tag[0]) : node->initial_upload;
    uint32_t chunk = (uint32_t)job->tag[1];

    if (!flight || chunk >= node->chunks || /* it is cut anew since */
        flight->chunks[chunk].job != job->id)
        return;
    chunk_formed(node, flight, chunk, job);
    if (flight->forming < flight->parts)
        return;
    node->dirty |= DIRTY_OFFERS | DIRTY_CHUNKS;
    if (job->tag[0])
        return;
    if (flight->broken) {
        node->dirty |= DIRTY_SPOILED;
    } else if (flight->starved) {
        node_starves(node);
        node_drop(node, "there is no memory for what the hub wants");
    }
}

void offers_settle(struct node *node)
{
    offer_formed(node);
    for (struct flight *flight = node->flights; flight; flight = flight->next)
        if (flight->stage == FLIGHT_TAKEN && !must_wait(node, flight))
            begin(node, flight);
    if (may_found(node))
        found(node);
}
