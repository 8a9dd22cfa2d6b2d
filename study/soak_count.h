/* Counting what is learnt, in the soak: a trainer whose every step adds 1 to a
 * number of its own in each chunk, so that the centre says how many of the
 * steps it holds.
 *
 * A *stint* is what a trainer does from the same parameters on: since its start
 * or since its parameters were replaced. Each has a number of its own, so that
 * one's loss does not hide behind another's gain. Lives that count merge by
 * rules that add: all progress, no momentum, and shares that are 1 and divided
 * by 1; so a number of the centre is the sum of what was merged.
 *
 * Held to it:
 * - At the end all that each honest node has learnt in its last stint is in the
 *   centre that was saved: no step is missing, whatever became of hub, links
 *   and other nodes since. A gradient counts for one, whatever k is.
 * - No node has two votes in one round.
 * - At no time does a saved centre hold more than was learnt.
 * - In all lives: an offer claims no more samples than its stint has seen.
 *
 * A node that dies takes with it what was not merged. A liar may add what it
 * likes to numbers that are its own, and to no others: what a mean makes of a
 * liar's numbers is no loss of the hub's. */
#ifndef STUDY_SOAK_COUNT_H
#define STUDY_SOAK_COUNT_H

#include "policies/policy.h"
#include "sim/world.h"
#include "study/soak_plan.h"

struct life;

struct soak_stint {
    uint64_t steps, offers;
    uint64_t alone;   /* steps that moved its own parameters */
    uint64_t claimed; /* samples */
    float before;     /* its number, before the step under way */
};

/* Whose trainer it is. */
struct soak_seat {
    struct life *life;
    unsigned node;
};

struct soak_count {
    struct gate_rule gate; /* the plan's, whose shares add */
    struct soak_seat seats[SOAK_NODES];
    struct soak_stint stints[SOAK_NODES][SOAK_STINTS + 1];
    unsigned stint[SOAK_NODES]; /* the present one; SOAK_STINTS: it has no
                                   number */
    unsigned saves;             /* that were looked at */
};

/* Lets a life that counts add. */
void count_open(struct life *life);
/* For a trainer, whose context and observer is its seat. */
trainer_gradient count_gradient;
void count_look(void *observer, const struct trainer_look *look);
/* The number in a chunk that is a node's own in its present stint. */
size_t count_place(const struct life *life, unsigned node);

/* An honest node's offer, for the first time. */
void count_offer(struct life *life, unsigned node, uint64_t samples);
/* After a step of the hub. */
void count_hub_step(struct life *life);
/* What the hub has begun in a step. */
void count_jobs(struct life *life, const struct world_step *step);
/* Once all have ended. */
void count_end(struct life *life);

#endif
