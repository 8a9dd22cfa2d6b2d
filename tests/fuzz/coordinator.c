/* Fuzzes the coordinator of collectives: the input is a session of up to 16
 * connections. After each step its invariants must hold, and what it sends
 * must be fit to be sent. Each byte is an act: its lower half says which
 * (acts[] below), its upper half on which connection; its arguments follow. */
#include <string.h>

#include "collectives/coordinator.h"
#include "tests/fuzz/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PART_BYTES = 16, FIRST_PEER = 10, MOST_STEPS = 4000 };

static void connect(struct session *session, struct slot *slot)
{
    if (slot->peer == PEER_NONE) {
        slot->peer = session->next_peer++;
        slot->channel = next(session) & 1 ? CHANNEL_BULK : CHANNEL_CONTROL;
    }
}

static void join(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_JOIN};
    uint8_t bits = next(session);

    msg.join.protocol_min = msg.join.protocol_max = PROTOCOL_MAX;
    msg.join.node_low = bits & 7;
    msg.join.incarnation = bits >> 3 & 3;
    msg.join.manner = bits >> 5 & 1;
    msg.join.size = bits >> 6;
    msg.join.patience = 2 * SECOND;
    msg.join.version = next(session) & 3;
    say(session, slot, &msg, NULL);
}

static void sit(struct session *session, struct slot *slot)
{
    const struct msg msg = {.kind = MSG_SIT, .sit = {next(session)}};

    say(session, slot, &msg, NULL);
}

static void who(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_WHO};

    msg.who.number = next(session);
    msg.who.averages = next(session) & 3;
    msg.who.reports = msg.who.number & 1;
    say(session, slot, &msg, NULL);
}

static void call(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_CALL};
    uint8_t bits = next(session);

    msg.call.number = next(session);
    msg.call.collective = (bits & 15) % COLLECTIVE_COUNT;
    msg.call.reduction = (bits >> 4) % REDUCTION_COUNT;
    bits = next(session);
    msg.call.scalar = bits & 7;
    msg.call.root = bits >> 6;
    msg.call.sequence = bits >> 3 & 7;
    msg.call.era = next(session);
    msg.call.bytes = (uint64_t)next(session) * 8;
    if (msg.call.bytes == 2040)
        msg.call.bytes = UINT64_MAX;
    say(session, slot, &msg, NULL);
}

static void give_up(struct session *session, struct slot *slot)
{
    const struct msg msg = {.kind = MSG_GIVE_UP,
                            .give_up = {next(session), ""}};

    say(session, slot, &msg, NULL);
}

/* A number of 15 is followed by a wrong checksum. */
static void part(struct session *session, struct slot *slot)
{
    uint8_t bits = next(session);
    size_t size = bits & 16 ? 8 : PART_BYTES;
    struct blob *payload = blob_new(session->pool, size);
    struct msg msg = {.kind = MSG_PART};

    memset(payload->bytes, bits, size);
    blob_seal(payload);
    msg.part.number = next(session);
    msg.part.part = bits & 15;
    msg.part.checksum = payload->checksum + (bits >> 7);
    say(session, slot, &msg, payload);
    blob_unref(&payload);
}

static void credit(struct session *session, struct slot *slot)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = next(session);
    msg.credit.more = next(session) & 7;
    say(session, slot, &msg, NULL);
}

static void ping(struct session *session, struct slot *slot)
{
    const struct msg msg = {.kind = MSG_PING};

    say(session, slot, &msg, NULL);
}

/* What becomes of a message from one member to another. */
static void mail(struct session *session, struct slot *slot)
{
    static const enum msg_kind kinds[] = {MSG_SEND, MSG_TAKE, MSG_END,
                                          MSG_RECEIVED};
    uint8_t bits = next(session);
    struct msg msg = {.kind = kinds[bits & 3]};

    if (msg.kind == MSG_SEND)
        msg.send =
            (struct msg_send){next(session), bits >> 2 & 3, 0, bits >> 4};
    if (msg.kind == MSG_TAKE)
        msg.take = (struct msg_take){bits >> 2, next(session)};
    if (msg.kind == MSG_END)
        msg.end.number = next(session);
    if (msg.kind == MSG_RECEIVED)
        msg.received = (struct msg_received){next(session), bits >> 2 & 1};
    say(session, slot, &msg, NULL);
}

static void (*const acts[SLOTS])(struct session *session, struct slot *slot) = {
    connect, leave, join, sit,       who,          call, give_up, part,
    credit,  ping,  bye,  pass_time, run_some_job, hold, mail};

static const char *check(const void *self)
{
    return coordinator_check(self);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct session session = {.bytes = bytes,
                              .left = size,
                              .now = SECOND,
                              .tick = 100 * MILLISECOND,
                              .pool = pool_new(),
                              .next_peer = FIRST_PEER,
                              .check = check};
    const struct coordinator_config config = {
        .run = 7, .segment_bytes = PART_BYTES, .window = 2, .limit = 4096};
    struct coordinator *coordinator = coordinator_new(&config, session.pool);

    session.machine = coordinator_machine(coordinator);
    while (session.left && session.steps < MOST_STEPS) {
        uint8_t byte = next(&session);

        if (acts[byte & 15])
            acts[byte & 15](&session, &session.slots[byte >> 4]);
        if (!session.holds)
            run_jobs(&session);
    }
    run_jobs(&session);
    effects_free(&session.effects);
    coordinator_destroy(&coordinator);
    pool_destroy(&session.pool);
    return 0;
}
