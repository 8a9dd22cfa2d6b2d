/* What the files of the engine have in common. */
#ifndef NET_ZMTP_INSIDE_H
#define NET_ZMTP_INSIDE_H

#include "net/zmtp/zmtp.h"

enum {
    GREETING_BYTES = 64,
    ZMTP_CONTEXT_BYTES = 16, /* of a PING */
    FLAG_MORE = 1,
    FLAG_LONG = 2,
    FLAG_COMMAND = 4,
    SHORT_FRAME = 255,
    SEALED_MORE = 1, /* flags inside a box */
    SEALED_COMMAND = 2,
    NONCE_BYTES = 8,
    MAC_BYTES = 16,
    MESSAGE_NAME_BYTES = 8, /* "\7MESSAGE" */
    /* So that what is in the box lies as blobs do: aligned. */
    BOX_ROOM = 64,
    BOX_AT = BOX_ROOM - ZMTP_SEAL_BYTES
};

/* Waits for `need` bytes, which go to the target; for a frame; for nothing any
 * more. */
void zmtp_expect(struct zmtp *zmtp, enum zmtp_at at, unsigned char *target,
                 size_t need);
void zmtp_expect_frame(struct zmtp *zmtp);
enum zmtp_event zmtp_fail(struct zmtp *zmtp, enum zmtp_fault fault);
/* Whether a command has this name. */
bool zmtp_is_named(const unsigned char *body, size_t size, const char *name);

/* The greeting: ours; what is wrong with as much of theirs as has come; the
 * next once it is whole. Then the steps of the handshake. */
void zmtp_put_greeting(struct zmtp *zmtp);
enum zmtp_fault zmtp_look_at_greeting(const struct zmtp *zmtp);
enum zmtp_event zmtp_greeted(struct zmtp *zmtp);
enum zmtp_event zmtp_shake(struct zmtp *zmtp);

/* Appends to what is to go; there is room by construction. */
void zmtp_put(struct zmtp *zmtp, const void *bytes, size_t size);
/* The same, a command: its body as it is. */
void zmtp_put_command(struct zmtp *zmtp, const void *body, size_t size);
void zmtp_answer_ping(struct zmtp *zmtp, const unsigned char *context,
                      size_t size);

/* Writes our metadata; returns its length, at most METADATA_BYTES. */
enum { METADATA_BYTES = 32 };
size_t zmtp_metadata(const struct zmtp *zmtp, unsigned char *out);
/* Reads theirs: FAULT_NONE if all is well. */
enum zmtp_fault zmtp_read_metadata(const struct zmtp *zmtp,
                                   const unsigned char *bytes, size_t size);
/* What an ERROR says. */
enum zmtp_fault zmtp_read_error(const unsigned char *body, size_t size);

struct nonce {
    unsigned char bytes[24];
};

/* A name of 16 bytes and a number that is used once; the next of ours; false
 * when theirs has been used, or one after it. */
struct nonce nonce_short(const char *name, const unsigned char *number);
void nonce_next(struct zmtp *zmtp, unsigned char out[NONCE_BYTES]);
bool nonce_accept(struct zmtp *zmtp, const unsigned char *bytes);

/* CURVE: the first step of a client; the next of either, with what came;
 * SHAKEN when that was the last. */
void curve_begin(struct zmtp *zmtp);
enum zmtp_event curve_step(struct zmtp *zmtp, unsigned char *body, size_t size);
/* Opens a MESSAGE in place: what was in it begins at body + ZMTP_SEAL_BYTES.
 * Returns the flags that were with it, or -1, with zmtp->fault. */
int curve_open(struct zmtp *zmtp, unsigned char *body, size_t size);
/* Writes a MESSAGE's body: ZMTP_SEAL_BYTES and `size`. */
void curve_seal(struct zmtp *zmtp, unsigned char flags, const void *bytes,
                size_t size, unsigned char *out);

#endif
