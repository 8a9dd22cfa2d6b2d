/* The soak: seeded lives of a hub and its nodes, with every fault there is.
 *
 * A seed decides on a plan: first which kinds of faults and which features are
 * there at all (swarm testing: Groce et al., "Swarm testing", ISSTA 2012, as
 * many faults of one kind find what a few of each do not), then the star, its
 * policy, and what goes wrong when. A plan is lived in two phases: while faults
 * come, nothing that was promised may break (safety); once they end, everybody
 * must exchange again and the run must end (liveness). What is promised, and
 * how far, stands in sim/study/soak_judge.h.
 *
 * Liars are nodes that send what they like, as far as the protocol can spell
 * it: sim/study/soak_byzantine.h. */
#ifndef SIM_STUDY_SOAK_H
#define SIM_STUDY_SOAK_H

#include "sim/study/soak_plan.h"

enum { SOAK_COMPLAINT_BYTES = 240 };

/* What became of one life; numbers only, to go from process to process. */
struct soak_life {
    uint64_t history; /* seam/history.h */
    uint64_t steps, late, twice, lies, merged;
    uint64_t recovered; /* centres that hubs took from nodes */
    uint64_t verbs[SCRIPT_VERBS];
    nanos time;                           /* virtual */
    char complaint[SOAK_COMPLAINT_BYTES]; /* empty: all is well */
};

/* Who wants to see more of a life. All may be NULL. */
struct soak_watcher {
    void *of;
    /* A line of the transcript. */
    void (*line)(void *of, const char *line);
    /* Before an act: a promise that it breaks, or NULL. For tests, who plant
     * one that is sure to be broken. */
    const char *(*complain)(void *of, const struct world *world,
                            const struct script_event *event);
};

/* The plan of a seed; the caller's. */
struct soak_plan *soak_draw(uint64_t seed);

/* Lives a plan once; `watcher` may be NULL. What does not settle is a
 * complaint, too. */
void soak_live(const struct soak_plan *plan, const struct soak_watcher *watcher,
               struct soak_life *out);
/* Lives it twice: two histories are a complaint. */
void soak_live_twice(const struct soak_plan *plan, struct soak_life *out);

#endif
