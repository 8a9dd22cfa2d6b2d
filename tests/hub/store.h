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
/* Leaves in the store what a hub saves after two rounds of `name`. */
struct fake_node store_filled(struct store *store, const char *name);
/* The hub goes on from such a state and the store's parameters. */
enum status store_restore(const struct store *store, struct hub_fixture *f,
                          const char *state, struct why *why);

#endif
