/* Test fixture: a real hub on a thread of this process, and members of its
 * group on threads of their own. */
#ifndef TESTS_COLLECTIVES_THREADED_HUB_H
#define TESTS_COLLECTIVES_THREADED_HUB_H

#include <pthread.h>
#include <starswitch_ancestors.h>
#include <stdatomic.h>

#include "hub/hub.h"
#include "net/net.h"

enum { THREADED_MEMBERS = 4 };

struct threaded_hub {
    struct pool *pool;
    struct hub *hub;
    struct net *net;
    pthread_t thread;
    pthread_mutex_t lock;
    unsigned notes[NOTE_KINDS];
    char said[NOTE_BYTES]; /* the last that a member said */
    char address[32];
};

/* Chunks of 64 bytes, a window of 4. */
struct threaded_hub *threaded_new(void);
void threaded_destroy(struct threaded_hub **hub);
unsigned threaded_notes(struct threaded_hub *hub, enum note_kind kind);

/* A member's program, on its thread: without CHECK. */
struct program {
    struct threaded_hub *hub;
    struct star_group_options options;
    unsigned place;           /* 0, 1, ... */
    struct star_group *group; /* joined as "m<place>" */
    int (*run)(struct program *program);
    float values[THREADED_MEMBERS + 40]; /* for the program */
};

/* Runs `count` of them, each on a thread; returns the largest result. */
int threaded_run(struct threaded_hub *hub, unsigned count,
                 const struct star_group_options *options,
                 int (*run)(struct program *program), struct program *programs);
/* Joins as a member that logs nothing. */
struct star_group *threaded_join(struct threaded_hub *hub, const char *name,
                                 const struct star_group_options *options);

/* Interrupts the call of a group, whenever it begins, until it has ended. */
struct interrupter {
    struct star_group *group;
    atomic_bool over;
    pthread_t thread;
};

void interrupter_start(struct interrupter *interrupter,
                       struct star_group *group);
void interrupter_stop(struct interrupter *interrupter);

#endif
