/* A trial: some rounds of a star in virtual time, measured. It says how many
 * iterations a setting leaves its nodes, how often they really exchange and how
 * late what they get really is; learning is not its business, and so a
 * surrogate computes. */
#ifndef SIM_STUDY_TRIAL_H
#define SIM_STUDY_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/options.h"
#include "sim/study/outcome.h"

struct trial {
    bool done;           /* else `trouble` says why not */
    double rate;         /* iterations a second of a node, the mean */
    double used;         /* share of the time in which nodes train */
    double every, delay; /* iterations between offers, and from an offer until
                            its result is applied; the means */
    double up, down;     /* bytes a second of a node, the mean */
    double start;        /* seconds until each node had a result: all train
                            together from then on */
    char trouble[TROUBLE_BYTES];
};

/* Measured is from the first node's offer number `turns`, from 1, to the first
 * of its offers that is `length` seconds later, so that rounds are whole. What
 * is offered before all train together does not count. */
struct trial_window {
    unsigned turns;
    double length, most; /* seconds; of the whole run */
};

/* Plays the star of these options without their goal and end. */
void trial_run(const struct options *options, uint64_t seed,
               const struct trial_window *window, struct trial *out);

/* The mean of trials that were done; `done` if all were. */
void trial_mean(const struct trial *trials, unsigned count, struct trial *out);

#endif
