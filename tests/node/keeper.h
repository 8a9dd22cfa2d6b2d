/* A hub in a fixture that lets its node keep the centre. */
#ifndef TESTS_NODE_KEEPER_H
#define TESTS_NODE_KEEPER_H

#include "tests/node/node_fixture.h"

/* The first epoch of the hub's next life. */
#define LIFE ((uint64_t)1 << 32)

/* A manifest in which the chunks have these versions, or (NULL) all have
 * `version`; its hashes are of nothing. */
struct blob *keeper_manifest(struct node_fixture *f, uint32_t chunks,
                             uint64_t version, const uint64_t *versions);
/* KEEP of the welcome's epoch. */
void keeper_says(struct node_fixture *f, uint64_t version, uint64_t merged,
                 const uint64_t *versions);
/* SAVING, with the node's exchanges up to `merged`. */
void keeper_saves(struct node_fixture *f, uint64_t merged);
/* Another life of the hub, which has the node's exchanges up to `merged`. */
void keeper_comes_back(struct node_fixture *f, uint64_t merged,
                       enum start start);

#endif
