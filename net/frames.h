/* Messages as frames: at most a header and a payload, behind a routing id on
 * sockets that have many peers. Payloads are never copied when they are large.
 */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "core/blob.h"
#include "core/status.h"

enum {
    FRAMES_WRAP_BYTES = 8192
}; /* a smaller payload is copied: what libzmq
      gives is then a part of a larger buffer */

/* What libzmq names a connection that does not name itself, as ours never do:
 * a zero byte and this number. */
typedef uint32_t routing_id;

/* What came, not looked into yet. */
struct arrival {
    routing_id routing; /* of a ROUTER */
    bool unnamed;       /* false: the peer has named itself, against us */
    int fd;             /* of the connection when it came, or -1 */
    unsigned frames;    /* 1: header; 2: and payload; more have been thrown
                           away */
    size_t bytes;       /* of all frames, on the wire */
    size_t seal_bytes;  /* what encryption adds to each */
    zmq_msg_t header, payload;
};

/* Takes the next message off the socket; false when there is none. Release it
 * after use. `sealed`: on the wire it was encrypted. */
bool frames_receive(void *socket, bool routed, bool sealed,
                    struct arrival *out);
void frames_release(struct arrival *arrival);

/* The payload as a blob of one reference, the caller's; may be asked for once.
 * NULL when there is no memory. */
struct blob *frames_payload(struct arrival *arrival, struct pool *pool);

/* Sends without waiting; `to` is NULL on a DEALER, `payload` may be NULL and
 * is referenced until it is on the wire. AGAIN: the peer's queue is full (or,
 * on a DEALER, there is no peer); UNAVAILABLE: the peer is gone. Then nothing
 * has been sent. */
enum status frames_send(void *socket, const routing_id *to, const void *header,
                        size_t size, struct blob *payload) MUST_CHECK;

#endif
