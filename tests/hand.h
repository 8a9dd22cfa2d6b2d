/* A machine driven by hand: no network, no simulated world.
 *
 * What it sends, says and drops is kept for the test to look at; its jobs run
 * at once, unless the test holds them. As under a real driver, a connection
 * that the machine drops leaves afterwards. After each step the machine is
 * asked for broken invariants. */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include <stdbool.h>

#include "seam/machine.h"

enum { HAND_SENT = 2048, HAND_JOBS = 512, HAND_NOTES = 512, HAND_DROPS = 512 };

struct hand_sent {
    peer_id peer;
    struct msg msg;
    struct blob *payload; /* referenced, or NULL */
};

struct hand {
    struct machine machine;
    struct pool *pool;
    nanos now;
    bool holds_jobs;
    unsigned starves; /* so manieth jobs end with NO_MEMORY; 0: none does */
    const char *(*check)(const void *self); /* or NULL */
    struct effects effects;
    struct hand_sent sent[HAND_SENT];
    struct job *jobs[HAND_JOBS]; /* held, oldest first */
    struct note notes[HAND_NOTES];
    peer_id drops[HAND_DROPS];
    unsigned sent_count, job_count, note_count, drop_count;
    unsigned starved; /* jobs since the last that did */
};

void hand_init(struct hand *hand, struct machine machine, struct pool *pool,
               const char *(*check)(const void *self));
void hand_free(struct hand *hand);

void hand_join(struct hand *hand, peer_id peer, enum channel channel);
/* With a key that it has proved to hold. */
void hand_join_as(struct hand *hand, peer_id peer, enum channel channel,
                  uint64_t key);
void hand_leave(struct hand *hand, peer_id peer);
/* The payload is borrowed. */
void hand_say(struct hand *hand, peer_id peer, const struct msg *msg,
              struct blob *payload);
/* Lets time pass, waking the machine when it wants to be woken. */
void hand_wait(struct hand *hand, nanos span);
/* Runs the jobs that are held, and those that follow from them. */
void hand_work(struct hand *hand);
/* Forgets what was sent, said and dropped so far. */
void hand_forget(struct hand *hand);

/* Messages of a kind to a peer: how many, and the nth of them (from 0), the
 * last one (NULL: none). */
unsigned hand_count(const struct hand *hand, peer_id peer, enum msg_kind kind);
const struct hand_sent *hand_nth(const struct hand *hand, peer_id peer,
                                 enum msg_kind kind, unsigned nth);
const struct hand_sent *hand_last(const struct hand *hand, peer_id peer,
                                  enum msg_kind kind);
bool hand_dropped(const struct hand *hand, peer_id peer);
/* The last note of a kind, or NULL. */
const struct note *hand_note(const struct hand *hand, enum note_kind kind);

/* A blob of `count` floats, all `value`, sealed. */
struct blob *hand_floats(struct pool *pool, size_t count, double value);
double hand_float(const struct blob *blob, size_t at);

#endif
