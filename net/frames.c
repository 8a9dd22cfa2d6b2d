#include "net/frames.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUTING_BYTES = 5,
    SHORT_FRAME = 255,
    SHORT_HEAD = 2,
    LONG_HEAD = 9,
    SEAL_BYTES = 33 /* CURVE: a name, a nonce, a code, the frame's flags */
};

/* Counts a frame as it was on the wire (ZMTP 3.1: flags and 1 or 8 bytes of
 * size). */
static void count_frame(struct arrival *out, zmq_msg_t *frame)
{
    size_t size = zmq_msg_size(frame) + out->seal_bytes;

    out->frames++;
    out->bytes += size + (size <= SHORT_FRAME ? SHORT_HEAD : LONG_HEAD);
}

static bool receive_frame(void *socket, zmq_msg_t *frame)
{
    int result;

    do {
        result = zmq_msg_recv(frame, socket, ZMQ_DONTWAIT);
    } while (result < 0 && errno == EINTR);
    return result >= 0;
}

/* Its own ids are a zero and a number that it counts up, big-endian. */
static void read_routing(zmq_msg_t *frame, struct arrival *out)
{
    const unsigned char *bytes = zmq_msg_data(frame);

    out->unnamed = zmq_msg_size(frame) == ROUTING_BYTES && bytes[0] == 0;
    if (out->unnamed)
        memcpy(&out->routing, bytes + 1, sizeof out->routing);
    out->routing = be32toh(out->routing);
}

static void discard_rest(void *socket, struct arrival *out)
{
    zmq_msg_t frame;
    bool more = true;

    (void)zmq_msg_init(&frame);
    while (more && receive_frame(socket, &frame)) {
        count_frame(out, &frame);
        more = zmq_msg_more(&frame);
    }
    (void)zmq_msg_close(&frame);
}

/* Reads a frame of a message that has begun: all of it is there. */
static bool next_frame(void *socket, zmq_msg_t *frame, struct arrival *out)
{
    bool here = receive_frame(socket, frame);

    assert(here);
    count_frame(out, frame);
    return zmq_msg_more(frame);
}

bool frames_receive(void *socket, bool routed, bool sealed,
                    struct arrival *out)
{
    bool more;

    memset(out, 0, sizeof *out);
    out->unnamed = !routed;
    out->seal_bytes = sealed ? SEAL_BYTES : 0;
    (void)zmq_msg_init(&out->header);
    (void)zmq_msg_init(&out->payload);
    if (!receive_frame(socket, &out->header)) {
        frames_release(out);
        return false;
    }
    more = zmq_msg_more(&out->header);
    if (routed) {
        read_routing(&out->header, out);
        more = more && next_frame(socket, &out->header, out);
    } else {
        count_frame(out, &out->header);
    }
    out->fd = zmq_msg_get(&out->header, ZMQ_SRCFD);
    if (more && next_frame(socket, &out->payload, out))
        discard_rest(socket, out);
    return true;
}

void frames_release(struct arrival *arrival)
{
    (void)zmq_msg_close(&arrival->header);
    (void)zmq_msg_close(&arrival->payload);
}

static void release_frame(void *of)
{
    (void)zmq_msg_close(of);
    free(of);
}

static struct blob *wrap(zmq_msg_t *payload, struct pool *pool)
{
    zmq_msg_t *kept = malloc(sizeof *kept);

    if (!kept)
        return NULL;
    (void)zmq_msg_init(kept);
    (void)zmq_msg_move(kept, payload);
    return blob_wrap(pool, zmq_msg_data(kept), zmq_msg_size(kept),
                     release_frame, kept);
}

struct blob *frames_payload(struct arrival *arrival, struct pool *pool)
{
    void *bytes = zmq_msg_data(&arrival->payload);
    size_t size = zmq_msg_size(&arrival->payload);
    struct blob *blob;

    if (size >= FRAMES_WRAP_BYTES && (uintptr_t)bytes % sizeof(double) == 0)
        return wrap(&arrival->payload, pool);
    blob = blob_new(pool, size);
    if (blob && size)
        memcpy(blob->bytes, bytes, size);
    return blob;
}

/* libzmq calls it on its own threads. */
static void release_blob(void *bytes, void *hint)
{
    struct blob *blob = hint;

    (void)bytes;
    blob_unref(&blob);
}

static enum status send_failed(void)
{
    return errno == EAGAIN || errno == EINTR ? STATUS_AGAIN
                                             : STATUS_UNAVAILABLE;
}

static enum status send_payload(void *socket, struct blob *payload)
{
    zmq_msg_t frame;

    if (zmq_msg_init_data(&frame, payload->bytes, payload->size, release_blob,
                          payload) != 0)
        abort();
    (void)blob_ref(payload);
    if (zmq_msg_send(&frame, socket, ZMQ_DONTWAIT) >= 0)
        return STATUS_OK;
    (void)zmq_msg_close(&frame);
    return STATUS_UNAVAILABLE;
}

enum status frames_send(void *socket, const routing_id *to, const void *header,
                        size_t size, struct blob *payload)
{
    int more = payload ? ZMQ_SNDMORE : 0;

    if (to) {
        unsigned char name[ROUTING_BYTES] = {0};
        routing_id number = htobe32(*to);

        memcpy(name + 1, &number, sizeof number);
        if (zmq_send(socket, name, sizeof name, ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
            return send_failed();
    }
    if (zmq_send(socket, header, size, ZMQ_DONTWAIT | more) < 0)
        return send_failed();
    return payload ? send_payload(socket, payload) : STATUS_OK;
}
