/* A crowd of nodes on one thread, which speak the protocol and do nothing else,
 * for measuring hubs: each offers a fragment of one chunk, sends it when it is
 * granted, takes the result and offers the next. The hub is on 127.0.0.1 and
 * lets nodes found its centre. What goes wrong ends the program (give_up); so
 * does a crowd that lives for 100 seconds. */
#ifndef BENCH_KIT_CROWD_H
#define BENCH_KIT_CROWD_H

#include <stdatomic.h>
#include <stdint.h>

#include "net/keys.h"

enum {
    CROWD_CHUNK_BYTES = 256 * 1024,
    CROWD_CHUNK_ELEMENTS = CROWD_CHUNK_BYTES / 4
};

struct crowd;

/* Nobody yet, but room for `most`; the model has `chunks` chunks of zeros.
 * `keys` are NULL or `most` of them, in the order in which nodes come, and stay
 * the caller's. */
struct crowd *crowd_open(unsigned port, unsigned most, uint32_t chunks,
                         const struct net_keys *keys);
void crowd_close(struct crowd **crowd);

/* One more node says HELLO; all answer what has come for them. */
void crowd_come(struct crowd *crowd);

/* Lives until the first node, which founds the centre, may go. */
void crowd_found(struct crowd *crowd);

/* Each node offers; from now on also whenever its result is there, until there
 * have been so many offers. */
void crowd_offer(struct crowd *crowd, uint64_t offers);

/* Lives until so many results have come in all, and the hub, on another thread
 * or in another process, has counted as many as that. */
void crowd_live(struct crowd *crowd, uint64_t results,
                const atomic_uint *counted, unsigned many);

#endif
