#include <assert.h>
#include <string.h>

#include "net/zmtp/inside.h"

enum {
    PING_BYTES = 7 /* its name, and a time to live */
};

const char *zmtp_fault_words(enum zmtp_fault fault)
{
    static const char *const words[] = {
#define FAULT(NAME, words) words,
#include "net/zmtp/faults.def"
#undef FAULT
    };

    return words[fault];
}

/* Commands that are not known here are read over, as RFC 37 wants. */
static enum zmtp_event take_command(struct zmtp *zmtp,
                                    const unsigned char *body, size_t size)
{
    zmtp->commands++;
    zmtp_expect_frame(zmtp);
    if (!size || size > ZMTP_COMMAND_BYTES || !body[0] ||
        (size_t)body[0] + 1 > size)
        return zmtp_fail(zmtp, ZMTP_FAULT_COMMAND);
    if (zmtp_is_named(body, size, "ERROR"))
        return zmtp_fail(zmtp, zmtp_read_error(body, size));
    if (!zmtp_is_named(body, size, "PING"))
        return ZMTP_WANTS;
    if (size < PING_BYTES || size > PING_BYTES + ZMTP_CONTEXT_BYTES)
        return zmtp_fail(zmtp, ZMTP_FAULT_COMMAND);
    zmtp_answer_ping(zmtp, body + PING_BYTES, size - PING_BYTES);
    return ZMTP_WANTS;
}

static enum zmtp_event whole_message(struct zmtp *zmtp)
{
    zmtp->more = false;
    zmtp->payload = zmtp->body;
    zmtp->body = NULL;
    zmtp_expect_frame(zmtp);
    return ZMTP_MESSAGE;
}

static enum zmtp_event header_is_there(struct zmtp *zmtp, size_t size,
                                       bool more)
{
    zmtp->header_size = size;
    zmtp->more = more;
    zmtp_expect_frame(zmtp);
    return more ? ZMTP_WANTS : whole_message(zmtp);
}

static enum zmtp_event plain_body(struct zmtp *zmtp)
{
    if (zmtp->flags & FLAG_COMMAND)
        return take_command(zmtp, zmtp->small, zmtp->need);
    if (zmtp->more)
        return whole_message(zmtp);
    return header_is_there(zmtp, zmtp->need, zmtp->flags & FLAG_MORE);
}

/* Cuts the blob down to what was in the box. */
static void unwrap(struct zmtp *zmtp, size_t size)
{
    struct blob *whole = zmtp->body;

    zmtp->body = blob_slice(whole, BOX_ROOM, size);
    blob_unref(&whole);
}

static enum zmtp_event sealed_body(struct zmtp *zmtp)
{
    unsigned char *body = zmtp->target, *inside = body + ZMTP_SEAL_BYTES;
    size_t size = zmtp->need - ZMTP_SEAL_BYTES;
    int flags = curve_open(zmtp, body, zmtp->need);
    enum zmtp_event event;

    if (flags < 0)
        return zmtp_fail(zmtp, zmtp->fault);
    if (flags == SEALED_COMMAND) {
        event = take_command(zmtp, inside, size);
        blob_unref(&zmtp->body);
        return event;
    }
    if (flags & ~SEALED_MORE)
        return zmtp_fail(zmtp, ZMTP_FAULT_FLAGS);
    if (zmtp->more) {
        if (flags & SEALED_MORE)
            return zmtp_fail(zmtp, ZMTP_FAULT_FRAMES);
        unwrap(zmtp, size);
        return whole_message(zmtp);
    }
    if (!size)
        return zmtp_fail(zmtp, ZMTP_FAULT_EMPTY);
    memcpy(zmtp->header, inside, size);
    return header_is_there(zmtp, size, flags & SEALED_MORE);
}

static enum zmtp_event plain_frame(struct zmtp *zmtp, uint64_t size)
{
    if (zmtp->flags & FLAG_COMMAND) {
        if (!size || size > ZMTP_COMMAND_BYTES)
            return zmtp_fail(zmtp, ZMTP_FAULT_COMMAND);
        zmtp_expect(zmtp, ZMTP_AT_BODY, zmtp->small, size);
    } else if (!zmtp->more) {
        if (!size)
            return zmtp_fail(zmtp, ZMTP_FAULT_EMPTY);
        if (size > ZMTP_HEADER_BYTES)
            return zmtp_fail(zmtp, ZMTP_FAULT_HEADER);
        zmtp_expect(zmtp, ZMTP_AT_BODY, zmtp->header, size);
    } else {
        if (zmtp->flags & FLAG_MORE)
            return zmtp_fail(zmtp, ZMTP_FAULT_FRAMES);
        if (size > zmtp->plan.payload_bytes)
            return zmtp_fail(zmtp, ZMTP_FAULT_PAYLOAD);
        zmtp_expect(zmtp, ZMTP_AT_ROOM, NULL, size);
        return ZMTP_ROOM;
    }
    return ZMTP_WANTS;
}

/* What a frame is stands in its box. */
static enum zmtp_event sealed_frame(struct zmtp *zmtp, uint64_t size)
{
    if (zmtp->flags & FLAG_MORE)
        return zmtp_fail(zmtp, ZMTP_FAULT_FLAGS);
    if (size < ZMTP_SEAL_BYTES)
        return zmtp_fail(zmtp, ZMTP_FAULT_BOX);
    if (!zmtp->more) {
        if (size > ZMTP_SEAL_BYTES + ZMTP_HEADER_BYTES)
            return zmtp_fail(zmtp, ZMTP_FAULT_HEADER);
        zmtp_expect(zmtp, ZMTP_AT_BODY, zmtp->small, size);
        return ZMTP_WANTS;
    }
    if (size - ZMTP_SEAL_BYTES > zmtp->plan.payload_bytes)
        return zmtp_fail(zmtp, ZMTP_FAULT_PAYLOAD);
    zmtp_expect(zmtp, ZMTP_AT_ROOM, NULL, size);
    return ZMTP_ROOM;
}

