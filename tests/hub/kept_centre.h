/* What nodes keep of a hub's centre, and how nodes give it back. */
#ifndef TESTS_HUB_KEPT_CENTRE_H
#define TESTS_HUB_KEPT_CENTRE_H

#include "tests/hub/store.h"

/* What a node keeps. */
struct kept_centre {
    unsigned char manifest[4096];
    size_t bytes;
    uint64_t version, epoch, merged;
    float value[FIXTURE_CHUNKS]; /* all values of a chunk are the same */
};

/* A hub that has its nodes keep the centre, and saves to the store; not yet
 * open. */
struct hub_fixture *kept_centre_life(struct store *store);
/* A run of node a, which gives 0.5 `rounds` times; what it then keeps. Opens
 * the fixture. */
struct kept_centre kept_centre_train(struct hub_fixture *f, struct fake_node *a,
                                     uint64_t rounds);
/* A second life, not yet open, of a hub that had four rounds with node a and
 * saved not all of them: `before`. */
struct hub_fixture *kept_centre_after(struct store *store, struct store *before,
                                      struct fake_node *a,
                                      struct kept_centre *kept);
/* Opens a hub that goes on from there, and looks for what is newer. */
void kept_centre_open(struct hub_fixture *f, const struct store *before);
/* Both, one after the other. */
struct hub_fixture *kept_centre_resume(struct store *store, struct fake_node *a,
                                       struct kept_centre *kept);
/* How many versions the node was told to keep. */
unsigned kept_centre_count(const struct hub_fixture *f,
                           const struct fake_node *node);
/* What the node has been told to keep last. */
struct kept_centre kept_centre_of(const struct hub_fixture *f,
                                  const struct fake_node *node);
/* The node answers the start `give`: by the manifest; by all. */
void kept_centre_proves(struct hub_fixture *f, const struct fake_node *node,
                        const struct kept_centre *kept);
void kept_centre_given(struct hub_fixture *f, struct fake_node *node,
                       const struct kept_centre *kept);
/* What the node was told last to do. */
enum start kept_centre_start(const struct hub_fixture *f,
                             const struct fake_node *node);
/* What the hub has said last of a recovery; "": nothing. */
const char *kept_centre_note(const struct hub_fixture *f);

#endif
