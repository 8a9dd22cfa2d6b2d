/* Fuzzes the whole hub: the input is a session of up to 16 connections. After
 * each step the hub's invariants must hold, and what it sends must be fit to
 * be sent.
 *
 * The first byte is the run's settings, the second its preset, the third other
 * rules and what becomes of first parameters. Then each byte is an act: its
 * lower half says which (acts[] below), its upper half on which connection; its
 * arguments follow, a byte each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hub/configure.h"
#include "hub/hub.h"
#include "tests/fuzz/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { ELEMENTS = 10, CHUNK = 4, LAST_CHUNK = 2 };
enum { FIRST_PEER = 10, MOST_STEPS = 20000 };

static void join(struct session *session, struct slot *slot,
                 enum channel channel)
{
    struct event event = {.kind = EVENT_JOIN, .channel = channel};

    if (slot->peer != PEER_NONE)
        return;
    slot->peer = event.peer = session->next_peer++;
    slot->channel = channel;
    step(session, &event);
}

static void join_control(struct session *session, struct slot *slot)
{
    join(session, slot, CHANNEL_CONTROL);
}

static void join_bulk(struct session *session, struct slot *slot)
{
    join(session, slot, CHANNEL_BULK);
}

static void hello(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_HELLO};
    uint8_t node = next(session), bits;
    struct blob *text = blob_new(session->pool, session->schema->text_bytes);

    msg.hello.protocol_min = PROTOCOL_MIN;
    msg.hello.protocol_max = PROTOCOL_MAX;
    msg.hello.node_low = 1 + node % 70;
    msg.hello.node_high = node / 70;
    msg.hello.incarnation = next(session);
    msg.hello.base_version = next(session);
    bits = next(session);
    msg.hello.run = bits & 1 ? 7 : 0;
    msg.hello.lineage = bits & 2 ? 5 : 6;
    msg.hello.protocol_min += bits >> 7;
    memcpy(text->bytes, session->schema->text, text->size);
    if (bits & 4)
        text->bytes[0] = 'v'; /* another model */
    say(session, slot, &msg, text);
    blob_unref(&text);
}

static void offer(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_OFFER};
    uint8_t bits;

    msg.offer.exchange = next(session);
    msg.offer.base_version = next(session);
    bits = next(session);
    msg.offer.last = bits & 1;
    msg.offer.samples = bits >> 1;
    msg.offer.norm = bits & 4 ? 1e9 : 1;
    msg.offer.score = bits & 2 ? NO_SCORE : bits;
    msg.offer.kind = session->exchange;
    msg.offer.lineage = session->lineage ? session->lineage : 5;
    if (bits & 128)
        msg.offer.lineage = 6;
    if ((bits & 192) == 192)
        msg.offer.kind = EXCHANGE_PARAMETERS;
    say(session, slot, &msg, NULL);
}

/* A value of 255 is NaN, 254 a wrong checksum, 253 a wrong size. */
static void chunk(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_CHUNK};
    size_t count = CHUNK;
    struct blob *payload;
    uint8_t value;

    msg.chunk.exchange = next(session);
    msg.chunk.chunk = next(session);
    value = next(session);
    if (msg.chunk.chunk == LAST_CHUNK)
        count = ELEMENTS - LAST_CHUNK * CHUNK;
    count += value == 253;
    payload = blob_new(session->pool, count * sizeof(float));
    for (size_t i = 0; i < count; i++)
        blob_floats(payload)[i] = value == 255 ? NAN : (float)value;
    blob_seal(payload);
    msg.chunk.checksum = payload->checksum + (value == 254);
    say(session, slot, &msg, payload);
    blob_unref(&payload);
}

/* A frame as it comes from a wire, with its length before it. */
static const uint8_t *frame(struct session *session, size_t *length)
{
    const uint8_t *bytes;

    *length = next(session);
    if (*length > session->left)
        *length = session->left;
    bytes = session->bytes;
    session->bytes += *length;
    session->left -= *length;
    return bytes;
}

static void raw(struct session *session, struct slot *slot)
{
    size_t head_length, length;
    const uint8_t *head = frame(session, &head_length);
    const uint8_t *body = frame(session, &length);
    struct blob *payload = NULL;
    struct msg msg;

    if (msg_decode(head, head_length, &msg) != STATUS_OK)
        return;
    if (msg_info(msg.kind)->payload) {
        payload = blob_new(session->pool, length);
        memcpy(payload->bytes, body, length);
    }
    say(session, slot, &msg, payload);
    blob_unref(&payload);
}

static void attach(struct session *session, struct slot *slot)
{
    const struct msg msg = {.kind = MSG_ATTACH, .attach = {next(session)}};

    say(session, slot, &msg, NULL);
}

static void credit(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = next(session);
    msg.credit.more = next(session);
    say(session, slot, &msg, NULL);
}

static void ping(struct session *session, struct slot *slot)
{
    const struct msg msg = {.kind = MSG_PING,
                            .ping = {.iteration = next(session)}};

    say(session, slot, &msg, NULL);
}

static void from_operator(struct session *session, const struct msg *msg)
{
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_OPERATOR, .msg = msg};

    step(session, &event);
}

/* The operator: the first slot stands for the end, the others for orders about
 * a node or about none. */
static void operate(struct session *session, struct slot *slot)
{
    unsigned which = (unsigned)(slot - session->slots);
    struct msg msg = {.kind = which ? MSG_ORDER : MSG_STOP};

    if (which) {
        msg.order.command = (which - 1) % COMMAND_COUNT;
        msg.order.ticket = session->steps;
        if (which & 8)
            memcpy(msg.order.node, "node", sizeof "node");
    }
    if (which == SLOTS - 1)
        msg = (struct msg){.kind = MSG_LOCAL_CLOCK,
                           .local_clock = {session->now}};
    from_operator(session, &msg);
}

