/* Fuzzes the whole node: the input is what a hub says that may say anything,
 * and what the trainer does meanwhile. After each step the node's invariants
 * must hold, what it sends must be fit to be sent, and what it gives its
 * trainer must be finite and lie within the parameters.
 *
 * The first byte is the run's settings. Then each byte is an act: its lower
 * half says which (acts[] below), its upper half is the act's own; its
 * arguments follow, a byte each, of which the upper ones stand for numbers near
 * 2^32 and 2^64. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/manifest.h"
#include "node/node.h"
#include "tests/fuzz/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { ELEMENTS = 10, CHUNK = 4, CHUNKS = 3, MOST_STEPS = 20000 };

static uint32_t below(struct session *session, uint32_t count)
{
    return next(session) % count;
}

static double real(struct session *session)
{
    static const double odd[] = {1e300, -1e300, -1, 2, 0.5, 1e-300};
    uint8_t byte = next(session);

    return byte < 250 ? byte / 128.0 : odd[byte - 250];
}

/* What a value may be: most are small. */
static float value(uint8_t byte)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 1e30F};

    return byte < 250 ? (float)byte : odd[byte - 250];
}

static size_t length_of(uint32_t chunk)
{
    return chunk < CHUNKS - 1 ? CHUNK : ELEMENTS - (CHUNKS - 1) * CHUNK;
}

/* ---- the hub ---- */

static void welcome(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_WELCOME};
    uint8_t bits = next(session);

    msg.welcome.run = 7 + (bits & 1);
    msg.welcome.lineage = 5 + (bits >> 1 & 1);
    msg.welcome.session = number(session);
    msg.welcome.epoch = number(session) << (bits & 4 ? 32 : 0);
    msg.welcome.version = number(session);
    msg.welcome.merged = number(session);
    msg.welcome.start = which % START_COUNT;
    msg.welcome.every = bits & 8 ? number(session) : 1;
    msg.welcome.delay = bits & 8 ? number(session) : 2;
    msg.welcome.chunk_elements = bits & 16 ? (uint32_t)number(session) : CHUNK;
    msg.welcome.window = bits & 16 ? number(session) : 128;
    msg.welcome.wait = bits & 16 ? (nanos)number(session) : SECOND;
    msg.welcome.anchor = bits & 16 ? real(session) : 0;
    msg.welcome.miss = bits >> 5 & 1 ? MISS_CUT : MISS_LATE;
    msg.welcome.exchange = session->exchange;
    msg.welcome.codec = bits >> 6 & 1 ? CODEC_INT8 : CODEC_RAW;
    msg.welcome.codec_down = bits >> 7 & 1 ? CODEC_F16 : CODEC_RAW;
    msg.welcome.fragments = which & 8 ? (uint32_t)number(session) : 1;
    tell(session, &msg, NULL);
}

static void grant(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_GRANT};

    msg.grant.exchange = number(session);
    msg.grant.credit = which & 1 ? number(session) : 64;
    if (which & 2)
        msg.kind = MSG_CREDIT; /* the same fields */
    tell(session, &msg, NULL);
}

static void verdict(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_VERDICT};

    msg.verdict.exchange = number(session);
    msg.verdict.verdict =
        which & 1 ? VERDICT_MERGED : below(session, VERDICT_COUNT);
    msg.verdict.first = which & 2 ? (uint32_t)number(session) : 0;
    msg.verdict.chunks = which & 2 ? (uint32_t)number(session) : CHUNKS;
    msg.verdict.version = number(session);
    tell(session, &msg, NULL);
}

/* A chunk's payload: good, or of another size. */
static struct blob *payload_of(struct session *session, uint32_t chunk,
                               enum codec_id codec, bool short_of_one)
{
    struct extent extent = {.elements = length_of(chunk)};
    float values[CHUNK];
    struct blob *payload;
    uint8_t byte = next(session);

