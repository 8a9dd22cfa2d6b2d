/* A node with its trainer's agenda, and a hub that is written out: it merges
 * what the node gives, chunk by chunk, and answers some iterations later.
 *
 *     solo_open(&solo, 6, 2, 3, 0);       k, d, F; all parameters are 0
 *     solo.latency = 4;                   change what matters
 *     solo_step(&solo, 0.25);             an iteration: x += 0.25
 *     solo_close(&solo); */
#ifndef TESTS_NODE_SOLO_H
#define TESTS_NODE_SOLO_H

#include "node/agenda.h"
#include "tests/node/node_fixture.h"

enum { SOLO_CHUNK = 4, SOLO_ANSWERS = 256, SOLO_EXCHANGES = 256 };

/* A result that is on its way. */
struct solo_answer {
    struct msg_result result;
    double value;
    uint64_t arrival; /* iteration */
    bool given;
};

struct solo {
    struct node_fixture *f;
    struct agenda agenda;
    float x[FIXTURE_ELEMENTS];
    uint64_t taken[SOLO_EXCHANGES]; /* the iteration of each offer */
    uint64_t delay;
    /* The hub. */
    double theta[FIXTURE_CHUNKS];
    double own[FIXTURE_CHUNKS]; /* of it, what the node has given */
    double gain, others;        /* theta += gain u + others */
    uint64_t latency, jitter;   /* of answers, in iterations */
    enum verb verb;
    struct solo_answer answers[SOLO_ANSWERS];
    unsigned answer_count;
    /* What was last applied to each chunk. */
    double base[FIXTURE_CHUNKS];
    uint64_t base_taken[FIXTURE_CHUNKS];
    double applied_value[SOLO_EXCHANGES][FIXTURE_CHUNKS];
    unsigned applied, skipped;
};

void solo_open(struct solo *solo, uint64_t every, uint64_t delay,
               uint32_t fragments, double value);
void solo_close(struct solo *solo);
void solo_step(struct solo *solo, double drift);

#endif