/* Answers a review. */
static void review(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_REVIEWED};
    uint8_t byte = next(session);

    msg.reviewed.review = next(session);
    msg.reviewed.made = byte & 1;
    msg.reviewed.loss = byte == 255 ? NO_SCORE : byte;
    say(session, slot, &msg, NULL);
}

/* Asks for tasks, reports one, or answers a review. */
static void task(struct session *session, struct slot *slot)
{
    uint8_t byte = next(session);
    struct msg msg = {.kind = byte & 1 ? MSG_REPORT : MSG_ROOM};

    msg.report.task = byte / 4;
    msg.report.what = byte / 2 % TASK_REPORT_COUNT;
    if (byte % 2 == 0)
        msg.room = (struct msg_room){.tasks = byte / 2};
    if (byte < 192)
        say(session, slot, &msg, NULL);
    else
        review(session, slot);
}

static void (*const acts[SLOTS])(struct session *session, struct slot *slot) = {
    join_control, join_bulk,    leave, hello, attach, offer,
    chunk,        credit,       ping,  bye,   raw,    pass_time,
    operate,      run_some_job, hold,  task};

static void act(struct session *session)
{
    uint8_t byte = next(session);

    acts[byte & 15](session, &session->slots[byte >> 4]);
}

static void save(struct job *job)
{
    (void)job;
}

/* Finds each version better than the one before, and what is contributed as
 * good as its first value is low. */
static void score(struct job *job)
{
    struct score_job *score = (struct score_job *)job;
    double version = (double)score->version;

    score->loss =
        version > 0 ? -version : (double)blob_floats(job->in[0].blob)[0];
    score->accuracy = version / 100;
}

static const struct work work_save = {"save", save, NULL};
static const struct work work_score = {"score", score, NULL};

static const char *check(const void *self)
{
    return hub_check(self);
}

/* What every node would know from what it is sent. */
static void overhear(struct session *session, const struct effect *effect)
{
    const struct msg *msg = &effect->msg;

    if (msg->kind == MSG_TUNE)
        session->exchange = msg->tune.exchange;
    if (msg->kind != MSG_WELCOME)
        return;
    session->exchange = msg->welcome.exchange;
    session->lineage = msg->welcome.lineage;
}

/* Other rules than the preset's, where they go together with it. */
static void vary(struct policy *policy, uint8_t bits)
{
    struct policy other = *policy;

    if (bits & 3)
        other.select = select_rules[bits % select_rule_count];
    if (bits & 28)
        other.reduce = reduce_rules[bits / 4 % reduce_rule_count];
    if (bits & 32)
        other.preempt = &preempt_quantile;
    other.numbers.spare = other.numbers.strikes = 1;
    if (!policy_conflict(&other))
        *policy = other;
}

static enum init init_of(const struct policy *policy, uint8_t bits)
{
    if (bits & 64)
        return INIT_TOURNAMENT;
    if (policy->exchange != EXCHANGE_PARAMETERS || bits & 128)
        return INIT_HUB;
    return policy->merge->verb == VERB_REPLACE ? INIT_POPULATION : INIT_ELASTIC;
}

static struct hub *open_hub(struct session *session, uint8_t bits)
{
    const struct preset *preset = &presets[next(session) % preset_count];
    uint8_t rules = next(session);
    struct hub *hub;
    struct hub_config config = {.policy = preset->policy,
                                .run = 7,
                                .every = 1,
                                .nodes = 1,
                                .chunk_elements = CHUNK,
                                .window = bits & 32 ? 1 : 12 * CHUNK,
                                .tasks = 3,
                                .epochs = 5,
                                .task_time = 20 * SECOND,
                                .staleness = 3,
                                .save_interval = SECOND,
                                .evaluate_interval = SECOND};

    if (bits & 2 && config.policy.exchange == EXCHANGE_DELTA)
        config.policy.exchange = EXCHANGE_GRADIENT;
    config.policy.numbers.outer_momentum = bits & 4 ? 0.9 : 0;
    vary(&config.policy, rules);
    config.init = init_of(&config.policy, rules);
    if (bits & 1 && !configure_changes_conflict(&config.policy))
        config.codec_down = CODEC_INT8;
    config.tournament = 4;
    config.save = bits & 8 ? &work_save : NULL;
    config.evaluate = bits & 16 ? &work_score : NULL;
    config.iterations = bits & 64 ? 200 : 0;
    config.goal = bits & 128 ? GOAL_ACCURACY : GOAL_NONE;
    config.goal_value = 0.1;
    hub = hub_new(&config, session->pool);
    session->machine = hub_machine(hub);
    session->check = check;
    session->overhear = overhear;
    return hub;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct hub_view view;
    struct hub *hub;
    const uint64_t shape[2] = {ELEMENTS, 1};
    struct session session = {.bytes = bytes,
                              .left = size,
                              .now = SECOND,
                              .tick = 50 * MILLISECOND,
                              .pool = pool_new(),
                              .schema = schema_new(),
                              .next_peer = FIRST_PEER};

    if (schema_add(session.schema, "w", 2, shape, NULL) != STATUS_OK)
        abort();
    hub = open_hub(&session, next(&session));
    while (session.left && session.steps < MOST_STEPS) {
        act(&session);
        if (!session.holds)
            run_jobs(&session);
    }
    run_jobs(&session);
    hub_look(hub, session.now, &view);
    effects_free(&session.effects);
    hub_destroy(&hub);
    schema_destroy(&session.schema);
    pool_destroy(&session.pool);
    return 0;
}
