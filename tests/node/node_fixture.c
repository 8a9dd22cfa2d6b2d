#include "tests/node/node_fixture.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"

static const char *check_node(const void *self)
{
    return node_check(self);
}

static struct node_fixture *node_fixture_make(bool reviews, uint64_t promised,
                                              uint32_t scale)
{
    struct node_fixture *f = calloc(1, sizeof *f);
    struct pool *pool = pool_new();
    const uint64_t shape[2] = {FIXTURE_ELEMENTS / 2, 2};
    struct node_config config = {.uuid_high = 1,
                                 .uuid_low = 2,
                                 .incarnation = 3,
                                 .name = "n1",
                                 .reviews = reviews,
                                 .scale = scale,
                                 .promised = promised};

    if (!f || !pool)
        abort();
    f->schema = schema_new();
    if (!f->schema || schema_add(f->schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    config.schema = f->schema;
    f->node = node_new(&config, pool);
    hand_init(&f->hand, node_machine(f->node), pool, check_node);
    f->welcome = (struct msg_welcome){.protocol = PROTOCOL_MAX,
                                      .run = 7,
                                      .session = 1,
                                      .lineage = 5,
                                      .every = 1,
                                      .delay = 4,
                                      .chunk_elements = FIXTURE_CHUNK,
                                      .window = 128};
    f->weight = 1;
    f->scale = scale;
    return f;
}

struct node_fixture *node_fixture_new(void)
{
    return node_fixture_make(false, 0, 1);
}

struct node_fixture *node_fixture_reviewing(void)
{
    return node_fixture_make(true, 0, 1);
}

struct node_fixture *node_fixture_promising(uint64_t bytes)
{
    struct node_fixture *f = node_fixture_make(false, bytes, 1);

    node_fixture_ready(f, 1);
    return f;
}

struct node_fixture *node_fixture_surrogate(uint32_t scale)
{
    struct node_fixture *f = node_fixture_make(false, 0, scale);

    node_fixture_ready(f, 1);
    return f;
}

void node_fixture_destroy(struct node_fixture **reference)
{
    struct node_fixture *f = *reference;
    struct pool *pool = f->hand.pool;

    *reference = NULL;
    hand_free(&f->hand);
    node_destroy(&f->node);
    schema_destroy(&f->schema);
    pool_destroy(&pool);
    free(f);
}

size_t node_fixture_length(uint32_t chunk)
{
    return chunk_length(FIXTURE_ELEMENTS, FIXTURE_CHUNK, chunk);
}

void node_fixture_grants(struct node_fixture *f, uint64_t exchange,
                         uint32_t chunks)
{
    struct msg msg = {.kind = MSG_GRANT};

    msg.grant.exchange = exchange;
    msg.grant.credit = sizeof(float) * chunks * FIXTURE_CHUNK * f->scale;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

void node_fixture_takes(struct node_fixture *f,
                        const struct msg_local_offer *snapshot,
                        struct blob *values)
{
    struct msg msg = {.kind = MSG_LOCAL_OFFER, .local_offer = *snapshot};

    hand_say(&f->hand, PEER_TRAINER, &msg, values);
    if (snapshot->exchange && !f->ungranted)
        node_fixture_grants(f, snapshot->exchange, FIXTURE_CHUNKS);
}

static void snapshot(struct node_fixture *f,
                     const struct msg_local_offer *snapshot, double value)
{
    struct blob *vector = hand_floats(f->hand.pool, FIXTURE_ELEMENTS, value);

    vector->checksum = 0;
    node_fixture_takes(f, snapshot, vector);
    blob_unref(&vector);
}

void node_fixture_begins(struct node_fixture *f, double value)
{
    const struct msg_local_offer first = {.score = NO_SCORE};

    snapshot(f, &first, value);
}

void node_fixture_connects(struct node_fixture *f)
{
    hand_join(&f->hand, PEER_CONTROL, CHANNEL_CONTROL);
    hand_join(&f->hand, PEER_BULK, CHANNEL_BULK);
}

void node_fixture_breaks(struct node_fixture *f)
{
    hand_leave(&f->hand, PEER_BULK);
    hand_leave(&f->hand, PEER_CONTROL);
}

void node_fixture_restarts(struct node_fixture *f, enum start start)
{
    struct msg msg = {.kind = MSG_WELCOME};

    f->welcome.start = start;
    msg.welcome = f->welcome;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

void node_fixture_welcomes(struct node_fixture *f, enum start start)
{
    f->welcome.session++;
    node_fixture_restarts(f, start);
}

void node_fixture_rejoins(struct node_fixture *f)
{
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_GO);
}

void node_fixture_ready(struct node_fixture *f, double value)
{
    node_fixture_begins(f, value);
    node_fixture_rejoins(f);
}

void node_fixture_offers(struct node_fixture *f, uint64_t exchange,
                         double value)
{
    const struct msg_local_offer taken = {.exchange = exchange,
                                          .iteration = 10 * exchange,
                                          .samples = 32,
                                          .score = 0.5,
                                          .kind = f->welcome.exchange,
                                          .fragments = 1};

    snapshot(f, &taken, value);
}

struct node_fixture *node_fixture_member(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    return f;
}

struct node_fixture *node_fixture_offering(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_offers(f, 1, 3);
    return f;
}

struct node_fixture *node_fixture_merged(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    return f;
}

void node_fixture_leaves(struct node_fixture *f, uint64_t exchange,
                         double value)
{
    const struct msg_local_offer taken = {.exchange = exchange,
                                          .samples = 32,
                                          .score = 0.5,
                                          .last = 1,
                                          .kind = f->welcome.exchange,
                                          .fragments = 1};

    snapshot(f, &taken, value);
}

void node_fixture_verdicts(struct node_fixture *f, uint64_t exchange,
                           uint32_t first, uint32_t chunks,
                           enum verdict verdict)
{
    struct msg msg = {.kind = MSG_VERDICT};

    msg.verdict.exchange = exchange;
    msg.verdict.first = first;
    msg.verdict.chunks = chunks;
    msg.verdict.verdict = verdict;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

void node_fixture_result(struct node_fixture *f,
                         const struct msg_result *result, double value)
{
    struct msg msg = {.kind = MSG_RESULT, .result = *result};
    struct blob *payload =
        hand_floats(f->hand.pool, node_fixture_length(result->chunk), value);

    if (!msg.result.checksum)
        msg.result.checksum = payload->checksum;
    msg.result.base = msg.result.version;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
}

void node_fixture_answers(struct node_fixture *f, uint64_t exchange,
                          enum verb verb, double value)
{
    node_fixture_answers_as(f, exchange, verb, value, VERDICT_MERGED);
}

void node_fixture_answers_as(struct node_fixture *f, uint64_t exchange,
                             enum verb verb, double value, enum verdict verdict)
{
    struct msg_result result = {.exchange = exchange,
                                .verb = verb,
                                .verdict = verdict,
                                .lineage = f->welcome.lineage,
                                .weight = f->weight};

    result.version = ++f->version;
    for (; result.chunk < FIXTURE_CHUNKS; result.chunk++)
        node_fixture_result(f, &result, value);
}

static void applied(struct node_fixture *f, uint64_t exchange, bool skipped)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = exchange;
    msg.applied.skipped = skipped;
    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

void node_fixture_applied(struct node_fixture *f, uint64_t exchange)
{
    applied(f, exchange, false);
}

void node_fixture_skips(struct node_fixture *f, uint64_t exchange)
{
    applied(f, exchange, true);
}

void node_fixture_tunes(struct node_fixture *f, uint64_t every,
                        enum exchange exchange)
{
    struct msg msg = {.kind = MSG_TUNE};

    f->welcome.every = msg.tune.every = every;
    f->welcome.exchange = msg.tune.exchange = exchange;
    msg.tune.delay = f->welcome.delay;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

void node_fixture_says(struct node_fixture *f, enum msg_kind kind)
{
    struct msg msg = {.kind = kind};

    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

void node_fixture_says_bye(struct node_fixture *f, enum farewell farewell)
{
    struct msg msg = {.kind = MSG_BYE};

    msg.bye.farewell = farewell;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

static uint64_t exchange_of(const struct msg *msg)
{
    return msg->kind == MSG_CHUNK ? msg->chunk.exchange
                                  : msg->local_result.exchange;
}

static uint32_t chunk_of(const struct msg *msg)
{
    return msg->kind == MSG_CHUNK ? msg->chunk.chunk : msg->local_result.chunk;
}

static double payload_of(const struct node_fixture *f, enum msg_kind kind,
                         uint64_t exchange, uint32_t chunk)
{
    for (unsigned i = f->hand.sent_count; i > 0; i--) {
        const struct hand_sent *sent = &f->hand.sent[i - 1];

        if (sent->msg.kind == kind && exchange_of(&sent->msg) == exchange &&
            chunk_of(&sent->msg) == chunk)
            return hand_float(sent->payload, 0);
    }
    return (double)NAN;
}

double node_fixture_chunk(const struct node_fixture *f, uint64_t exchange,
                          uint32_t chunk)
{
    return payload_of(f, MSG_CHUNK, exchange, chunk);
}

unsigned node_fixture_chunks(const struct node_fixture *f, uint64_t exchange)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->hand.sent_count; i++)
        count += f->hand.sent[i].msg.kind == MSG_CHUNK &&
                 f->hand.sent[i].msg.chunk.exchange == exchange;
    return count;
}

double node_fixture_apply(const struct node_fixture *f, uint64_t exchange,
                          uint32_t chunk)
{
    return payload_of(f, MSG_LOCAL_RESULT, exchange, chunk);
}

const struct msg *node_fixture_told(const struct node_fixture *f,
                                    enum msg_kind kind)
{
    const struct hand_sent *sent = hand_last(&f->hand, PEER_TRAINER, kind);

    return sent ? &sent->msg : NULL;
}

const struct msg *node_fixture_sent(const struct node_fixture *f,
                                    enum msg_kind kind)
{
    bool bulk = msg_info(kind)->channel == CHANNEL_BULK;
    const struct hand_sent *sent =
        hand_last(&f->hand, bulk ? PEER_BULK : PEER_CONTROL, kind);

    return sent ? &sent->msg : NULL;
}

bool node_fixture_forgot(const struct node_fixture *f, uint64_t exchange)
{
    for (unsigned i = 0; i < f->hand.sent_count; i++) {
        const struct hand_sent *sent = &f->hand.sent[i];

        if (sent->msg.kind == MSG_LOCAL_VERDICT &&
            sent->msg.local_verdict.first <= exchange &&
            exchange <= sent->msg.local_verdict.last)
            return true;
    }
    return false;
}