static enum zmtp_event handshake_frame(struct zmtp *zmtp, uint64_t size)
{
    if (!(zmtp->flags & FLAG_COMMAND))
        return zmtp_fail(zmtp, ZMTP_FAULT_ORDER);
    if (!size || size > ZMTP_HANDSHAKE_BYTES)
        return zmtp_fail(zmtp, ZMTP_FAULT_HANDSHAKE);
    zmtp_expect(zmtp, ZMTP_AT_BODY, zmtp->small, size);
    return ZMTP_WANTS;
}

static enum zmtp_event frame(struct zmtp *zmtp, uint64_t size)
{
    if (zmtp->expects != ZMTP_EXPECTS_MESSAGES)
        return handshake_frame(zmtp, size);
    return zmtp->plan.keys ? sealed_frame(zmtp, size) : plain_frame(zmtp, size);
}

static enum zmtp_event frame_flags(struct zmtp *zmtp)
{
    unsigned char flags = zmtp->small[0];

    if (flags & ~(FLAG_MORE | FLAG_LONG | FLAG_COMMAND) ||
        (flags & (FLAG_MORE | FLAG_COMMAND)) == (FLAG_MORE | FLAG_COMMAND))
        return zmtp_fail(zmtp, ZMTP_FAULT_FLAGS);
    zmtp->flags = flags;
    zmtp_expect(zmtp, ZMTP_AT_SIZE, zmtp->small, flags & FLAG_LONG ? 8 : 1);
    return ZMTP_WANTS;
}

static enum zmtp_event frame_size(struct zmtp *zmtp)
{
    uint64_t size = 0;

    for (size_t i = 0; i < zmtp->need; i++)
        size = size << 8 | zmtp->small[i];
    return frame(zmtp, size);
}

static enum zmtp_event body(struct zmtp *zmtp)
{
    if (zmtp->expects != ZMTP_EXPECTS_MESSAGES)
        return zmtp_shake(zmtp);
    return zmtp->plan.keys ? sealed_body(zmtp) : plain_body(zmtp);
}

void zmtp_init(struct zmtp *zmtp, const struct zmtp_plan *plan,
               const unsigned char *random)
{
    memset(zmtp, 0, sizeof *zmtp);
    zmtp->plan = *plan;
    memcpy(zmtp->random, random, sizeof zmtp->random);
    zmtp_put_greeting(zmtp);
    zmtp_expect(zmtp, ZMTP_AT_GREETING, zmtp->small, GREETING_BYTES);
}

void zmtp_free(struct zmtp *zmtp)
{
    blob_unref(&zmtp->body);
    blob_unref(&zmtp->payload);
    explicit_bzero(zmtp, sizeof *zmtp);
    zmtp->at = ZMTP_AT_END;
}

bool zmtp_want(struct zmtp *zmtp, unsigned char **place, size_t *room)
{
    *room = zmtp->at == ZMTP_AT_ROOM ? 0 : zmtp->need - zmtp->have;
    *place = *room ? zmtp->target + zmtp->have : NULL;
    return *room != 0;
}

enum zmtp_event zmtp_got(struct zmtp *zmtp, size_t size)
{
    enum zmtp_fault fault;

    zmtp->have += size;
    if (zmtp->at == ZMTP_AT_GREETING) {
        fault = zmtp_look_at_greeting(zmtp);
        if (fault)
            return zmtp_fail(zmtp, fault);
    }
    if (zmtp->have < zmtp->need)
        return ZMTP_WANTS;
    switch (zmtp->at) {
    case ZMTP_AT_GREETING:
        return zmtp_greeted(zmtp);
    case ZMTP_AT_HEAD:
        return frame_flags(zmtp);
    case ZMTP_AT_SIZE:
        return frame_size(zmtp);
    case ZMTP_AT_BODY:
        return body(zmtp);
    case ZMTP_AT_ROOM:
        return ZMTP_ROOM;
    case ZMTP_AT_END:
        break;
    }
    return ZMTP_FAILED;
}

enum zmtp_event zmtp_receive(struct zmtp *zmtp, const unsigned char *bytes,
                             size_t size, size_t *used)
{
    enum zmtp_event event = ZMTP_WANTS;
    unsigned char *place;
    size_t room;

    *used = 0;
    if (zmtp->at == ZMTP_AT_END)
        return ZMTP_FAILED;
    while (*used < size && event == ZMTP_WANTS &&
           zmtp_want(zmtp, &place, &room)) {
        if (room > size - *used)
            room = size - *used;
        memcpy(place, bytes + *used, room);
        *used += room;
        event = zmtp_got(zmtp, room);
    }
    return event;
}

size_t zmtp_room(const struct zmtp *zmtp)
{
    return zmtp->plan.keys ? zmtp->need + BOX_AT : zmtp->need;
}

enum zmtp_event zmtp_give(struct zmtp *zmtp, struct blob *blob)
{
    unsigned char *target =
        zmtp->plan.keys ? blob->bytes + BOX_AT : blob->bytes;

    assert(zmtp->at == ZMTP_AT_ROOM && blob->size == zmtp_room(zmtp));
    zmtp->body = blob;
    zmtp_expect(zmtp, ZMTP_AT_BODY, target, zmtp->need);
    return zmtp->need ? ZMTP_WANTS : body(zmtp);
}
