/* The inside of a life in the soak: soak.c (its phases), soak_star.c (its star
 * and what happens to messages), soak_judge.c, soak_judge_hub.c,
 * soak_byzantine.c. */
#ifndef SIM_STUDY_SOAK_INSIDE_H
#define SIM_STUDY_SOAK_INSIDE_H

#include "core/prng.h"
#include "sim/models.h"
#include "sim/study/soak.h"
#include "sim/study/soak_byzantine.h"
#include "sim/study/soak_count.h"
#include "sim/study/soak_judge.h"

struct life {
    const struct soak_plan *plan;
    const struct soak_watcher *watcher;
    struct soak_life *out;
    struct prng prng; /* for messages */
    struct world_config config;
    struct schema *schema;
    struct exempt *exempt;
    struct world *world;
    uint32_t chunks;
    unsigned honest;         /* nodes; Byzantine nodes come after them */
    bool healed;             /* the second phase */
    bool leaves[SOAK_NODES]; /* since it was started last */
    float starts[SOAK_NODES][SOAK_ELEMENTS];
    float centres[SOAK_NODES][SOAK_ELEMENTS];
    struct quadratic models[SOAK_NODES];
    uint64_t samples[SOAK_NODES]; /* of a step */
    struct soak_count count;
    struct soak_judge judge;
    struct soak_byzantine byzantine;
};

/* soak_complain.c: the first complaint is the one that stays. */
void life_complain(struct life *life, const char *format, ...) FORMAT(2, 3);

/* soak_star.c: a world with all nodes, nothing running; and its end. */
void star_open(struct life *life, const struct hub_config *hub);
void star_end(struct life *life);

/* soak_judge.c */
void judge_step(void *context, const struct world_step *step);
void judge_message(struct life *life, const struct world_message *message);
/* Faults end now. */
void judge_heal(struct life *life);
/* What was offered since then and has not all its verdicts, though a later
 * offer has its result, is owed these; who still is has a complaint. */
void judge_owes(struct life *life);
void judge_answers(struct life *life);

/* soak_judge_hub.c: whether rounds wait for the node, as the hub says. */
bool judge_waits_for(struct life *life, unsigned node);
/* Whether it has a centre. */
bool judge_is_founded(struct life *life);
/* The hub has just been started; has done a step. */
void judge_hub_start(struct life *life);
void judge_hub_step(struct life *life);

/* soak_byzantine.c: what a Byzantine node does instead of, or beside, sending
 * this. */
void byzantine_says(struct life *life, const struct world_message *message,
                    struct world_fate *fate);
void byzantine_free(struct life *life);

#endif
