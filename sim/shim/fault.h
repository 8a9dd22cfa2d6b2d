/* The faults of a bad network in one way of a connection, beside delay: bits
 * that flip, messages that come twice or behind the next one, connections that
 * end in the middle of one, or stand still.
 *
 * TCP hides most of this from programs. What is left comes from broken memory
 * and cards, from proxies, and from senders that repeat themselves; hub and
 * nodes must bear it from anybody. Messages are those of ZMTP 3 (RFC 23): a
 * greeting of 64 bytes, then frames. Connections that are encrypted have none
 * that can be seen: there, only bits flip.
 *
 *     shim_fault_put(fault, now, bytes, size);         that many have come
 *     size = shim_fault_ready(fault, now, &bytes);     what may go on
 *     shim_fault_consume(fault, size);
 *     shim_fault_next(fault);                          when to look again
 *
 * Pure; times come in and never go back. */
#ifndef SIM_SHIM_FAULT_H
#define SIM_SHIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

/* How long a way stands still. A node is silent after 2 s. */
#define SHIM_STALL (3 * SECOND)
/* The longest that a message waits for another to go before it. */
#define SHIM_SWAP (100 * MILLISECOND)

/* Probabilities. */
struct shim_faults {
    double flip; /* per MiB of payloads on bulk: one bit of one of them */
    double duplicate, swap; /* per message on bulk */
    double cut, stall;      /* per message */
};

/* The faults so far. */
struct shim_fault_figures {
    uint64_t flips, cuts, duplicates, swaps, stalls;
};

struct shim_fault;

bool shim_faults_any(const struct shim_faults *faults);
/* Borrows the faults and the figures. NULL: no memory. */
struct shim_fault *shim_fault_new(const struct shim_faults *faults, bool bulk,
                                  uint64_t seed,
                                  struct shim_fault_figures *figures);
void shim_fault_destroy(struct shim_fault **fault);

/* False: no memory. Bytes behind a cut are dropped. */
bool shim_fault_put(struct shim_fault *fault, nanos now, const void *bytes,
                    size_t size);
/* Nothing more will be put in: nothing waits for it any longer. */
void shim_fault_end(struct shim_fault *fault);
/* Valid until the next call. */
size_t shim_fault_ready(struct shim_fault *fault, nanos now,
                        const void **bytes);
void shim_fault_consume(struct shim_fault *fault, size_t size);
/* Whether the connection is to be reset, once nothing is ready. */
bool shim_fault_broken(const struct shim_fault *fault);
/* Whether its messages cannot be seen. */
bool shim_fault_blind(const struct shim_fault *fault);
/* When more may be ready though nothing is put in; NEVER. */
nanos shim_fault_next(const struct shim_fault *fault);

#endif
