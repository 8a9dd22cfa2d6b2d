/* A simulated trainer: a vector of parameters that takes a step of gradient
 * descent each iteration, in virtual time.
 *
 * It is a machine as hub and node are, and trains by node/training.h, as the
 * library does on a user's training thread: at the end of an iteration it
 * applies what is due, then offers, and with d = 0 waits for the answer. Its
 * only peer is its node, PEER_TRAINER on both ends. EVENT_JOIN starts it. */
#ifndef SIM_TRAINER_H
#define SIM_TRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/blob.h"
#include "core/time.h"
#include "core/words.h"
#include "seam/machine.h"

/* Writes the gradient at x[elements] and returns the loss there. Iterations
 * count from 0. */
typedef double trainer_gradient(const void *context, uint64_t iteration,
                                const float *x, size_t elements,
                                float *gradient);

/* Takes elements [first, first + count) of a gradient to an optimizer; parts
 * come in order, and with the last it steps on the whole of x. */
typedef void trainer_optimizer(const void *context, float *x,
                               const float *gradient, size_t first,
                               size_t count);

/* Evaluates x[elements] on held-out samples, for reviews; false: it cannot. */
typedef bool trainer_evaluator(const void *context, const float *x,
                               size_t elements, double *loss, double *error);

enum trainer_moment {
    TRAINER_STEPPED, /* an iteration is done */
    TRAINER_OFFERED,
    TRAINER_REPLACED, /* the parameters, by others; APPLIED comes as well */
    TRAINER_APPLIED,  /* exchange 0: what it was to take at first */
    TRAINER_SKIPPED,
    TRAINER_BLOCKED
};

/* What an observer is shown; borrowed for the call. */
struct trainer_look {
    enum trainer_moment moment;
    nanos now;
    uint64_t iteration, exchange;
    bool reset; /* REPLACED: an optimizer's state is to be forgotten */
    float *x;   /* a test may change it: its own way to apply */
    const struct msg_local_task *task; /* that it trains on, NULL: none */
    size_t elements;
};

struct trainer_config {
    const char *name;   /* for transcripts; copied */
    const float *start; /* parameters to begin with; copied */
    size_t elements;
    const struct statistics *statistics; /* among them; NULL: none */
    nanos step, step_jitter; /* an iteration takes step + [0, jitter) */
    double step_cv;   /* > 0: step is the mean of a log-normal distribution with
                         this coefficient of variation */
    double hiccups;   /* probability that a pause follows an iteration */
    nanos hiccup;     /* mean of the pause, Pareto with shape 2: rare, long */
    double rate;      /* x -= rate * gradient */
    uint64_t samples; /* of an iteration */
    uint64_t task_steps; /* iterations of a task; 0: it asks for none */
    trainer_gradient *gradient;
    trainer_optimizer *optimizer; /* NULL: descent with `rate` */
    trainer_evaluator *evaluate;  /* NULL: it makes no reviews */
    const void *context;          /* of gradient, optimizer and evaluate */
    void (*look)(void *observer, const struct trainer_look *look);
    void *observer;
    uint64_t seed;
};

struct trainer;

/* The pool must outlive the trainer. */
struct trainer *trainer_new(const struct trainer_config *config,
                            struct pool *pool);
void trainer_destroy(struct trainer **trainer);
struct machine trainer_machine(struct trainer *trainer);

/* Asks for a last offer at the next iteration's end, and to stop then. */
void trainer_leave(struct trainer *trainer);

/* From its next iteration on `step` is this. */
void trainer_pace(struct trainer *trainer, nanos step);

const float *trainer_values(const struct trainer *trainer);
uint64_t trainer_iteration(const struct trainer *trainer);
/* Results that were not there at i+d. */
uint64_t trainer_missed(const struct trainer *trainer);
nanos trainer_waited(const struct trainer *trainer);
/* Until its last iteration's end, or until it went on from there. */
nanos trainer_spent(const struct trainer *trainer, enum spent where);
bool trainer_stopped(const struct trainer *trainer);

#endif
