/* A node on a desk: the test plays its trainer and its hub.
 *
 *     struct desk *desk = desk_new();
 *     desk_ready(desk, 1);              its parameters are all 1; a member
 *     desk_offers(desk, 1, 3);          exchange 1 is taken at x = 3
 *     desk_chunk(desk, 1, 0)            what it sent: u = 2
 *     desk_answers(desk, 1, VERB_REBASE, 5);
 *     desk_apply(desk, 1, 0)            what the trainer is to add: c = 2
 *     desk_applied(desk, 1);
 *     desk_destroy(&desk);
 *
 * Ten elements in chunks of 4, 4 and 2; k = 1, d = 4; a grant for all chunks
 * comes with each offer unless `ungranted`. */
#ifndef TESTS_NODE_DESK_H
#define TESTS_NODE_DESK_H

#include "node/node.h"
#include "tests/hand.h"

enum { DESK_ELEMENTS = 10, DESK_CHUNKS = 3, DESK_CHUNK = 4 };

struct desk {
    struct hand hand;
    struct schema *schema;
    struct node *node;
    struct msg_welcome welcome; /* what the hub says */
    uint64_t version;           /* of the results */
    double weight;              /* of the results, at first 1 */
    bool ungranted;
};

struct desk *desk_new(void);
/* The same, whose trainer can evaluate parameters. */
struct desk *desk_reviewing(void);
/* One that is ready at 1 and has so much room for what is promised. */
struct desk *desk_promising(uint64_t bytes);
/* A desk that is ready at 1, and the same with exchange 1 offered at 3. */
struct desk *desk_member(void);
struct desk *desk_offering(void);
void desk_destroy(struct desk **desk);
size_t desk_length(uint32_t chunk);

/* The trainer gives its starting parameters. */
void desk_begins(struct desk *desk, double value);
/* Both connections are there; both are lost. */
void desk_connects(struct desk *desk);
void desk_breaks(struct desk *desk);
/* WELCOME with a new session. */
void desk_welcomes(struct desk *desk, enum start start);
/* WELCOME in the same session. */
void desk_restarts(struct desk *desk, enum start start);
void desk_ready(struct desk *desk, double value);
/* Connects anew and is told to go on. */
void desk_rejoins(struct desk *desk);

void desk_offers(struct desk *desk, uint64_t exchange, double value);
/* The trainer says just this. */
void desk_takes(struct desk *desk, const struct msg_snapshot *snapshot,
                struct blob *values);
void desk_leaves(struct desk *desk, uint64_t exchange, double value);
void desk_grants(struct desk *desk, uint64_t exchange, uint32_t chunks);
void desk_judges(struct desk *desk, uint64_t exchange, uint32_t first,
                 uint32_t chunks, enum verdict verdict);
void desk_result(struct desk *desk, const struct msg_result *result,
                 double value);
/* Results for all chunks, MERGED, of the next version and this lineage. */
void desk_answers(struct desk *desk, uint64_t exchange, enum verb verb,
                  double value);
void desk_applied(struct desk *desk, uint64_t exchange);
void desk_skips(struct desk *desk, uint64_t exchange);
/* TUNE: other settings from now on. */
void desk_tunes(struct desk *desk, uint64_t every, enum exchange exchange);
/* A message of the hub on control with fields that do not matter. */
void desk_says(struct desk *desk, enum msg_kind kind);
void desk_says_bye(struct desk *desk, enum farewell farewell);

/* The first value of the chunk that it sent last; NaN: none. */
double desk_chunk(const struct desk *desk, uint64_t exchange, uint32_t chunk);
unsigned desk_chunks(const struct desk *desk, uint64_t exchange);
/* The first value of what its trainer is to apply; NaN: nothing yet. */
double desk_apply(const struct desk *desk, uint64_t exchange, uint32_t chunk);
/* The last message of its kind to the trainer, or to the hub. */
const struct msg *desk_told(const struct desk *desk, enum msg_kind kind);
const struct msg *desk_sent(const struct desk *desk, enum msg_kind kind);
/* Whether the trainer was told that nothing will come for this exchange. */
bool desk_forgot(const struct desk *desk, uint64_t exchange);

#endif
