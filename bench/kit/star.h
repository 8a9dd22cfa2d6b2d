/* A star of ours: starswitch-hub as users start it, and nodes that are
 * programs on the public library, with a trainer that trains nothing. */
#ifndef BENCH_KIT_STAR_H
#define BENCH_KIT_STAR_H

#include "bench/kit/process_star.h"
#include "include/starswitch.h"
#include "keys/invitation.h"

/* The parameters are one matrix of so many rows: vectors, as biases are, would
 * be left out of what codecs shorten. */
enum { STAR_ROWS = 1024 };

/* What a star with keys has: a folder for all of them, and what its nodes are
 * told, with which they enrol. */
struct star_keys {
    char folder[64];
    char word[INVITATION_BYTES];
};

/* New ones, in a folder of this process's that goes with star_clean. */
void star_keys_make(struct star_keys *keys);

struct star_node {
    const struct post *post;
    struct star_link *link;
    float *values;           /* all zero at first */
    struct star_state state; /* since the last step */
};

/* Becomes build/starswitch-hub, with the options in post->extra; it saves
 * nothing meanwhile, and its folder goes with star_clean. As all nodes begin
 * with the same parameters, nobody has to take others'. All is float32 unless
 * options name codecs. */
void star_hub(const struct post *post);
void star_clean(const struct process_star *star);

/* A round is calls of star_step until one more result has been applied. */
void star_node(const struct post *post);

/* The same by hand. Node i's loss is 1 + i. */
void star_node_attach(struct star_node *node, const struct post *post);
void star_node_step(struct star_node *node);

#endif
