/* Keys of CURVE (curve25519, as ZeroMQ's CURVE mechanism uses them): who is at
 * the other end of a connection, and what is said there in private.
 *
 * A node knows the hub's public key, so that nobody else can pass as the hub;
 * the hub knows the public keys of its nodes and refuses all others. One key
 * more may be let in, the enrolment key, whose connections may only say ENROL.
 * Whoever holds a secret wipes it from memory, and prints it nowhere. */
#ifndef NET_KEYS_H
#define NET_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum { KEY_BYTES = 32 };

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

/* What machines know a key by (struct event): never KEY_NONE or KEY_ENROLS. */
uint64_t key_hash(const struct key *key);
bool keys_equal(const struct key *one, const struct key *other);

#endif
