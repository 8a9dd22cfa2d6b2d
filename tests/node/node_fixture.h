/* A node as a fixture: the test plays its trainer and its hub.
 *
 *     struct node_fixture *f = node_fixture_new();
 *     node_fixture_ready(f, 1);              its parameters are all 1; a member
 *     node_fixture_offers(f, 1, 3);          exchange 1 is taken at x = 3
 *     node_fixture_chunk(f, 1, 0)            what it sent: u = 2
 *     node_fixture_answers(f, 1, VERB_REBASE, 5);
 *     node_fixture_apply(f, 1, 0)            what the trainer is to add: c = 2
 *     node_fixture_applied(f, 1);
 *     node_fixture_destroy(&f);
 *
 * Ten elements in chunks of 4, 4 and 2; k = 1, d = 4; a grant for all chunks
 * comes with each offer unless `ungranted`. */
#ifndef TESTS_NODE_NODE_FIXTURE_H
#define TESTS_NODE_NODE_FIXTURE_H

#include "node/node.h"
#include "tests/hand.h"

enum { FIXTURE_ELEMENTS = 10, FIXTURE_CHUNKS = 3, FIXTURE_CHUNK = 4 };

struct node_fixture {
    struct hand hand;
    struct schema *schema;
    struct node *node;
    struct msg_welcome welcome; /* what the hub says */
    uint64_t version;           /* of the results */
    double weight;              /* of the results, at first 1 */
    uint32_t scale;             /* of the model, see struct extent */
    bool ungranted;
};

struct node_fixture *node_fixture_new(void);
/* The same, whose trainer can evaluate parameters. */
struct node_fixture *node_fixture_reviewing(void);
/* One that is ready at 1 and has so much room for what is promised. */
struct node_fixture *node_fixture_promising(uint64_t bytes);
/* One that is ready at 1 and simulates a model that is so much larger. */
struct node_fixture *node_fixture_surrogate(uint32_t scale);
/* A fixture that is ready at 1, and the same with exchange 1 offered at 3. */
struct node_fixture *node_fixture_member(void);
struct node_fixture *node_fixture_offering(void);
/* That exchange, of 2, has been merged; the centre is 5, and so is x. */
struct node_fixture *node_fixture_merged(void);
void node_fixture_destroy(struct node_fixture **f);
size_t node_fixture_length(uint32_t chunk);

/* The trainer gives its starting parameters. */
void node_fixture_begins(struct node_fixture *f, double value);
/* Both connections are there; both are lost. */
void node_fixture_connects(struct node_fixture *f);
void node_fixture_breaks(struct node_fixture *f);
/* WELCOME with a new session. */
void node_fixture_welcomes(struct node_fixture *f, enum start start);
/* WELCOME in the same session. */
void node_fixture_restarts(struct node_fixture *f, enum start start);
void node_fixture_ready(struct node_fixture *f, double value);
/* Connects anew and is told to go on. */
void node_fixture_rejoins(struct node_fixture *f);

void node_fixture_offers(struct node_fixture *f, uint64_t exchange,
                         double value);
/* The trainer says just this. */
void node_fixture_takes(struct node_fixture *f,
                        const struct msg_local_offer *snapshot,
                        struct blob *values);
void node_fixture_leaves(struct node_fixture *f, uint64_t exchange,
                         double value);
void node_fixture_grants(struct node_fixture *f, uint64_t exchange,
                         uint32_t chunks);
void node_fixture_verdicts(struct node_fixture *f, uint64_t exchange,
                           uint32_t first, uint32_t chunks,
                           enum verdict verdict);
void node_fixture_result(struct node_fixture *f,
                         const struct msg_result *result, double value);
/* Results for all chunks, MERGED, of the next version and this lineage. */
void node_fixture_answers(struct node_fixture *f, uint64_t exchange,
                          enum verb verb, double value);
void node_fixture_answers_as(struct node_fixture *f, uint64_t exchange,
                             enum verb verb, double value,
                             enum verdict verdict);
void node_fixture_applied(struct node_fixture *f, uint64_t exchange);
void node_fixture_skips(struct node_fixture *f, uint64_t exchange);
/* TUNE: other settings from now on. */
void node_fixture_tunes(struct node_fixture *f, uint64_t every,
                        enum exchange exchange);
/* A message of the hub on control with fields that do not matter. */
void node_fixture_says(struct node_fixture *f, enum msg_kind kind);
void node_fixture_says_bye(struct node_fixture *f, enum farewell farewell);

/* The first value of the chunk that it sent last; NaN: none. */
double node_fixture_chunk(const struct node_fixture *f, uint64_t exchange,
                          uint32_t chunk);
unsigned node_fixture_chunks(const struct node_fixture *f, uint64_t exchange);
/* The first value of what its trainer is to apply; NaN: nothing yet. */
double node_fixture_apply(const struct node_fixture *f, uint64_t exchange,
                          uint32_t chunk);
/* The last message of its kind to the trainer, or to the hub. */
const struct msg *node_fixture_told(const struct node_fixture *f,
                                    enum msg_kind kind);
const struct msg *node_fixture_sent(const struct node_fixture *f,
                                    enum msg_kind kind);
/* Whether the trainer was told that nothing will come for this exchange. */
bool node_fixture_forgot(const struct node_fixture *f, uint64_t exchange);

#endif
