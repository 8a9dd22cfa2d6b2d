/* Chaos: a real hub and real nodes, with faults that a seed draws, and the
 * judge of what they recorded.
 *
 *     star-chaos run FOLDER --time 60 --seed 1     (in tests/chaos/network)
 *     star-chaos judge FOLDER
 *
 * FOLDER holds afterwards: `chaos`, what was done to whom and when; of each
 * life of each process a recording, NAME.LIFE.record; and what it printed,
 * NAME.out. With --counted also each node's steps, nI.steps, and the centre at
 * the end. All times are those of the one CLOCK_MONOTONIC. The lines of
 * `chaos` are, each behind its time in seconds:
 *
 *     start NAME LIFE PID     a process
 *     gone NAME LIFE CODE     it has ended; 128 + N: by signal N
 *     begin FAULT NAME LIFE   and, once it is over, end FAULT NAME LIFE
 *     memory BYTES            the hub's resident set
 *     quiet                   no more faults from here on
 *     close                   the hub has been asked to end the run
 */
#ifndef TESTS_CHAOS_H
#define TESTS_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"

enum fault {
#define FAULT(NAME, ...) FAULT_##NAME,
#include "tests/chaos/faults.def"
#undef FAULT
    FAULTS
};

enum whom { HUB, NODE };

enum {
    MOST_NODES = 32,
    ACTORS = 1 + MOST_NODES, /* the hub is actor 0, node nI actor I */
    NAME_BYTES = 8,
    PATH_ROOM = 512
};

struct drive {
    const char *folder, *programs; /* where the programs are */
    const char *settings;          /* more options for the hub, or "" */
    bool counted; /* nodes count their steps (tests/preload/counting_trainer.c)
                     in nI.steps, and centre.safetensors is the last one */
    uint64_t seed;
    unsigned nodes;
    nanos time, quiet; /* with faults, and without at the end */
    nanos rest;        /* at least, from a fault to the next of its kind */
    unsigned most_hub_kills; /* then all is quiet; 0: no bound */
    double mean[FAULTS];
};

/* What faults.def says. */
void drive_init(struct drive *drive);
/* "FAULT=SECONDS", or "all=SECONDS": false: there is no such fault. */
bool drive_set_mean(struct drive *drive, const char *text);
/* Prints the faults for --help. */
void drive_help(void);
/* Lets it happen; says every 10 s how far it is. The exit code. */
int drive_run(const struct drive *drive);

#endif
