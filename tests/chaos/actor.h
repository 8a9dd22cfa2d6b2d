/* One process of the chaos: the hub or a node, over all its lives. */
#ifndef TESTS_CHAOS_ACTOR_H
#define TESTS_CHAOS_ACTOR_H

#include <stdio.h>
#include <sys/types.h>

#include "tests/chaos/chaos.h"

struct actor {
    unsigned index;
    char name[NAME_BYTES];
    pid_t pid;          /* 0: it does not run */
    unsigned life;      /* 1 is the first */
    nanos restart;      /* it has ended of itself; NEVER: it has not */
    nanos turn[FAULTS]; /* when each fault begins or ends */
    bool on[FAULTS];
};

/* Starts it in its network namespace. */
void actor_start(struct actor *actor, const struct drive *drive, FILE *log);
/* Runs a command and waits for it; false: it failed. */
bool command_run(char *const *words);
/* Writes a line of the file `chaos`. */
void log_line(FILE *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
