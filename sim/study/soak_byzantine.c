/* What Byzantine nodes say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/soak_inside.h"

/* A message that is about to be said. */
struct lie {
    struct life *life;
    unsigned node;
    struct msg msg;
    struct blob *payload;
    struct lie *next;
};

enum { WAYS = 6 /* of lying */ };

static uint64_t below(struct life *life, uint64_t bound)
{
    return prng_below(&life->prng, bound);
}

static void speak(void *context, struct world *world)
{
    struct lie *lie = context;

    lie->life->byzantine.speaking = true;
    world_say(world, lie->node, &lie->msg, lie->payload);
    lie->life->byzantine.speaking = false;
}

/* Has it said soon; the payload is referenced. */
static void say(struct life *life, unsigned node, const struct msg *msg,
                struct blob *payload)
{
    struct lie *lie = malloc(sizeof *lie);
    nanos pause = below(life, 2) ? 0 : (nanos)below(life, 100) * MILLISECOND;

    if (!lie)
        abort();
    *lie =
        (struct lie){life, node, *msg, blob_ref(payload), life->byzantine.lies};
    life->byzantine.lies = lie;
    life->out->lies++;
    world_at(life->world, world_now(life->world) + pause, speak, lie);
}

/* ---- numbers ---- */

static uint64_t some_number(struct life *life, uint64_t was)
{
    switch (below(life, 8)) {
    case 0:
        return 0;
    case 1:
        return was + 1;
    case 2:
        return was - 1;
    case 3:
        return UINT64_MAX - below(life, 3);
    case 4:
        return prng_next(&life->prng);
    case 5:
        return (uint64_t)1 << below(life, 64);
    default:
        return below(life, 16);
    }
}

static double some_real(struct life *life)
{
    static const double reals[] = {0,     1,    -1,     NO_SCORE, -NO_SCORE,
                                   1e300, 3e38, 1e-300, -1e-9};

    return below(life, 2) ? reals[below(life, sizeof reals / sizeof *reals)]
                          : ldexp(prng_unit(&life->prng) - 0.5,
                                  (int)below(life, 200) - 100);
}

static void some_text(struct life *life, char *out)
{
    static const char *const texts[] = {"",        "hub",  "\"\\", "a\nb",
                                        "\033[2J", "%s%n", "n 1"};

    const char *text = texts[below(life, sizeof texts / sizeof *texts)];

    memset(out, 0, MSG_TEXT_BYTES);
    (void)snprintf(out, MSG_TEXT_BYTES, "%s", text);
    if (below(life, 4) == 0)
        memset(out, 'x', MSG_TEXT_BYTES - 1);
}

/* Anything that the field may hold on a wire. */
static void change_field(struct life *life, struct msg *msg,
                         const struct msg_field *field)
{
    char *at = (char *)msg + field->offset;
    uint64_t number = 0;
    uint32_t small;
    double real;

    switch (field->type) {
    case FIELD_U32:
        memcpy(&small, at, sizeof small);
        small = (uint32_t)some_number(life, small);
        if (field->limit)
            small %= field->limit;
        memcpy(at, &small, sizeof small);
        break;
    case FIELD_U64:
    case FIELD_I64:
        memcpy(&number, at, sizeof number);
        number = some_number(life, number);
        if (field->type == FIELD_I64)
            number >>= 1;
        memcpy(at, &number, sizeof number);
        break;
    case FIELD_F64:
        real = some_real(life);
        memcpy(at, &real, sizeof real);
        break;
    case FIELD_TEXT:
        some_text(life, at);
        break;
    }
}

/* ---- payloads ---- */

/* In a life that counts: what it was, or nothing, but for its own number. */
static void change_own(struct life *life, unsigned node, struct blob *blob,
                       const struct blob *was, float value)
{
    size_t at = count_place(life, node) * sizeof value;

    memset(blob->bytes, 0, blob->size);
    if (was)
        memcpy(blob->bytes, was->bytes,
               was->size < blob->size ? was->size : blob->size);
    if (at + sizeof value <= blob->size)
        memcpy(blob->bytes + at, &value, sizeof value);
}

/* The bytes changed at a place or two, or as if it were of another size. */
static struct blob *change_payload(struct life *life, unsigned node,
                                   const struct blob *was)
{
    static const float values[] = {NAN,    INFINITY, -INFINITY, 3.4e38f,
                                   -1e38f, 1e-45f,   1e9f};
    size_t size = was ? was->size : 4 * below(life, 24);
    struct blob *blob;

    if (!was && life->plan->counts && below(life, 2))
        size = life->config.hub.chunk_elements * sizeof *values;
    if (below(life, 4) == 0)
        size = size ? size + 1 - below(life, 3) : 1;
    blob = blob_new(life->byzantine.pool, size ? size : 1);
    if (!blob)
        abort();
    if (life->plan->counts) {
        change_own(life, node, blob, was,
                   values[below(life, sizeof values / sizeof *values)]);
        blob_seal(blob);
        return blob;
    }
    memset(blob->bytes, (int)below(life, 256), blob->size);
    if (was)
        memcpy(blob->bytes, was->bytes,
               was->size < blob->size ? was->size : blob->size);
    if (below(life, 2) && blob->size >= sizeof(float))
        memcpy(blob->bytes +
                   below(life, blob->size / sizeof(float)) * sizeof(float),
               &values[below(life, sizeof values / sizeof *values)],
               sizeof(float));
    else
        blob->bytes[below(life, blob->size)] = (unsigned char)below(life, 256);
    blob_seal(blob);
    return blob;
}

