/* A hub's journal: every event with all that came with it, so that the run can
 * be done again (record/replay.h), and what the hub did then.
 *
 * The difference to a recording (record/record.h), which is text for people and
 * other programs: here are the bytes of all payloads, and so a journal is as
 * large as what nodes have sent.
 *
 * A file is the line `starswitch-journal 4` and frames. A frame is three
 * numbers, the bytes of its body, those of its payload and a checksum; then the
 * body and the payload. Numbers have 8 bytes, little-endian. The checksum is
 * XXH3-64 of the body, seeded with the frame's number from 0, and of the
 * payload, seeded with that. The first byte of the body says what it is:
 *
 *     H  the hub's settings; the text of its config file, its run, the
 *        secret of its sessions, which are over once it has ended, the names
 *        of what main lends it (hub.h: save and evaluate), and how many
 *        vectors follow that it was restored from
 *     V  one of these, as payload: theta, slots; with theta schema and state
 *     S  a step: the event, its payload, of a job that a replay cannot do
 *        itself what came out of it, and the lines of the effects
 *     E  the end
 *
 * The lines are those of seam/transcript.h, each payload with its hash.
 *
 * When the file cannot be written, the journal stops and says so once: the
 * machine goes on. Writing is on the loop's thread and as fast as the disk's
 * cache takes it. */
#ifndef RECORD_JOURNAL_H
#define RECORD_JOURNAL_H

#include "hub/hub.h"
#include "record/form.h"
#include "record/spool.h"
#include "seam/machine.h"

#define JOURNAL_FORMAT "starswitch-journal 4"

struct journal;

/* The hub that the journal is of. */
struct journal_of {
    const char *settings;            /* the text of a config file */
    const struct hub_config *config; /* what the hub was made with */
    const struct hub_saved *saved;   /* and restored from, or NULL */
};

/* All of `of` is written at once and not kept; for the rest see spool_open. */
enum status journal_open(const char *path, const struct journal_of *of,
                         struct spool_complaint complaint, struct journal **out,
                         struct why *why) MUST_CHECK;
/* Adds one step; `journal` is a struct journal, or NULL: nothing is written.
 * As struct net_owner's `watch` wants it: before the effects are carried out,
 * so that no job of theirs has touched a payload. */
void journal_step(void *journal, const struct event *event,
                  const struct effects *effects);
/* Writes what is still to be written. NULL is passed over. */
void journal_close(struct journal **journal);

/* Adds the lines of effects, each with its newline, to a form. A payload that
 * nobody has sealed is shown as if it were. */
void journal_lines(const struct effects *effects, struct form *out);

/* ---- reading ---- */

enum { JOURNAL_WORK_BYTES = 32 };

struct journal_reader;

struct journal_head {
    char *settings;
    uint64_t run, secret[2], life;
    char save[JOURNAL_WORK_BYTES], evaluate[JOURNAL_WORK_BYTES]; /* or "" */
    struct hub_saved saved; /* schema NULL: it was not restored */
};

/* The step that was read last, until the next one is. */
struct journal_step {
    uint64_t number;    /* from 1 */
    struct event event; /* of EVENT_DONE all but the job */
    struct msg msg;
    char work[JOURNAL_WORK_BYTES]; /* of EVENT_DONE: which job */
    uint64_t job;
    enum status status; /* how it ended */
    bool given;         /* what came out of it is here: journal_give */
    struct formed output;
    const char *lines; /* of its effects; `size` bytes, no NUL */
    size_t size;
};

/* Opens a file and reads its head. IO, NO_MEMORY, MALFORMED: it is no journal,
 * or damaged; then `why` says at which byte. */
enum status journal_read(const char *path, struct journal_reader **out,
                         struct why *why) MUST_CHECK;
/* Until the reader is closed. */
const struct journal_head *journal_head(const struct journal_reader *reader);
/* The next step; its payload is of `pool`, which must outlive the reader.
 * AGAIN: there is none, that was the end. MALFORMED: the file is damaged, or
 * breaks off. */
enum status journal_next(struct journal_reader *reader, struct pool *pool,
                         struct journal_step *out, struct why *why) MUST_CHECK;
/* Gives the job what came out of it, of `evaluate` a score too; false: it is
 * not that job's. */
bool journal_give(const struct journal_step *step, const struct work *evaluate,
                  struct job *job);
/* NULL is passed over. */
void journal_read_close(struct journal_reader **reader);

#endif
