/* ZMTP 3.1, the wire protocol of ZeroMQ (RFC 37), as a machine over bytes.
 *
 * One engine is one end of one connection: a server is what a ROUTER is, a
 * client what a DEALER is. It is given the bytes that came and says what they
 * are; it is asked for the bytes that are to go. It opens no socket, reads no
 * clock and draws no random number. The mechanisms are NULL, and CURVE
 * (RFC 26) where there are keys.
 *
 * What it takes is less than ZMTP allows: messages of a header and at most one
 * payload, each with a limit that is checked before the first byte of it is
 * kept. Anything else is a fault, and then nothing more is taken. The name
 * that a peer gives itself (Identity) is read over.
 *
 *     while (zmtp_want(engine, &place, &room)) {
 *         ... receive at most `room` bytes to `place` ...
 *         switch (zmtp_got(engine, received)) ...
 *     }
 *
 * A large payload so goes from the system to the blob in which it stays. */
#ifndef NET_ZMTP_ZMTP_H
#define NET_ZMTP_ZMTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/blob.h"

enum {
    ZMTP_KEY_BYTES = 32,
    ZMTP_HEADER_BYTES = 2048,    /* largest header */
    ZMTP_COMMAND_BYTES = 512,    /* largest command, once hands are shaken */
    ZMTP_HANDSHAKE_BYTES = 1024, /* largest step of the handshake */
    ZMTP_RANDOM_BYTES = 144,
    ZMTP_HEAD_BYTES = 9, /* before a frame, at most */
    ZMTP_SEAL_BYTES = 33 /* what CURVE adds to a frame */
};

enum zmtp_fault {
#define FAULT(NAME, words) ZMTP_FAULT_##NAME,
#include "net/zmtp/faults.def"
#undef FAULT
    ZMTP_FAULTS
};

const char *zmtp_fault_words(enum zmtp_fault fault);

struct zmtp_keys {
    unsigned char shown[ZMTP_KEY_BYTES], secret[ZMTP_KEY_BYTES];
    unsigned char server[ZMTP_KEY_BYTES]; /* of a client: the server's */
};

struct zmtp_plan {
    bool server;
    const struct zmtp_keys *keys; /* borrowed; NULL: none */
    size_t payload_bytes;         /* largest payload */
    /* Of a server with keys: whether who has proved this key may come in.
     * FAULT_NONE, or KEY or BANNED. */
    enum zmtp_fault (*admit)(void *self, const unsigned char *key);
    void *self;
};

enum zmtp_event {
    ZMTP_WANTS,   /* more bytes */
    ZMTP_SHAKEN,  /* hands are shaken: messages may go, once */
    ZMTP_ROOM,    /* a blob for a payload: zmtp_give */
    ZMTP_MESSAGE, /* header, and payload or NULL */
    ZMTP_FAILED   /* fault says why; what is to go should still go */
};

enum { ZMTP_SMALL_BYTES = ZMTP_HEADER_BYTES + 64, ZMTP_OUT_BYTES = 1024 };

struct zmtp {
    struct zmtp_plan plan; /* payload_bytes may be changed between frames */
    /* For the caller. */
    enum zmtp_fault fault;
    unsigned char header[ZMTP_HEADER_BYTES];
    size_t header_size;
    struct blob *payload; /* of a MESSAGE: to be taken over, with NULL left */
    unsigned char peer_key[ZMTP_KEY_BYTES]; /* of a server, once shaken */
    unsigned commands; /* that came since this was last set to 0 */
    /* The engine's own. */
    enum zmtp_at {
        ZMTP_AT_GREETING,
        ZMTP_AT_HEAD,
        ZMTP_AT_SIZE,
        ZMTP_AT_BODY,
        ZMTP_AT_ROOM,
        ZMTP_AT_END
    } at;
    enum {
        ZMTP_EXPECTS_READY,
        ZMTP_EXPECTS_HELLO,
        ZMTP_EXPECTS_WELCOME,
        ZMTP_EXPECTS_INITIATE,
        ZMTP_EXPECTS_MESSAGES
    } expects;
    unsigned char *target; /* where the next bytes go */
    size_t have, need;
    unsigned char flags;
    bool more;         /* the header is there, its payload is not */
    struct blob *body; /* of the payload that comes */
    unsigned char small[ZMTP_SMALL_BYTES];
    unsigned char out[ZMTP_OUT_BYTES];
    size_t out_size, out_sent;
    uint64_t nonce, peer_nonce; /* last used */
    unsigned char random[ZMTP_RANDOM_BYTES];
    unsigned char transient[ZMTP_KEY_BYTES]; /* secret, of this connection */
    unsigned char transient_shown[ZMTP_KEY_BYTES];
    unsigned char peer_transient[ZMTP_KEY_BYTES];
    unsigned char session[ZMTP_KEY_BYTES]; /* what messages are sealed with */
};

/* `random` is ZMTP_RANDOM_BYTES, different and secret for each connection. */
void zmtp_init(struct zmtp *zmtp, const struct zmtp_plan *plan,
               const unsigned char *random);
/* Wipes its keys; releases what has come of a message. */
void zmtp_free(struct zmtp *zmtp);

/* Where the next bytes go, and at most how many; false while it takes none:
 * it waits for room, or has failed. */
bool zmtp_want(struct zmtp *zmtp, unsigned char **place, size_t *room);
/* So many have been put there. */
enum zmtp_event zmtp_got(struct zmtp *zmtp, size_t size);
/* Both, for bytes that are elsewhere: up to the next event; `used` of them have
 * been taken. */
enum zmtp_event zmtp_receive(struct zmtp *zmtp, const unsigned char *bytes,
                             size_t size, size_t *used);
/* After ROOM: how large the blob is to be; takes it over. */
size_t zmtp_room(const struct zmtp *zmtp);
enum zmtp_event zmtp_give(struct zmtp *zmtp, struct blob *blob);

/* What the engine itself has to say: greeting, handshake, PONG. It goes between
 * messages, before the next is encoded. */
const unsigned char *zmtp_output(const struct zmtp *zmtp, size_t *size);
void zmtp_sent(struct zmtp *zmtp, size_t size);

/* The head of a frame where there are no keys; returns its length. */
size_t zmtp_head(bool more, size_t size, unsigned char out[ZMTP_HEAD_BYTES]);
/* Bytes of a frame where there are keys, and the frame: in the order in which
 * they are sent. */
size_t zmtp_sealed_bytes(size_t size);
void zmtp_seal(struct zmtp *zmtp, bool more, const void *bytes, size_t size,
               unsigned char *out);

#endif
