/* A crowd of nodes on one thread, which speak the protocol and do nothing else,
 * for measuring hubs: each offers a fragment of one chunk, sends it when it is
 * granted, takes the result and offers the next. The hub is on 127.0.0.1, at
 * CROWD_PORT, and lets nodes found its centre. What goes wrong ends the program
 * (give_up); so does a crowd that lives for 100 seconds. */
#ifndef BENCH_KIT_CROWD_H
#define BENCH_KIT_CROWD_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    CROWD_PORT = 17541,
    CROWD_CHUNK_BYTES = 256 * 1024,
    CROWD_CHUNK_ELEMENTS = CROWD_CHUNK_BYTES / 4
};

struct crowd;

/* Nobody yet, but room for `most`; the model has `chunks` chunks of zeros. */
struct crowd *crowd_open(unsigned most, uint32_t chunks);
void crowd_close(struct crowd **crowd);

/* One more node says HELLO; all answer what has come for them. */
void crowd_come(struct crowd *crowd);

/* Lives until the first node, which founds the centre, may go. */
void crowd_found(struct crowd *crowd);

/* Each node offers; from now on also whenever its result is there, until there
 * have been so many offers. */
void crowd_offer(struct crowd *crowd, uint64_t offers);

/* Lives until so many results have come in all, and as many nodes as that have
 * been seen to attach. */
void crowd_live(struct crowd *crowd, uint64_t results,
                const atomic_uint *attached, unsigned nodes);

#endif
