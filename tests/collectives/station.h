/* A real hub on a thread of this process, and members on threads of theirs. */
#ifndef TESTS_COLLECTIVES_STATION_H
#define TESTS_COLLECTIVES_STATION_H

#include <starswitch_group.h>

#include "hub/hub.h"
#include "net/net.h"

enum { STATION_MEMBERS = 4 };

struct station {
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
struct station *station_new(void);
void station_destroy(struct station **station);
unsigned station_notes(struct station *station, enum note_kind kind);

/* A member's program: what it returns is kept in `results`. No CHECK in it. */
struct program {
    struct station *station;
    struct star_group_options options;
    unsigned place; /* 0, 1, ... */
    struct star_group *group; /* joined as "m<place>" */
    int (*run)(struct program *program);
    float values[STATION_MEMBERS + 40]; /* for the program */
};

/* Runs `count` of them, each on a thread; returns the largest result. */
int station_run(struct station *station, unsigned count,
                const struct star_group_options *options,
                int (*run)(struct program *program), struct program *programs);
/* A group that says nothing of what it notes. */
struct star_group *station_join(struct station *station, const char *name,
                                const struct star_group_options *options);

#endif
