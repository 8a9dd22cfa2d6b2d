/* What the hub tells its page: snapshots of itself, notes, answers to orders.
 *
 * The hub's loop writes, the page's thread reads, and neither waits for the
 * other. Of snapshots the newest counts: there are three places, and the two
 * threads trade theirs against the one between them. Notes and answers go
 * through queues of bounded length; what finds no room in the first is counted,
 * in the second forgotten. */
#ifndef HUB_PAGE_FEED_H
#define HUB_PAGE_FEED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/msg.h"
#include "report/table.h"
#include "seam/machine.h"

enum { FEED_NOTES = 256, FEED_ANSWERS = 64, FEED_REFUSALS = 32 };

/* The hub at one moment. */
struct snapshot {
    struct hub_view view; /* its nodes and `unsaved` are the snapshot's */
    struct hub_node_view *nodes; /* room for so many */
    unsigned room;
    char unsaved[sizeof(struct why)];
    nanos now;           /* of the driver's clock */
    nanos elapsed, wall; /* since the run began, and since 1970 UTC */
    nanos saved;         /* wall, of the last save that succeeded; 0: none */
    struct hub_uploads uploads;
    uint64_t pool; /* bytes of payloads */
    uint64_t notes[NOTE_KINDS];
    struct table_count refusals[FEED_REFUSALS];
    unsigned reasons;
    nanos stalled; /* for how long jobs have waited, and none has begun */
};

/* A note, its place in the order of all, and when it was said. */
struct told_note {
    uint64_t number; /* from 1 */
    nanos elapsed, wall;
    struct note note;
};

struct feed {
    struct snapshot slots[3];
    atomic_uint between;    /* a slot; FEED_FRESH: nobody has read it yet */
    unsigned writes, reads; /* the writer's slot and the reader's */
    struct told_note notes[FEED_NOTES];
    atomic_uint_fast64_t notes_in, notes_out, notes_lost;
    struct msg_answer answers[FEED_ANSWERS];
    atomic_uint_fast64_t answers_in, answers_out;
};

void feed_init(struct feed *feed);
/* Once nobody uses it any more. */
void feed_free(struct feed *feed);

/* ---- the hub's loop ---- */

/* Copies all that `snapshot` says; false: no memory, and nothing is told. */
bool feed_publish(struct feed *feed, const struct snapshot *snapshot);
void feed_note(struct feed *feed, nanos elapsed, nanos wall,
               const struct note *note);
void feed_answer(struct feed *feed, const struct msg_answer *answer);

/* ---- the page's thread ---- */

/* The newest snapshot, the reader's until it asks again; NULL: there is none
 * yet. *fresh: it was not read before. */
const struct snapshot *feed_look(struct feed *feed, bool *fresh);
/* The next note; false: there is no other one now. */
bool feed_next_note(struct feed *feed, struct told_note *out);
bool feed_next_answer(struct feed *feed, struct msg_answer *out);
/* How many notes found no room. */
uint64_t feed_lost(const struct feed *feed);

#endif