/* Mostly the right checksum: a wrong one is soon seen through. */
static void check_in(struct life *life, struct msg *msg,
                     const struct blob *payload)
{
    uint64_t checksum = payload->checksum + (below(life, 8) == 0);

    if (msg->kind == MSG_CHUNK)
        msg->chunk.checksum = checksum;
    else if (msg->kind == MSG_PART)
        msg->part.checksum = checksum;
}

/* ---- messages ---- */

static bool goes_to_hub(enum msg_kind kind)
{
    const struct msg_info *info = msg_info(kind);

    return info->channel != CHANNEL_LOCAL && strcmp(info->to, "NODE") != 0;
}

/* Mostly what a member may say: for anything else it is cut at once. */
static enum msg_kind some_kind(struct life *life)
{
    static const enum msg_kind members[] = {
        MSG_OFFER, MSG_CREDIT, MSG_CLOSE,  MSG_WAIVE,   MSG_PING,
        MSG_CHUNK, MSG_ROOM,   MSG_REPORT, MSG_REVIEWED};
    enum msg_kind kind;

    if (below(life, 16))
        return members[below(life, sizeof members / sizeof *members)];
    do
        kind = (enum msg_kind)below(life, MSG_KINDS);
    while (!goes_to_hub(kind));
    return kind;
}

/* Keys keep it from speaking for others; and where steps are counted, what is
 * encoded in another way would be others' numbers. */
static void keep_identity(struct life *life, const struct msg *was,
                          struct msg *msg)
{
    if (msg->kind == MSG_HELLO &&
        (was->hello.node_low != msg->hello.node_low ||
         was->hello.node_high != msg->hello.node_high))
        msg->hello.node_high |= (uint64_t)1 << 63;
    if (msg->kind == MSG_ATTACH && was->attach.session != msg->attach.session)
        msg->attach.session = prng_next(&life->prng) | (uint64_t)1 << 63;
    if (life->plan->counts && msg->kind == MSG_CHUNK)
        msg->chunk.codec = CODEC_RAW;
}

static void change(struct life *life, unsigned node, const struct msg *was,
                   struct blob *payload)
{
    const struct msg_info *info = msg_info(was->kind);
    struct blob *other = blob_ref(payload);
    struct msg msg = *was;

    if (info->payload && below(life, 2)) {
        blob_unref(&other);
        other = change_payload(life, node, payload);
        check_in(life, &msg, other);
    }
    for (uint64_t i = below(life, 3) + !info->payload;
         i > 0 && info->field_count; i--)
        change_field(life, &msg, &info->fields[below(life, info->field_count)]);
    keep_identity(life, was, &msg);
    say(life, node, &msg, other);
    blob_unref(&other);
}

/* A message of any kind, with numbers that may be near what is right. */
static void make_up(struct life *life, unsigned node, const struct msg *near)
{
    struct msg msg = {.kind = some_kind(life)}, was = msg;
    const struct msg_info *info = msg_info(msg.kind);
    struct blob *payload = NULL;

    for (unsigned i = 0; i < info->field_count; i++)
        change_field(life, &msg, &info->fields[i]);
    if (info->fields[0].type == FIELD_U64 && near->kind == MSG_OFFER)
        memcpy((char *)&msg + info->fields[0].offset, &near->offer.exchange,
               sizeof near->offer.exchange);
    if (info->payload) {
        payload = change_payload(life, node, NULL);
        check_in(life, &msg, payload);
    }
    keep_identity(life, &was, &msg);
    say(life, node, &msg, payload);
    blob_unref(&payload);
}

static void remember(struct life *life, const struct world_message *message)
{
    struct soak_byzantine *byzantine = &life->byzantine;
    struct remembered *one =
        &byzantine->remembered[byzantine->count++ % SOAK_REMEMBERED];

    blob_unref(&one->payload);
    *one = (struct remembered){message->node, *message->msg,
                               blob_ref(message->payload)};
}

/* What it, or another Byzantine node, said before. */
static void repeat(struct life *life, unsigned node)
{
    const struct soak_byzantine *byzantine = &life->byzantine;
    unsigned known =
        byzantine->count < SOAK_REMEMBERED ? byzantine->count : SOAK_REMEMBERED;
    const struct remembered *one = &byzantine->remembered[below(life, known)];

    if (one->node == node)
        say(life, node, &one->msg, one->payload);
}

void byzantine_says(struct life *life, const struct world_message *message,
                    struct world_fate *fate)
{
    unsigned way = (unsigned)below(life, WAYS);

    if (life->byzantine.speaking)
        return;
    remember(life, message);
    if (below(life, 100) >= life->plan->lies)
        return;
    while (!life->byzantine.ways)
        life->byzantine.ways = (unsigned)below(life, 1 << WAYS);
    while (!(life->byzantine.ways >> way & 1))
        way = (way + 1) % WAYS;
    switch (way) {
    case 0: /* nothing */
        fate->copies = 0;
        break;
    case 1: /* the same, too often */
        fate->copies = 1 + (unsigned)below(life, 4);
        fate->apart = (nanos)below(life, 20) * MILLISECOND;
        break;
    case 2:
        repeat(life, message->node);
        break;
    case 3:
        make_up(life, message->node, message->msg);
        break;
    case 4: /* something else, and then the truth */
        change(life, message->node, message->msg, message->payload);
        break;
    default: /* something else instead */
        fate->copies = 0;
        change(life, message->node, message->msg, message->payload);
        break;
    }
}

void byzantine_free(struct life *life)
{
    struct soak_byzantine *byzantine = &life->byzantine;

    for (unsigned i = 0; i < SOAK_REMEMBERED; i++)
        blob_unref(&byzantine->remembered[i].payload);
    while (byzantine->lies) {
        struct lie *lie = byzantine->lies;

        byzantine->lies = lie->next;
        blob_unref(&lie->payload);
        free(lie);
    }
}
