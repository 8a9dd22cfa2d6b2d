/* A run of one node whose centre is spoiled: scores are what the test says. */
#ifndef TESTS_HUB_SPOILED_H
#define TESTS_HUB_SPOILED_H

#include "tests/hub/store.h"

/* The centre is scored so often. */
#define EACH SECOND

/* A fixture that saves to `store` when it must and not before. */
struct hub_fixture *spoiled_fixture(struct store *store);
/* Gives all chunks of the exchange and makes room for the next one's. */
void spoiled_give(struct hub_fixture *f, struct fake_node *node,
                  uint64_t exchange, double value);
/* Guest a is alone and has made the centre from 1 to 2, with a loss. */
struct fake_node spoiled_begin(struct hub_fixture *f, struct store *store,
                               double loss);
/* Exchange 2 moves the centre by 100, and this is what it is then worth. */
void spoil(struct hub_fixture *f, struct store *store, struct fake_node *node,
           double loss);
bool is_rolled_back(struct hub_fixture *f);
/* Takes the centre and says what it is; NaN: it was not told to. */
double fake_node_takes(struct hub_fixture *f, struct fake_node *node);

#endif
