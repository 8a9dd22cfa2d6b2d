/* What nodes keep of a hub's centre, and how guests give it back. */
#ifndef TESTS_HUB_TREASURE_H
#define TESTS_HUB_TREASURE_H

#include "tests/hub/store.h"

/* What a node keeps. */
struct treasure {
    unsigned char manifest[4096];
    size_t bytes;
    uint64_t version, epoch, merged;
    float value[BENCH_CHUNKS]; /* all values of a chunk are the same */
};

/* A hub that has its nodes keep the centre, and saves to the store; not yet
 * open. */
struct bench *treasure_life(struct store *store);
/* A run of guest a, which gives 0.5 `rounds` times; what it then keeps. Opens
 * the bench. */
struct treasure treasure_train(struct bench *bench, struct guest *a,
                               uint64_t rounds);
/* A second life, not yet open, of a hub that had four rounds with guest a and
 * saved not all of them: `before`. */
struct bench *treasure_after(struct store *store, struct store *before,
                             struct guest *a, struct treasure *treasure);
/* Opens a hub that goes on from there, and looks for what is newer. */
void treasure_open(struct bench *bench, const struct store *before);
/* Both, one after the other. */
struct bench *treasure_resume(struct store *store, struct guest *a,
                              struct treasure *treasure);
/* How many versions the guest was told to keep. */
unsigned treasure_count(const struct bench *bench, const struct guest *guest);
/* What the guest has been told to keep last. */
struct treasure treasure_of(const struct bench *bench,
                            const struct guest *guest);
/* The guest answers the start `give`: by the manifest; by all. */
void treasure_proves(struct bench *bench, const struct guest *guest,
                     const struct treasure *treasure);
void treasure_given(struct bench *bench, struct guest *guest,
                    const struct treasure *treasure);
/* What the guest was told last to do. */
enum start treasure_start(const struct bench *bench, const struct guest *guest);
/* What the hub has said last of a recovery; "": nothing. */
const char *treasure_note(const struct bench *bench);

#endif
