/* The outcome of one simulated run: no pointers, so that it can go from a
 * process to another as it is. */
#ifndef SIM_STUDY_OUTCOME_H
#define SIM_STUDY_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "seam/machine.h"

enum { TROUBLE_BYTES = 320 }; /* of a struct why */

struct outcome {
    bool done;    /* else `trouble` says why not */
    bool reached; /* the goal */
    double time;  /* virtual seconds from the start to the goal, or to the
                     end */
    double loss, accuracy; /* of the centre at the end; NO_SCORE and -1: none */
    uint64_t every, delay; /* k and d at the end */
    double chosen_at;      /* when the hub chose them; 0: it did not */
    char chosen[NOTE_BYTES]; /* what it said of that */
    uint64_t rounds;
    double round_time; /* virtual seconds of a round: from the end of the first
                          one to that of the last, by how many there were
                          between; also of rounds that merged nothing */
    double iterations; /* of a node, the mean */
    double rate;       /* the same, a virtual second, until the end began */
    double up, down;   /* bytes on the wire, of a node, the mean */
    double idle;       /* share of the time that trainers were blocked */
    double staleness;  /* 95th percentile of the versions that offers lagged
                          behind when they came, merged or not */
    double late;       /* share of results that were not there at i+d */
    uint64_t steps;    /* of machines */
    uint64_t history;  /* seam/history.h */
    double cost;       /* real seconds, the only number that another run of the
                          same seed may not have */
    char trouble[TROUBLE_BYTES];
};

#endif
