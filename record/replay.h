/* Replay: a journal's events are given to a new hub, which must do what the
 * hub did that kept the journal, byte for byte.
 *
 * A hub depends on nothing but its settings and its events (seam/machine.h), so
 * a journal of any run, with real sockets, clocks and threads, can be done
 * again. The jobs of merging are, too: they are the same on every machine, and
 * the lines of effects have the hashes of what nodes are sent. Saving is left
 * out, and scores are those of the journal. */
#ifndef RECORD_REPLAY_H
#define RECORD_REPLAY_H

#include "record/journal.h"
#include "seam/transcript.h"

/* How it went; said and done: the first effect that differs. */
struct replay {
    uint64_t steps, effects;      /* that are the same */
    uint64_t jobs;                /* that were done again */
    uint64_t bytes;               /* of payloads that nodes had sent */
    nanos first, last;            /* time of the first event, and of the last */
    char event[TRANSCRIPT_BYTES]; /* the step's, as a line */
    char said[TRANSCRIPT_BYTES], done[TRANSCRIPT_BYTES];
};

/* The configuration that the journal's settings stand for, with work of the
 * names of `work`, which does nothing. CONFIG: this program does not know them.
 */
struct replay_works {
    struct work save, evaluate;
};
enum status replay_configure(const struct journal_head *head,
                             struct replay_works *works, struct hub_config *out,
                             struct why *why) MUST_CHECK;

/* Makes a hub with this configuration do all steps of a journal that was just
 * opened. BUG: it did something else than the journal says, and `out` has both;
 * MALFORMED: the journal is damaged, and all before that was the same;
 * NO_MEMORY. */
enum status replay_run(struct journal_reader *reader,
                       const struct hub_config *config, struct pool *pool,
                       struct replay *out, struct why *why) MUST_CHECK;

/* All of it, from a file. */
enum status replay_file(const char *path, struct replay *out,
                        struct why *why) MUST_CHECK;

#endif
