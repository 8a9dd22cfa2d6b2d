/* Keys of CURVE (curve25519, as ZeroMQ's CURVE mechanism uses them): who is at
 * the other end of a connection, and what is said there in private.
 *
 * A node knows the hub's public key, so that nobody else can pass as the hub;
 * the hub knows the public keys of its nodes and refuses all others. One key
 * more may be let in, the enrolment key, whose connections may only say ENROL.
 * Secrets are wiped from memory by key_pair_wipe and printed nowhere. */
#ifndef NET_KEYS_H
#define NET_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { KEY_BYTES = 32, KEY_TEXT_BYTES = 41 /* Z85, with its NUL */ };

struct key {
    uint8_t bytes[KEY_BYTES];
};

struct key_pair {
    struct key shown, secret; /* the public and the secret half */
};

/* What a driver is given. All zero: no keys, nothing is encrypted. */
struct net_keys {
    bool on;
    struct key_pair own;
    struct key hub; /* of a node: whom it wants to talk to */
};

/* A new pair; UNAVAILABLE when the system has no random numbers. */
enum status key_pair_make(struct key_pair *out, struct why *why) MUST_CHECK;
/* Makes the public half from the secret one; false when there is none. */
bool key_pair_complete(struct key_pair *pair);
void key_pair_wipe(struct key_pair *pair);

/* As Z85 text, and back; false when the text is no key. */
void key_print(const struct key *key, char text[KEY_TEXT_BYTES]);
bool key_parse(const char *text, size_t length, struct key *out);

/* What machines know a key by (struct event): never KEY_NONE or KEY_ENROLS. */
uint64_t key_hash(const struct key *key);
bool keys_equal(const struct key *one, const struct key *other);

#endif
