/* The centre as a node keeps it, for a hub that loses its own.
 *
 * The node remembers what it was last sent of each chunk, also what its
 * trainer never applies. KEEP says that a version is complete, and which
 * version each of its chunks has (codec/manifest.h). Where the node was sent
 * just these, they and the manifest are what it keeps from then on; else it
 * goes on keeping the version before. A hub that has nothing newer asks for it
 * (START_GIVE) and is given these blobs, bit for bit. What a rule has given
 * away instead of the centre bears no version that a manifest lists.
 *
 * A manifest that was damaged on its way is passed over. The hashes of chunks
 * are not looked at here: the hub does, and asks another node when one does not
 * fit.
 *
 * It outlives connections and hubs, and is forgotten when the node takes part
 * in another run. Memory: references to two sets of chunks, of which the newer
 * one is, mostly, the node's reference r, and the older one is the same but
 * while a version is coming; so one model more at most. */
#ifndef NODE_KEEP_H
#define NODE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/manifest.h"
#include "core/bitset.h"
#include "core/blob.h"

struct msg_result;
struct node;

/* A chunk as it was last sent. */
struct newest {
    struct blob *values; /* NULL: never */
    uint64_t version;
    bool former; /* of an earlier life of the hub */
    bool lossy;  /* as --codec-down left it, and not as the hub had it */
};

/* A version of the centre. */
struct kept {
    struct blob *manifest; /* NULL: nothing is here */
    uint64_t epoch, version;
    uint64_t merged; /* the node's last exchange that is in it */
    uint32_t missing;
    struct blob **chunks; /* NULL: missing */
};

struct keep {
    uint64_t run;   /* whose centre it is, 0: none yet */
    uint64_t epoch; /* the newest of that run that the node was told */
    struct newest *newest;
    bool given;          /* that is what this node gave to found the run */
    struct kept whole;   /* the newest version that is here as a whole */
    struct kept coming;  /* some of it is still being decoded */
    struct bitset fresh; /* chunks of the centre that nobody has asked for:
                            node_centre_next */
    uint64_t centre;     /* rises with what is the centre of something else */
};

void keep_free(struct node *node);
/* The node is in the run and epoch that the hub has welcomed it to. Forgets
 * what was kept of another run. */
void keep_enter(struct node *node);
void keep_told(struct node *node, uint64_t epoch);
/* All is sent of what the hub's first centre is to be. Once this is over, it
 * may not have become that. */
void keep_gave(struct node *node);
void keep_founded(struct node *node, bool taken);
/* A result is here, as values. */
void keep_result(struct node *node, const struct msg_result *result,
                 struct blob *values);
/* What HELLO says: 1 + the version that is kept, 0: none. */
uint64_t keep_hello(const struct node *node);
/* Says which version it is, once the connection for it is there. */
void keep_announce(struct node *node);
/* No hub goes on from the life that the node knows: it follows any from now
 * on, and gives none a version of what was left. */
void keep_give_up(struct node *node);
/* What is kept is of no use to anybody. */
void keep_spoiled(struct node *node);
/* A broken invariant, or NULL. */
const char *keep_check(const struct node *node);

#endif
