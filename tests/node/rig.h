/* A node in a fixture whose values all differ, with a hub that decodes: it
 * merges what it likes of what the node gives, and answers when it likes.
 *
 *     rig_open(&rig, CODEC_INT8, seed);
 *     rig_drift(&rig);                 the trainer's own progress
 *     rig_offers(&rig);                takes x; the hub merges, or does not
 *     rig_answer(&rig);                the oldest answer is applied
 *     rig_close(&rig); */
#ifndef TESTS_NODE_RIG_H
#define TESTS_NODE_RIG_H

#include "core/prng.h"
#include "tests/node/node_fixture.h"

enum { RIG_WAITING = 64 };

/* A result that is on its way: the hub's centre as it was then. */
struct rig_answer {
    uint64_t exchange;
    uint32_t first, stride; /* its chunks */
    enum verdict verdict[FIXTURE_CHUNKS];
    double centre[FIXTURE_ELEMENTS];
};

struct rig {
    struct node_fixture *f;
    struct prng prng;
    uint64_t exchange; /* the last one */
    unsigned loses;    /* percent of chunks that are not merged */
    double others;     /* what others move the centre by, at most */
    float x[FIXTURE_ELEMENTS], taken[FIXTURE_ELEMENTS];
    double own[FIXTURE_ELEMENTS];    /* all that x has drifted */
    double merged[FIXTURE_ELEMENTS]; /* of it, what the hub has merged */
    double centre[FIXTURE_ELEMENTS];
    double announced, sent; /* norms of the last offer, squared */
    struct rig_answer waiting[RIG_WAITING];
    unsigned answers;
    unsigned lost; /* chunks */
};

void rig_open(struct rig *rig, enum codec_id codec, uint64_t seed);
void rig_close(struct rig *rig);
/* x moves by multiples of 2^-14. */
void rig_drift(struct rig *rig);
/* An offer of `values`, or of x; the hub takes what has come of it. */
void rig_gives(struct rig *rig, const float *values, bool last);
void rig_offers(struct rig *rig);
/* Says that this is coming, but holds the node's jobs; rig_hub lets them run
 * and has the hub take all that comes. */
void rig_takes(struct rig *rig, const float *values, bool last);
void rig_hub(struct rig *rig);
/* The oldest answer goes to the node, and what comes of it to x. */
void rig_answer(struct rig *rig);
/* The oldest answer is a verdict without a result. */
void rig_verdict(struct rig *rig);
/* All answers, and a last offer, which leaves nothing to be given. */
void rig_finishes(struct rig *rig);

#endif
