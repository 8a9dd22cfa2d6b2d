/* The wire: any bytes at either end, before, in and after the handshake, with
 * keys and without; also inside boxes that open.
 *
 * The first byte says which: 1 the client hears them, 2 with keys, 4 hands have
 * been shaken. Then records of a byte n: n bytes as they are; or, from 128 on,
 * with keys and hands shaken, a box of n - 128 bytes that opens, behind a byte
 * of flags; or, before, a byte of what the other end really says next is
 * changed. */
#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "net/zmtp/inside.h"
#include "tests/fuzz/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { CLIENT = 1, KEYED = 2, SHAKEN = 4, BOXED = 128, LARGEST = 5000 };

struct ends {
    struct zmtp tested, other;
    struct pool *pool;
    bool over;
};

static enum zmtp_fault admit(void *self, const unsigned char *key)
{
    (void)self;
    return key[0] % 8 ? ZMTP_FAULT_NONE : ZMTP_FAULT_KEY;
}

static struct zmtp_keys tested_keys, other_keys;

static void make_keys(struct zmtp_keys *keys, unsigned char seed)
{
    memset(keys->secret, seed, sizeof keys->secret);
    (void)crypto_scalarmult_base(keys->shown, keys->secret);
}

static void make_all_keys(void)
{
    if (tested_keys.secret[0])
        return;
    assert(sodium_init() >= 0);
    make_keys(&tested_keys, 7);
    make_keys(&other_keys, 9);
    memcpy(tested_keys.server, other_keys.shown, ZMTP_KEY_BYTES);
    memcpy(other_keys.server, tested_keys.shown, ZMTP_KEY_BYTES);
}

static void open_ends(struct ends *ends, unsigned how)
{
    struct zmtp_plan plan = {.payload_bytes = LARGEST, .admit = admit};
    unsigned char random[ZMTP_RANDOM_BYTES];

    memset(ends, 0, sizeof *ends);
    ends->pool = pool_new();
    make_all_keys();
    memset(random, 1, sizeof random);
    plan.server = !(how & CLIENT);
    plan.keys = how & KEYED ? &tested_keys : NULL;
    zmtp_init(&ends->tested, &plan, random);
    memset(random, 2, sizeof random);
    plan.server = !plan.server;
    plan.keys = how & KEYED ? &other_keys : NULL;
    zmtp_init(&ends->other, &plan, random);
}

static void look(struct ends *ends, enum zmtp_event event)
{
    struct zmtp *zmtp = &ends->tested;

    if (event == ZMTP_MESSAGE) {
        assert(zmtp->header_size > 0 && zmtp->header_size <= ZMTP_HEADER_BYTES);
        assert(!zmtp->payload || zmtp->payload->size <= LARGEST);
        blob_unref(&zmtp->payload);
    }
    if (event == ZMTP_FAILED) {
        assert(zmtp->fault != ZMTP_FAULT_NONE && zmtp->fault < ZMTP_FAULTS);
        assert(*zmtp_fault_words(zmtp->fault));
        ends->over = true;
    }
}

static void hear(struct ends *ends, const unsigned char *bytes, size_t size)
{
    struct zmtp *zmtp = &ends->tested;

    while (size && !ends->over) {
        size_t used;
        enum zmtp_event event = zmtp_receive(zmtp, bytes, size, &used);

        bytes += used;
        size -= used;
        if (event == ZMTP_ROOM) {
            assert(zmtp_room(zmtp) <= LARGEST + 64);
            event = zmtp_give(zmtp, blob_new(ends->pool, zmtp_room(zmtp)));
        }
        look(ends, event);
    }
}

/* What one end says, to the other; `change` is put over its byte at `at`. */
static void speak(struct ends *ends, bool tested, size_t at,
                  unsigned char change)
{
    struct zmtp *from = tested ? &ends->tested : &ends->other;
    unsigned char copy[ZMTP_OUT_BYTES];
    const unsigned char *bytes;
    size_t size, used;

    bytes = zmtp_output(from, &size);
    assert(size <= sizeof copy);
    memcpy(copy, bytes, size);
    zmtp_sent(from, size);
    if (at < size)
        copy[at] ^= change;
    if (!tested) {
        hear(ends, copy, size);
        return;
    }
    bytes = copy;
    while (size) {
        enum zmtp_event event = zmtp_receive(&ends->other, bytes, size, &used);

        if (event == ZMTP_FAILED || !used)
            return;
        bytes += used;
        size -= used;
    }
}

static void settle(struct ends *ends)
{
    for (unsigned i = 0; i < 4; i++) {
        speak(ends, false, SIZE_MAX, 0);
        speak(ends, true, SIZE_MAX, 0);
    }
}

static void hear_box(struct ends *ends, struct session *session, unsigned size)
{
    unsigned char flags = next(session), inside[BOXED], frame[BOXED + 64];
    size_t whole = size + ZMTP_SEAL_BYTES;

    for (unsigned i = 0; i < size; i++)
        inside[i] = next(session);
    frame[0] = 0;
    frame[1] = (unsigned char)whole;
    curve_seal(&ends->other, flags, inside, size, frame + 2);
    hear(ends, frame, whole + 2);
}

static void record(struct ends *ends, struct session *session, unsigned how)
{
    unsigned char piece[BOXED], size = next(session);
    size_t at;

    if (size < BOXED) {
        for (unsigned i = 0; i < size; i++)
            piece[i] = next(session);
        hear(ends, piece, size);
    } else if (how & KEYED && how & SHAKEN) {
        hear_box(ends, session, size - BOXED);
    } else {
        at = next(session) + 256u * (size - BOXED);
        speak(ends, false, at, next(session));
    }
    speak(ends, true, SIZE_MAX, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct session session = {.bytes = bytes, .left = size};
    unsigned how = next(&session);
    struct ends ends;

    open_ends(&ends, how);
    if (how & SHAKEN)
        settle(&ends);
    while (session.left && !ends.over)
        record(&ends, &session, how);
    zmtp_free(&ends.tested);
    zmtp_free(&ends.other);
    pool_destroy(&ends.pool);
    return 0;
}
