/* A machine that is driven by the bytes of a fuzzer: its connections, its jobs
 * and what a driver does with its effects. */
#ifndef TESTS_FUZZ_SESSION_H
#define TESTS_FUZZ_SESSION_H

#include "core/schema.h"
#include "seam/machine.h"

enum { SLOTS = 16, HELD = 4096 };

struct slot {
    peer_id peer; /* PEER_NONE: not connected */
    enum channel channel;
};

struct session {
    const uint8_t *bytes;
    size_t left;
    nanos now, tick; /* the time; by how much it passes */
    struct pool *pool;
    struct schema *schema;
    struct machine machine;
    const char *(*check)(const void *self); /* a broken invariant, or NULL */
    /* Is shown what the machine sends; or NULL. */
    void (*overhear)(struct session *session, const struct effect *effect);
    peer_id next_peer;
    struct slot slots[SLOTS];
    struct effects effects;
    struct job *jobs[HELD];
    unsigned job_count, steps;
    bool holds;
    uint32_t exchange; /* what nodes were last told to offer */
    uint64_t lineage;  /* that they were last told, 0: none yet */
    uint64_t offers;   /* of a trainer, so far */
};

/* The next byte of the input; 0 at its end. */
uint8_t next(struct session *session);

/* Gives the machine an event, and carries out what comes of it: jobs wait, and
 * a connection that it drops leaves. */
void step(struct session *session, struct event *event);

/* Runs all jobs that wait, and those that they lead to. */
void run_jobs(struct session *session);

/* If the slot is a connection of the message's channel. */
void say(struct session *session, struct slot *slot, const struct msg *msg,
         struct blob *payload);

/* ---- acts that any machine's fuzzer may have ---- */

void leave(struct session *session, struct slot *slot);
void bye(struct session *session, struct slot *slot);
/* As many ticks as a byte says. */
void pass_time(struct session *session, struct slot *slot);
/* Runs one of the jobs that are held. */
void run_some_job(struct session *session, struct slot *slot);
/* Jobs are held from now on, or run again. */
void hold(struct session *session, struct slot *slot);

/* ---- of a machine with a hub and a program ---- */

enum { SLOT_CONTROL, SLOT_BULK };

/* What a byte stands for: the upper ones for numbers near 2^32 and 2^64. */
uint64_t number(struct session *session);
/* An odd `which` is bulk. */
void come(struct session *session, unsigned which);
void go(struct session *session, unsigned which);
/* The hub says so. */
void tell(struct session *session, const struct msg *msg, struct blob *payload);
/* The trainer, or the program, does. */
void asks(struct session *session, const struct msg *msg, struct blob *payload);
/* pass_time, run_some_job or hold, on a slot. */
void common(struct session *session, unsigned which);

#endif
