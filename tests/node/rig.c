#include "tests/node/rig.h"

#include <string.h>

#include "node/vector.h"
#include "tests/check.h"

void rig_open(struct rig *rig, enum codec_id codec, uint64_t seed)
{
    memset(rig, 0, sizeof *rig);
    prng_seed(&rig->prng, seed);
    rig->desk = desk_new();
    rig->desk->welcome.codec = codec;
    rig->desk->welcome.fragments = 1;
    desk_ready(rig->desk, 0);
    rig->desk->ungranted = true;
}

void rig_close(struct rig *rig)
{
    desk_destroy(&rig->desk);
}

void rig_drift(struct rig *rig)
{
    for (int i = 0; i < DESK_ELEMENTS; i++) {
        double drift = (double)prng_below(&rig->prng, 32769) / 16384 - 1;

        rig->x[i] += (float)drift;
        rig->own[i] += drift;
    }
}

/* ---- the hub ---- */

static struct rig_answer *answer_to(struct rig *rig, uint64_t exchange)
{
    for (unsigned i = 0; i < rig->answers; i++)
        if (rig->waiting[i].exchange == exchange)
            return &rig->waiting[i];
    return NULL;
}

/* Merges a chunk, or loses it. */
static void merge(struct rig *rig, const struct hand_sent *sent)
{
    const struct msg_chunk *chunk = &sent->msg.chunk;
    struct rig_answer *answer = answer_to(rig, chunk->exchange);
    const struct extent extent = {.elements = desk_length(chunk->chunk)};
    size_t from = (size_t)chunk->chunk * DESK_CHUNK;
    double values[DESK_CHUNK] = {0};
    bool lost = prng_below(&rig->prng, 100) < rig->loses;

    if (!answer ||
        !CHECK(payload_fits(&extent, chunk->codec, sent->payload->bytes,
                            sent->payload->size)))
        return;
    CHECK_EQUAL(chunk->checksum, sent->payload->checksum);
    payload_add(&extent, chunk->codec, sent->payload->bytes, 0, extent.elements,
                1, values);
    answer->verdict[chunk->chunk] = lost ? VERDICT_EXPIRED : VERDICT_MERGED;
    rig->lost += lost;
    for (size_t i = 0; i < extent.elements; i++) {
        rig->sent += values[i] * values[i];
        if (lost)
            continue;
        rig->merged[from + i] += values[i];
        rig->centre[from + i] +=
            values[i] + rig->others * (prng_unit(&rig->prng) - 0.5);
    }
    memcpy(answer->centre + from, rig->centre + from,
           extent.elements * sizeof *rig->centre);
}

void rig_hub(struct rig *rig)
{
    struct desk *desk = rig->desk;

    hand_work(&desk->hand);
    for (unsigned i = 0; i < rig->answers; i++)
        desk_grants(desk, rig->waiting[i].exchange, DESK_CHUNKS);
    rig->announced = rig->sent = 0;
    for (unsigned i = 0; i < desk->hand.sent_count; i++) {
        const struct hand_sent *sent = &desk->hand.sent[i];

        if (sent->msg.kind == MSG_OFFER)
            rig->announced += sent->msg.offer.norm * sent->msg.offer.norm;
        if (sent->msg.kind == MSG_CHUNK)
            merge(rig, sent);
    }
    hand_forget(&desk->hand);
}

/* ---- the trainer ---- */

void rig_takes(struct rig *rig, const float *values, bool last)
{
    struct desk *desk = rig->desk;
    uint32_t fragments = desk->welcome.fragments;
    struct msg_snapshot snapshot = {
        .exchange = ++rig->exchange,
        .kind = desk->welcome.exchange,
        .last = last,
        .fragments = fragments,
        .fragment =
            last ? FRAGMENT_ALL : (uint32_t)(rig->exchange % fragments)};
    struct fragment part = fragment_of(snapshot.fragment, snapshot.fragments);
    struct span span = {rig->taken, DESK_ELEMENTS};
    struct blob *vector = hand_floats(
        desk->hand.pool, fragment_elements(part, DESK_ELEMENTS, DESK_CHUNK), 0);

    memcpy(rig->taken, values, sizeof rig->taken);
    fragment_copy(part, DESK_ELEMENTS, DESK_CHUNK, &span, blob_floats(vector));
    vector->checksum = 0;
    rig->waiting[rig->answers++] = (struct rig_answer){
        .exchange = rig->exchange, .first = part.first, .stride = part.stride};
    desk->hand.holds_jobs = true;
    desk_takes(desk, &snapshot, vector);
    desk->hand.holds_jobs = false;
    blob_unref(&vector);
}

void rig_gives(struct rig *rig, const float *values, bool last)
{
    rig_takes(rig, values, last);
    rig_hub(rig);
}

void rig_offers(struct rig *rig)
{
    rig_gives(rig, rig->x, false);
}

static struct rig_answer pop(struct rig *rig)
{
    struct rig_answer answer = rig->waiting[0];

    memmove(rig->waiting, rig->waiting + 1,
            --rig->answers * sizeof rig->waiting[0]);
    return answer;
}

static void say(struct rig *rig, const struct rig_answer *answer,
                uint32_t chunk)
{
    struct msg msg = {.kind = MSG_RESULT};
    size_t length = desk_length(chunk);
    struct blob *payload = hand_floats(rig->desk->hand.pool, length, 0);

    for (size_t i = 0; i < length; i++)
        blob_floats(payload)[i] =
            (float)answer->centre[(size_t)chunk * DESK_CHUNK + i];
    blob_seal(payload);
    msg.result = (struct msg_result){.exchange = answer->exchange,
                                     .chunk = chunk,
                                     .verb = VERB_REBASE,
                                     .verdict = answer->verdict[chunk],
                                     .version = answer->exchange,
                                     .base = answer->exchange,
                                     .lineage = 5,
                                     .weight = rig->desk->weight,
                                     .checksum = payload->checksum};
    hand_say(&rig->desk->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
}

/* x += c, as the trainer does. */
static void apply(struct rig *rig, uint64_t exchange)
{
    struct hand *hand = &rig->desk->hand;

    for (unsigned i = 0; i < hand->sent_count; i++) {
        const struct msg *msg = &hand->sent[i].msg;

        if (msg->kind != MSG_APPLY || msg->apply.exchange != exchange)
            continue;
        for (size_t j = 0; j < desk_length(msg->apply.chunk); j++)
            rig->x[msg->apply.first + j] +=
                (float)hand_float(hand->sent[i].payload, j);
    }
    desk_applied(rig->desk, exchange);
}

void rig_answer(struct rig *rig)
{
    struct rig_answer answer = pop(rig);

    for (uint32_t i = answer.first; i < DESK_CHUNKS; i += answer.stride)
        say(rig, &answer, i);
    apply(rig, answer.exchange);
    hand_forget(&rig->desk->hand);
}

void rig_judges(struct rig *rig)
{
    struct rig_answer answer = pop(rig);

    for (uint32_t i = answer.first; i < DESK_CHUNKS; i += answer.stride)
        desk_judges(rig->desk, answer.exchange, i, 1, answer.verdict[i]);
    CHECK(desk_forgot(rig->desk, answer.exchange));
    hand_forget(&rig->desk->hand);
}

void rig_settles(struct rig *rig)
{
    while (rig->answers)
        rig_answer(rig);
    rig->loses = 0;
    rig_gives(rig, rig->x, true);
}
