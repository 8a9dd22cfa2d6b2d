/* The work that main lends a hub, for tests: saves to memory, scores as it is
 * told. */
#ifndef TESTS_HUB_STORE_H
#define TESTS_HUB_STORE_H

#include "tests/hub/hub_fixture.h"

enum { STATE_ROOM = 16384 };

struct store {
    unsigned saves, bests, finals, scores;
    unsigned failures; /* of saves */
    uint64_t version, best_version;
    double best_first; /* its first value */
    float theta[FIXTURE_ELEMENTS], slot[POLICY_SLOTS][FIXTURE_ELEMENTS];
    unsigned slots; /* that came with it */
    char state[STATE_ROOM];
    bool fails;                   /* saving and scoring do not work */
    double loss, accuracy, error; /* what a scoring says */
};

/* Lends the hub both kinds of work; before hub_fixture_open. */
void store_lend(struct store *store, struct hub_fixture *f);

#endif