    for (unsigned i = 0; i < CHUNK; i++)
        values[i] = value(codec == CODEC_RAW ? byte : byte % 128);
    payload = blob_new(session->pool, payload_bytes(&extent, codec));
    payload_encode(&extent, codec, values, payload->bytes);
    payload->size -= short_of_one;
    payload->wire_bytes = payload->size;
    return payload;
}

static void result(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *payload;

    msg.result.exchange = number(session);
    msg.result.version = number(session);
    msg.result.chunk =
        which & 1 ? (uint32_t)number(session) : below(session, CHUNKS);
    msg.result.verb = which & 2 ? below(session, VERB_COUNT) : VERB_REBASE;
    msg.result.base = which & 4 ? number(session) : msg.result.version;
    msg.result.codec = which & 4 ? below(session, CODEC_COUNT) : CODEC_RAW;
    msg.result.weight = which & 8 ? real(session) : 1;
    msg.result.lineage = which & 8 ? number(session) : 5;
    payload =
        payload_of(session, msg.result.chunk, msg.result.codec, which == 15);
    blob_seal(payload);
    msg.result.checksum = payload->checksum + (which == 14);
    if (which != 14)
        payload->checksum = 0; /* as from a wire */
    tell(session, &msg, payload);
    blob_unref(&payload);
}

/* All chunks of a result, and KEEP of it. */
static void keep(struct session *session, unsigned which)
{
    static const unsigned char key[MANIFEST_KEY_BYTES];
    uint32_t chunks = which == 15 ? (uint32_t)next(session) : CHUNKS;
    struct blob *manifest = blob_new(session->pool, manifest_bytes(chunks, 1));
    struct msg msg = {.kind = MSG_KEEP};
    uint64_t version = number(session);

    manifest_begin(manifest->bytes, chunks, "s", 1);
    for (uint32_t i = 0; i < chunks; i++)
        manifest_add(manifest->bytes, i, which & 1 ? number(session) : version,
                     NULL, 0);
    manifest_seal(manifest->bytes, key);
    manifest->size -= which == 14;
    msg.keep.version = which & 2 ? number(session) : version;
    msg.keep.epoch = number(session);
    msg.keep.merged = number(session);
    tell(session, &msg, manifest);
    blob_unref(&manifest);
}

static void review(struct session *session)
{
    struct msg msg = {.kind = MSG_REVIEW};
    struct blob *payload;

    msg.review.review = number(session);
    msg.review.chunk = below(session, CHUNKS + 1);
    payload = payload_of(session, msg.review.chunk, CODEC_RAW, false);
    blob_seal(payload);
    msg.review.checksum = payload->checksum;
    tell(session, &msg, payload);
    blob_unref(&payload);
}

/* All that is little. */
static void remark(struct session *session, unsigned which)
{
    static const enum msg_kind kinds[] = {MSG_VIEW, MSG_TUNE, MSG_PONG,
                                          MSG_TASK, MSG_STOP, MSG_BYE};
    struct msg msg = {.kind = kinds[which % 6]};

    if (which == 15) {
        review(session);
        return;
    }
    if (msg.kind == MSG_VIEW)
        msg.view =
            (struct msg_view){number(session), 1, (uint32_t)number(session),
                              (uint32_t)number(session)};
    if (msg.kind == MSG_TUNE)
        msg.tune =
            (struct msg_tune){number(session), below(session, EXCHANGE_COUNT),
                              (uint32_t)number(session), number(session)};
    if (msg.kind == MSG_PONG)
        msg.pong.sent = (nanos)number(session);
    if (msg.kind == MSG_TASK)
        msg.task = (struct msg_task){number(session), number(session),
                                     (uint32_t)number(session),
                                     (uint32_t)number(session)};
    if (msg.kind == MSG_BYE)
        msg.bye.farewell = below(session, FAREWELL_COUNT);
    tell(session, &msg, NULL);
}

/* ---- the trainer ---- */

