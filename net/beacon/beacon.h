/* How a node finds a hub on its network segment without its address: the hub
 * broadcasts a UDP datagram every half second (net/beacon/cast.h), the node
 * listens for a moment. A datagram is a hint that anybody could send: who the
 * hub really is, its key proves when a node connects.
 *
 * CZMQ is kept to cast_zbeacon.c: it installs no signal handler, reads no
 * variable of the environment and prints nothing. No process forks after it was
 * used. One thread only. */
#ifndef NET_BEACON_BEACON_H
#define NET_BEACON_BEACON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/endpoint.h"
#include "core/status.h"
#include "net/keys.h"

enum {
    BEACON_PORT = DEFAULT_PORT, /* of UDP, whatever the hub's port is */
    BEACON_BYTES = 36,
    BEACON_FINGERPRINT_BYTES = 16,
    BEACON_MOST = 16 /* hubs that a node tells apart */
};

/* What a hub says of itself. */
struct beacon_hub {
    struct endpoint at; /* host: where the datagram came from */
    uint64_t run;
    bool keyed; /* nodes need a key; then the fingerprint of the hub's: */
    uint8_t fingerprint[BEACON_FINGERPRINT_BYTES];
};

/* The datagram: 8 bytes "starsw 1", u16 port, u16 1 with keys or else 0, u64
 * run, the fingerprint or zeros; little-endian. `host` is not in it. */
void beacon_write(const struct beacon_hub *hub, uint8_t out[BEACON_BYTES]);
/* False, and `out` unchanged: no datagram of a hub. Does not set the host. */
bool beacon_read(const uint8_t *bytes, size_t size, struct beacon_hub *out);

/* BLAKE2b of a public key, cut to 16 bytes: one cannot go back to the key. */
void beacon_fingerprint(const struct key *shown,
                        uint8_t out[BEACON_FINGERPRINT_BYTES]);

struct beacon;

/* Announces `hub` from now on, on the segment of the address that it listens
 * on, or with 0.0.0.0 on all; with run 0: once its run is set. UNAVAILABLE:
 * that network has no broadcast. */
enum status beacon_announce(const struct beacon_hub *hub, struct beacon **out,
                            struct why *why) MUST_CHECK;
/* The hub's run is this one now. NULL: nothing. */
void beacon_set_run(struct beacon *beacon, uint64_t run);
/* Ends it and sets the pointer to NULL; also of NULL. */
void beacon_close(struct beacon **beacon);

/* Listens until `most` milliseconds have passed, or `more` since the first hub
 * was heard; returns how many there are in `out`, the first heard first. One
 * that is heard from several addresses is one, at the first of them. */
unsigned beacon_find(struct beacon_hub out[BEACON_MOST], unsigned most,
                     unsigned more);

#endif
