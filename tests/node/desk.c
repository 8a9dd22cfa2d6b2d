#include "tests/node/desk.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"

static const char *check_node(const void *self)
{
    return node_check(self);
}

static struct desk *desk_make(bool reviews, uint64_t promised)
{
    struct desk *desk = calloc(1, sizeof *desk);
    struct pool *pool = pool_new();
    const uint64_t shape[2] = {DESK_ELEMENTS / 2, 2};
    struct node_config config = {.uuid_high = 1,
                                 .uuid_low = 2,
                                 .incarnation = 3,
                                 .name = "n1",
                                 .reviews = reviews,
                                 .promised = promised};

    if (!desk || !pool)
        abort();
    desk->schema = schema_new();
    if (!desk->schema ||
        schema_add(desk->schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    config.schema = desk->schema;
    desk->node = node_new(&config, pool);
    hand_init(&desk->hand, node_machine(desk->node), pool, check_node);
    desk->welcome = (struct msg_welcome){.protocol = PROTOCOL_MAX,
                                         .run = 7,
                                         .session = 1,
                                         .lineage = 5,
                                         .every = 1,
                                         .delay = 4,
                                         .chunk_elements = DESK_CHUNK,
                                         .window = 128};
    desk->weight = 1;
    return desk;
}

struct desk *desk_new(void)
{
    return desk_make(false, 0);
}

struct desk *desk_reviewing(void)
{
    return desk_make(true, 0);
}

struct desk *desk_promising(uint64_t bytes)
{
    struct desk *desk = desk_make(false, bytes);

    desk_ready(desk, 1);
    return desk;
}

void desk_destroy(struct desk **reference)
{
    struct desk *desk = *reference;
    struct pool *pool = desk->hand.pool;

    *reference = NULL;
    hand_free(&desk->hand);
    node_destroy(&desk->node);
    schema_destroy(&desk->schema);
    pool_destroy(&pool);
    free(desk);
}

size_t desk_length(uint32_t chunk)
{
    return chunk_length(DESK_ELEMENTS, DESK_CHUNK, chunk);
}

void desk_grants(struct desk *desk, uint64_t exchange, uint32_t chunks)
{
    struct msg msg = {.kind = MSG_GRANT};

    msg.grant.exchange = exchange;
    msg.grant.credit = (uint64_t)chunks * DESK_CHUNK * sizeof(float);
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

void desk_takes(struct desk *desk, const struct msg_snapshot *snapshot,
                struct blob *values)
{
    struct msg msg = {.kind = MSG_SNAPSHOT, .snapshot = *snapshot};

    hand_say(&desk->hand, PEER_TRAINER, &msg, values);
    if (snapshot->exchange && !desk->ungranted)
        desk_grants(desk, snapshot->exchange, DESK_CHUNKS);
}

static void snapshot(struct desk *desk, const struct msg_snapshot *snapshot,
                     double value)
{
    struct blob *vector = hand_floats(desk->hand.pool, DESK_ELEMENTS, value);

    vector->checksum = 0;
    desk_takes(desk, snapshot, vector);
    blob_unref(&vector);
}

void desk_begins(struct desk *desk, double value)
{
    const struct msg_snapshot first = {.score = NO_SCORE};

    snapshot(desk, &first, value);
}

void desk_connects(struct desk *desk)
{
    hand_join(&desk->hand, PEER_CONTROL, CHANNEL_CONTROL);
    hand_join(&desk->hand, PEER_BULK, CHANNEL_BULK);
}

void desk_breaks(struct desk *desk)
{
    hand_leave(&desk->hand, PEER_BULK);
    hand_leave(&desk->hand, PEER_CONTROL);
}

void desk_restarts(struct desk *desk, enum start start)
{
    struct msg msg = {.kind = MSG_WELCOME};

    desk->welcome.start = start;
    msg.welcome = desk->welcome;
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

void desk_welcomes(struct desk *desk, enum start start)
{
    desk->welcome.session++;
    desk_restarts(desk, start);
}

void desk_rejoins(struct desk *desk)
{
    desk_connects(desk);
    desk_welcomes(desk, START_GO);
}

void desk_ready(struct desk *desk, double value)
{
    desk_begins(desk, value);
    desk_rejoins(desk);
}

void desk_offers(struct desk *desk, uint64_t exchange, double value)
{
    const struct msg_snapshot taken = {.exchange = exchange,
                                       .iteration = 10 * exchange,
                                       .samples = 32,
                                       .score = 0.5,
                                       .kind = desk->welcome.exchange,
                                       .fragments = 1};

    snapshot(desk, &taken, value);
}

struct desk *desk_member(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    return desk;
}

struct desk *desk_offering(void)
{
    struct desk *desk = desk_member();

    desk_offers(desk, 1, 3);
    return desk;
}

void desk_leaves(struct desk *desk, uint64_t exchange, double value)
{
    const struct msg_snapshot taken = {.exchange = exchange,
                                       .samples = 32,
                                       .score = 0.5,
                                       .last = 1,
                                       .kind = desk->welcome.exchange,
                                       .fragments = 1};

    snapshot(desk, &taken, value);
}

void desk_judges(struct desk *desk, uint64_t exchange, uint32_t first,
                 uint32_t chunks, enum verdict verdict)
{
    struct msg msg = {.kind = MSG_VERDICT};

    msg.verdict.exchange = exchange;
    msg.verdict.first = first;
    msg.verdict.chunks = chunks;
    msg.verdict.verdict = verdict;
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

void desk_result(struct desk *desk, const struct msg_result *result,
                 double value)
{
    struct msg msg = {.kind = MSG_RESULT, .result = *result};
    struct blob *payload =
        hand_floats(desk->hand.pool, desk_length(result->chunk), value);

    if (!msg.result.checksum)
        msg.result.checksum = payload->checksum;
    msg.result.base = msg.result.version;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    blob_unref(&payload);
}

void desk_answers(struct desk *desk, uint64_t exchange, enum verb verb,
                  double value)
{
    struct msg_result result = {.exchange = exchange,
                                .verb = verb,
                                .lineage = desk->welcome.lineage,
                                .weight = desk->weight};

    result.version = ++desk->version;
    for (; result.chunk < DESK_CHUNKS; result.chunk++)
        desk_result(desk, &result, value);
}

static void applied(struct desk *desk, uint64_t exchange, bool skipped)
{
    struct msg msg = {.kind = MSG_APPLIED};

    msg.applied.exchange = exchange;
    msg.applied.skipped = skipped;
    hand_say(&desk->hand, PEER_TRAINER, &msg, NULL);
}

void desk_applied(struct desk *desk, uint64_t exchange)
{
    applied(desk, exchange, false);
}

void desk_skips(struct desk *desk, uint64_t exchange)
{
    applied(desk, exchange, true);
}

void desk_tunes(struct desk *desk, uint64_t every, enum exchange exchange)
{
    struct msg msg = {.kind = MSG_TUNE};

    desk->welcome.every = msg.tune.every = every;
    desk->welcome.exchange = msg.tune.exchange = exchange;
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

void desk_says(struct desk *desk, enum msg_kind kind)
{
    struct msg msg = {.kind = kind};

    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

void desk_says_bye(struct desk *desk, enum farewell farewell)
{
    struct msg msg = {.kind = MSG_BYE};

    msg.bye.farewell = farewell;
    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
}

static uint64_t exchange_of(const struct msg *msg)
{
    return msg->kind == MSG_CHUNK ? msg->chunk.exchange : msg->apply.exchange;
}

static uint32_t chunk_of(const struct msg *msg)
{
    return msg->kind == MSG_CHUNK ? msg->chunk.chunk : msg->apply.chunk;
}

static double payload_of(const struct desk *desk, enum msg_kind kind,
                         uint64_t exchange, uint32_t chunk)
{
    for (unsigned i = desk->hand.sent_count; i > 0; i--) {
        const struct hand_sent *sent = &desk->hand.sent[i - 1];

        if (sent->msg.kind == kind && exchange_of(&sent->msg) == exchange &&
            chunk_of(&sent->msg) == chunk)
            return hand_float(sent->payload, 0);
    }
    return (double)NAN;
}

double desk_chunk(const struct desk *desk, uint64_t exchange, uint32_t chunk)
{
    return payload_of(desk, MSG_CHUNK, exchange, chunk);
}

unsigned desk_chunks(const struct desk *desk, uint64_t exchange)
{
    unsigned count = 0;

    for (unsigned i = 0; i < desk->hand.sent_count; i++)
        count += desk->hand.sent[i].msg.kind == MSG_CHUNK &&
                 desk->hand.sent[i].msg.chunk.exchange == exchange;
    return count;
}

double desk_apply(const struct desk *desk, uint64_t exchange, uint32_t chunk)
{
    return payload_of(desk, MSG_APPLY, exchange, chunk);
}

const struct msg *desk_told(const struct desk *desk, enum msg_kind kind)
{
    const struct hand_sent *sent = hand_last(&desk->hand, PEER_TRAINER, kind);

    return sent ? &sent->msg : NULL;
}

const struct msg *desk_sent(const struct desk *desk, enum msg_kind kind)
{
    bool bulk = msg_info(kind)->channel == CHANNEL_BULK;
    const struct hand_sent *sent =
        hand_last(&desk->hand, bulk ? PEER_BULK : PEER_CONTROL, kind);

    return sent ? &sent->msg : NULL;
}

bool desk_forgot(const struct desk *desk, uint64_t exchange)
{
    for (unsigned i = 0; i < desk->hand.sent_count; i++) {
        const struct hand_sent *sent = &desk->hand.sent[i];

        if (sent->msg.kind == MSG_FORGET &&
            sent->msg.forget.first <= exchange &&
            exchange <= sent->msg.forget.last)
            return true;
    }
    return false;
}