static void snapshot(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_LOCAL_OFFER};
    struct blob *vector = blob_new(session->pool, ELEMENTS * sizeof(float));

    for (unsigned i = 0; i < ELEMENTS; i++)
        blob_floats(vector)[i] = value(which == 15 ? 250 : 1);
    msg.local_offer.exchange = which == 14 ? 0 : ++session->offers;
    msg.local_offer.kind = session->exchange;
    msg.local_offer.fragments = 1;
    msg.local_offer.last = which == 13;
    msg.local_offer.score = 1;
    asks(session, &msg, vector);
    blob_unref(&vector);
}

static void applied(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = number(session);
    msg.applied.skipped = which & 1;
    asks(session, &msg, NULL);
}

static void trainer(struct session *session, unsigned which)
{
    static const enum msg_kind kinds[] = {MSG_LOCAL_CLOSE, MSG_LOCAL_PING,
                                          MSG_LOCAL_ROOM, MSG_LOCAL_REPORT,
                                          MSG_LOCAL_REVIEWED};
    struct msg msg = {.kind = kinds[which % 5]};

    if (msg.kind == MSG_LOCAL_CLOSE)
        msg.local_close = (struct msg_local_close){number(session), which & 1};
    if (msg.kind == MSG_LOCAL_PING)
        msg.local_ping.iteration = number(session);
    if (msg.kind == MSG_LOCAL_REPORT)
        msg.local_report =
            (struct msg_local_report){number(session), which & 1};
    if (msg.kind == MSG_LOCAL_REVIEWED)
        msg.local_reviewed.number = number(session);
    asks(session, &msg, NULL);
}

/* What a trainer would do something with. */
static void overhear(struct session *session, const struct effect *effect)
{
    const struct msg *msg = &effect->msg;
    size_t count;

    if (msg->kind == MSG_LOCAL_TUNE) {
        assert(!msg->local_tune.attached || msg->local_tune.every);
        session->exchange = msg->local_tune.exchange;
    }
    if (msg->kind != MSG_LOCAL_RESULT)
        return;
    count = effect->payload->size / sizeof(float);
    assert(msg->local_result.first + count <= ELEMENTS);
    assert(msg->local_result.weight >= 0 && msg->local_result.weight <= 1);
    for (size_t i = 0; i < count; i++)
        assert(isfinite(blob_floats(effect->payload)[i]));
}

static void (*const acts[])(struct session *session, unsigned which) = {
    come,     go,      welcome, grant,  verdict, result,   keep,   remark,
    snapshot, applied, trainer, common, common,  snapshot, result, keep};

static const char *check(const void *self)
{
    return node_check(self);
}

static struct node *open_node(struct session *session, uint8_t bits)
{
    struct node_config config = {.uuid_low = 1,
                                 .incarnation = 1,
                                 .name = "n",
                                 .schema = session->schema,
                                 .reviews = bits & 1,
                                 .up = bits & 2 ? 64 : 0};
    struct node *node = node_new(&config, session->pool);

    session->exchange = bits >> 2 & 1 ? EXCHANGE_GRADIENT : EXCHANGE_DELTA;
    session->machine = node_machine(node);
    session->check = check;
    session->overhear = overhear;
    if (bits & 8)
        return node;
    snapshot(session, 14);
    run_jobs(session);
    come(session, SLOT_CONTROL);
    come(session, SLOT_BULK);
    return node;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct node *node;
    struct node_view view;
    const uint64_t shape[2] = {ELEMENTS, 1};
    struct session session = {.bytes = bytes,
                              .left = size,
                              .now = SECOND,
                              .tick = 50 * MILLISECOND,
                              .pool = pool_new(),
                              .schema = schema_new()};

    if (schema_add(session.schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    node = open_node(&session, next(&session));
    while (session.left && session.steps < MOST_STEPS) {
        uint8_t byte = next(&session);

        acts[byte & 15](&session, byte >> 4);
        if (!session.holds)
            run_jobs(&session);
    }
    run_jobs(&session);
    node_look(node, &view);
    effects_free(&session.effects);
    node_destroy(&node);
    schema_destroy(&session.schema);
    pool_destroy(&session.pool);
    return 0;
}
