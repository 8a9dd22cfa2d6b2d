#include "tests/node/rig.h"

#include <string.h>

#include "node/vector.h"
#include "tests/check.h"

void rig_open(struct rig *rig, enum codec_id codec, uint64_t seed)
{
    memset(rig, 0, sizeof *rig);
    prng_seed(&rig->prng, seed);
    rig->f = node_fixture_new();
    rig->f->welcome.codec = codec;
    rig->f->welcome.fragments = 1;
    node_fixture_ready(rig->f, 0);
    rig->f->ungranted = true;
}

void rig_close(struct rig *rig)
{
    node_fixture_destroy(&rig->f);
}

void rig_drift(struct rig *rig)
{
    for (int i = 0; i < FIXTURE_ELEMENTS; i++) {
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
    const struct extent extent = {.elements =
                                      node_fixture_length(chunk->chunk)};
    size_t from = (size_t)chunk->chunk * FIXTURE_CHUNK;
    double values[FIXTURE_CHUNK] = {0};
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
    struct node_fixture *f = rig->f;

    hand_work(&f->hand);
    for (unsigned i = 0; i < rig->answers; i++)
        node_fixture_grants(f, rig->waiting[i].exchange, FIXTURE_CHUNKS);
    rig->announced = rig->sent = 0;
    for (unsigned i = 0; i < f->hand.sent_count; i++) {
        const struct hand_sent *sent = &f->hand.sent[i];

        if (sent->msg.kind == MSG_OFFER)
            rig->announced += sent->msg.offer.norm * sent->msg.offer.norm;
        if (sent->msg.kind == MSG_CHUNK)
            merge(rig, sent);
    }
    hand_forget(&f->hand);
}

/* ---- the trainer ---- */

void rig_takes(struct rig *rig, const float *values, bool last)
{
    struct node_fixture *f = rig->f;
    uint32_t fragments = f->welcome.fragments;
    struct msg_local_offer snapshot = {
        .exchange = ++rig->exchange,
        .kind = f->welcome.exchange,
        .last = last,
        .fragments = fragments,
        .fragment =
            last ? FRAGMENT_ALL : (uint32_t)(rig->exchange % fragments)};
    struct fragment part = fragment_of(snapshot.fragment, snapshot.fragments);
    struct span span = {rig->taken, FIXTURE_ELEMENTS};
    struct blob *vector = hand_floats(
        f->hand.pool, fragment_elements(part, FIXTURE_ELEMENTS, FIXTURE_CHUNK),
        0);

    memcpy(rig->taken, values, sizeof rig->taken);
    fragment_copy(part, FIXTURE_ELEMENTS, FIXTURE_CHUNK, &span,
                  blob_floats(vector));
    vector->checksum = 0;
    rig->waiting[rig->answers++] = (struct rig_answer){
        .exchange = rig->exchange, .first = part.first, .stride = part.stride};
    f->hand.holds_jobs = true;
    node_fixture_takes(f, &snapshot, vector);
    f->hand.holds_jobs = false;
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
    size_t length = node_fixture_length(chunk);
    struct blob *payload = hand_floats(rig->f->hand.pool, length, 0);

    for (size_t i = 0; i < length; i++)
        blob_floats(payload)[i] =
            (float)answer->centre[(size_t)chunk * FIXTURE_CHUNK + i];
    blob_seal(payload);
    msg.result = (struct msg_result){.exchange = answer->exchange,
                                     .chunk = chunk,
                                     .verb = VERB_REBASE,
                                     .verdict = answer->verdict[chunk],
                                     .version = answer->exchange,
                                     .base = answer->exchange,
                                     .lineage = 5,
                                     .weight = rig->f->weight,
                                     .checksum = payload->checksum};
    hand_say(&rig->f->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
}

/* x += c, as the trainer does. */
static void apply(struct rig *rig, uint64_t exchange)
{
    struct hand *hand = &rig->f->hand;

    for (unsigned i = 0; i < hand->sent_count; i++) {
        const struct msg *msg = &hand->sent[i].msg;

        if (msg->kind != MSG_LOCAL_RESULT ||
            msg->local_result.exchange != exchange)
            continue;
        for (size_t j = 0; j < node_fixture_length(msg->local_result.chunk);
             j++)
            rig->x[msg->local_result.first + j] +=
                (float)hand_float(hand->sent[i].payload, j);
    }
    node_fixture_applied(rig->f, exchange);
}

void rig_answer(struct rig *rig)
{
    struct rig_answer answer = pop(rig);

    for (uint32_t i = answer.first; i < FIXTURE_CHUNKS; i += answer.stride)
        say(rig, &answer, i);
    apply(rig, answer.exchange);
    hand_forget(&rig->f->hand);
}

void rig_verdict(struct rig *rig)
{
    struct rig_answer answer = pop(rig);

    for (uint32_t i = answer.first; i < FIXTURE_CHUNKS; i += answer.stride)
        node_fixture_verdicts(rig->f, answer.exchange, i, 1, answer.verdict[i]);
    CHECK(node_fixture_forgot(rig->f, answer.exchange));
    hand_forget(&rig->f->hand);
}

void rig_finishes(struct rig *rig)
{
    while (rig->answers)
        rig_answer(rig);
    rig->loses = 0;
    rig_gives(rig, rig->x, true);
}
