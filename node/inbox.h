/* Results on their way to the parameters: collects the chunks of each exchange
 * until all are there, then applies them at once to a flat vector.
 *
 * Pure and without locks: the library keeps one on the training thread, the
 * simulated trainer another. It holds at most INBOX_EXCHANGES exchanges of
 * one vector each, by reference. Each chunk says where in the vector it begins
 * and how many there are in all.
 *
 * An anchor is what the parameters are pulled to at every iteration: the
 * newest result that was applied, before the first the starting parameters
 * (LSGD's reference code and SDTL call it local pulling). */
#ifndef NODE_INBOX_H
#define NODE_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/msg.h"
#include "core/blob.h"
#include "core/schema.h"
#include "node/pacer.h"
#include "node/vector.h"

/* All that may be in flight, and exchange 0. */
enum { INBOX_EXCHANGES = PACER_FLIGHT + 2 };

struct inbox_part {
    struct blob *payload; /* of float32; NULL: not here */
    struct blob *anchor;  /* what becomes the anchor with it, or NULL */
    size_t first;         /* its first element in the vector */
    enum verb verb;
    double weight;
};

struct inbox_exchange {
    bool used;
    uint64_t exchange;
    uint32_t arrived, expected; /* parts */
    uint32_t capacity;
    struct inbox_part *parts; /* by chunk */
};

struct inbox {
    size_t elements;                     /* of the vector */
    const struct statistics *statistics; /* of it; NULL: none. Not ours */
    double share;  /* how far averages go to what comes, see inbox_apply */
    unsigned used; /* of the list */
    struct inbox_exchange list[INBOX_EXCHANGES];
};

struct inbox_optimizer {
    /* Takes a part of a merged gradient, elements [first, first + count), to
     * the optimizer; parts come in order, and cover the vector. */
    void (*step)(void *context, const float *gradient, size_t first,
                 size_t count);
    void *context;
    /* Moves parameters that lie elsewhere: x = keep x + scale v for elements
     * [first, first + count). NULL: they lie in the spans. */
    void (*change)(void *context, double keep, double scale,
                   const float *values, size_t first, size_t count);
    /* The same for statistics of which the largest counts: x = max(x, v). */
    void (*raise_to)(void *context, const float *values, size_t first,
                     size_t count);
};

void inbox_init(struct inbox *inbox, size_t elements);
void inbox_free(struct inbox *inbox);

/* References the payload. A chunk that is there already, lies outside the
 * vector or finds no place is left out. False: there is no memory for it. */
bool inbox_add(struct inbox *inbox, const struct msg_local_result *apply,
               struct blob *payload);
bool inbox_complete(const struct inbox *inbox, uint64_t exchange);
/* Applies a complete exchange by the verbs of its chunks to a vector that lies
 * in spans, in order and `elements` long together, and drops it. REBASE:
 * x += v. REPLACE: x = v. PULL: x = (1-a)x + a v. ADD: x += a v. STEP: given to
 * the optimizer. Statistics are not moved by what was learnt: where the result
 * has them as they are (REBASE with a = 1, PULL), x goes to v by `share` of the
 * way (PULL: at most a), or, if the largest counts, is raised to it; so what
 * are above 0 stay there, whatever x has become since. What came for the anchor
 * goes to anchor[elements], if that is not NULL. Returns how many elements it
 * moved. */
size_t inbox_apply(struct inbox *inbox, uint64_t exchange,
                   const struct span *spans, float *anchor,
                   const struct inbox_optimizer *optimizer);
/* Whether a complete exchange replaces parameters. */
bool inbox_replaces(const struct inbox *inbox, uint64_t exchange);
/* After a local step: x = (1-q)x + q anchor with q = p/k for a schedule's
 * anchor p and period k, but for statistics; nothing at all where p is 0, or no
 * part in a run. */
void inbox_pull(const struct inbox *inbox,
                const struct msg_local_tune *schedule, const struct span *spans,
                const float *anchor, const struct inbox_optimizer *optimizer);
/* Drops what is here of the exchanges first..last. */
void inbox_forget(struct inbox *inbox, uint64_t first, uint64_t last);

#endif
