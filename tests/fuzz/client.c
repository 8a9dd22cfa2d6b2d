/* Fuzzes the client of collectives: the input is what a hub says that may say
 * anything, and what the program asks meanwhile. What the client sends must be
 * fit to be sent, and each operation of the program has one answer.
 *
 * The first byte is the client's settings. Then each byte is an act: its lower
 * half says which (acts[] below), its upper half is the act's own; its
 * arguments follow, a byte each, of which the upper ones stand for numbers near
 * 2^32 and 2^64. */
#include <assert.h>
#include <string.h>

#include "collectives/client.h"
#include "tests/fuzz/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { SEGMENT = 16, LARGEST = 5 * SEGMENT, MOST_STEPS = 4000 };

static struct blob *payload_of(struct session *session, size_t size)
{
    struct blob *payload = blob_new(session->pool, size);

    memset(payload->bytes, 7, size);
    return payload;
}

/* ---- the hub ---- */

static void joined(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_JOINED};

    msg.joined.run = 7 + (which & 1);
    msg.joined.session = number(session);
    msg.joined.part_bytes = which == 15 ? (uint32_t)number(session) : SEGMENT;
    msg.joined.window = 2;
    tell(session, &msg, NULL);
}

static void roster(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_ROSTER};

    msg.roster.number = number(session);
    msg.roster.epoch = number(session);
    msg.roster.rank = which & 3;
    msg.roster.size = which >> 2;
    msg.roster.averages = next(session) & 3;
    tell(session, &msg, NULL);
}

static void outcome(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = number(session);
    msg.outcome.outcome = which & 3;
    msg.outcome.bytes = number(session);
    msg.outcome.version = which >> 2;
    msg.outcome.averages = which >> 2;
    tell(session, &msg, NULL);
}

static void credit(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = number(session);
    msg.credit.more = which == 15 ? number(session) : which;
    tell(session, &msg, NULL);
}

static void piece(struct session *session, unsigned which)
{
    struct blob *payload = payload_of(session, which & 1 ? 5 : SEGMENT);
    struct msg msg = {.kind = MSG_PIECE};

    blob_seal(payload);
    msg.piece.number = number(session);
    msg.piece.offset = (uint64_t)(which >> 2) * SEGMENT;
    if (which & 2)
        msg.piece.offset = number(session);
    msg.piece.checksum = payload->checksum + (which == 15);
    payload->checksum = 0; /* as from a wire */
    tell(session, &msg, payload);
    blob_unref(&payload);
}

static void remark(struct session *session, unsigned which)
{
    static const enum msg_kind kinds[] = {MSG_MAIL,  MSG_WITHDRAW, MSG_END,
                                          MSG_SERVE, MSG_PONG,     MSG_BYE};
    struct msg msg = {.kind = kinds[which % 6]};

    if (msg.kind == MSG_MAIL)
        msg.mail = (struct msg_mail){number(session), 1, 2, number(session)};
    if (msg.kind == MSG_WITHDRAW)
        msg.withdraw = (struct msg_withdraw){1, number(session)};
    if (msg.kind == MSG_END)
        msg.end = (struct msg_end){number(session), number(session)};
    if (msg.kind == MSG_SERVE)
        msg.serve.version = number(session);
    if (msg.kind == MSG_BYE)
        msg.bye.farewell = next(session) % FAREWELL_COUNT;
    tell(session, &msg, NULL);
}

/* ---- the program ---- */

/* One operation at a time, as the library does it: `offers` counts them, and
 * `exchange` is the one without an answer. */
static void ask(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_ASK};

    if (session->exchange)
        return;
    msg.ask.request = session->exchange = (uint32_t)++session->offers;
    msg.ask.ask = which < ASK_COUNT ? which : ASK_COLLECTIVE;
    msg.ask.collective = next(session) % COLLECTIVE_COUNT;
    msg.ask.bytes = next(session) % LARGEST;
    msg.ask.limit = (nanos)next(session) * SECOND;
    asks(session, &msg, NULL);
}

static void give(struct session *session, unsigned which)
{
    struct blob *payload = payload_of(session, next(session) % LARGEST);
    struct msg msg = {.kind = MSG_GIVE};

    msg.give.request = session->offers;
    msg.give.model = which & 1;
    asks(session, &msg, payload);
    blob_unref(&payload);
}

static void post(struct session *session, unsigned which)
{
    struct blob *payload = payload_of(session, next(session) % LARGEST);
    struct msg msg = {.kind = MSG_POST};

    msg.post.request = ++session->offers;
    msg.post.to = which;
    asks(session, &msg, payload);
    blob_unref(&payload);
}

static void fetch(struct session *session, unsigned which)
{
    struct msg msg = {.kind = MSG_FETCH};

    msg.fetch.request = ++session->offers;
    msg.fetch.id = which;
    msg.fetch.bytes = next(session) % LARGEST;
    asks(session, &msg, NULL);
}

static void overhear(struct session *session, const struct effect *effect)
{
    if (effect->msg.kind != MSG_TOLD)
        return;
    assert(effect->msg.told.request == session->exchange);
    session->exchange = 0;
}

static void (*const acts[])(struct session *session, unsigned which) = {
    come, go,   joined, roster, outcome, credit, piece, remark,
    ask,  give, post,   fetch,  common,  common, come,  piece};

static const char *check(const void *self)
{
    (void)self;
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct session session = {.bytes = bytes,
                              .left = size,
                              .now = SECOND,
                              .tick = 100 * MILLISECOND,
                              .pool = pool_new(),
                              .check = check,
                              .overhear = overhear};
    uint8_t bits = next(&session);
    const struct client_config config = {.name = "m",
                                         .low = 1,
                                         .incarnation = 1,
                                         .manner = bits & 1 ? MANNER_PATIENT
                                                            : MANNER_ELASTIC,
                                         .active = bits & 2,
                                         .size = 1 + (bits >> 2 & 1),
                                         .patience = 2 * SECOND};
    struct client *client = client_new(&config, session.pool);

    session.machine = client_machine(client);
    while (session.left && session.steps < MOST_STEPS) {
        uint8_t byte = next(&session);

        acts[byte & 15](&session, byte >> 4);
        if (!session.holds || session.job_count > HELD / 2)
            run_jobs(&session);
    }
    run_jobs(&session);
    effects_free(&session.effects);
    client_destroy(&client);
    pool_destroy(&session.pool);
    return 0;
}
