/* The inside of the simulated trainer, for trainer.c (iterating) and
 * trainer_exchange.c (offering and applying), trainer_tasks.c. */
#ifndef SIM_TRAINER_INSIDE_H
#define SIM_TRAINER_INSIDE_H

#include "core/prng.h"
#include "node/training.h"
#include "sim/trainer.h"

enum { NAME_BYTES = 48 };

enum phase {
    PHASE_IDLE,  /* not started */
    PHASE_STEP,  /* an iteration is under way */
    PHASE_DUE,   /* at its end: applies what is due */
    PHASE_AFTER, /* has offered: with d = 0 applies the answer */
    PHASE_STOPPED
};

struct trainer {
    struct trainer_config config;
    char name[NAME_BYTES];
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now, wake;
    struct prng prng;
    enum phase phase;
    struct training training;
    struct span span; /* x */
    float *x;
    bool leaving, offered_last;
    bool called; /* the hub wants its last offer: it waits for no result */
    struct msg_local_task task, in_hand; /* parts 0: none */
    uint64_t task_left;                  /* iterations */
    bool task_wanted;
    uint64_t examined;       /* number of what it is to evaluate */
    struct blob *to_examine; /* NULL: nothing */
};

/* Shows the observer what has just happened. */
void trainer_look(struct trainer *trainer, enum trainer_moment moment,
                  uint64_t exchange);
/* The own optimizer; `context` is the trainer. */
void trainer_optimize(void *context, const float *gradient, size_t first,
                      size_t count);
/* What it is to the part that it has in common with the library. */
struct training_owner trainer_owner(struct trainer *trainer);
/* Offers if it is time for it, or the last time. */
void trainer_offer(struct trainer *trainer);
/* Applies all that is due; false: blocked until `wake` or a message. */
bool trainer_apply_due(struct trainer *trainer);
/* Evaluates what the node has asked for. */
void trainer_examine(struct trainer *trainer);
void trainer_task_assign(struct trainer *trainer,
                         const struct msg_local_task *assign);
/* After an iteration: is the task done, and which is next? */
void trainer_task_step(struct trainer *trainer);

#endif
