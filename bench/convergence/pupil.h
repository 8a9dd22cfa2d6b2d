/* What a simulated node really trains: a trainer of train/ with its own part
 * of the data, its own optimizer state and its own first parameters.
 *
 * It stands between train/trainer.h and sim/trainer.h, which both call what
 * they have a trainer. Parameters live with the caller; a pupil only takes
 * gradients at them and steps on them. What fails here fails the program. */
#ifndef BENCH_CONVERGENCE_PUPIL_H
#define BENCH_CONVERGENCE_PUPIL_H

#include <stddef.h>
#include <stdint.h>

#include "bench/convergence/outcome.h"
#include "bench/convergence/workload.h"
#include "core/schema.h"

struct pupil;

/* The pupil of a task's node `node`, or one that only judges: its role says
 * whose data it has. */
struct pupil *pupil_new(const struct task *task, enum role role,
                        unsigned node);
void pupil_destroy(struct pupil **pupil);

size_t pupil_elements(const struct pupil *pupil);
/* Its first parameters; the caller's, to free. */
float *pupil_start(const struct pupil *pupil);
/* The caller's, to destroy. */
struct schema *pupil_schema(const struct pupil *pupil);

/* The gradient of its next samples at x; returns their mean loss. */
double pupil_gradient(const struct pupil *pupil, const float *x,
                      float *gradient);
/* Takes elements [first, first + count) of a gradient to the optimizer; with
 * the last of them it steps on the whole of x. */
void pupil_step(const struct pupil *pupil, float *x, const float *gradient,
                size_t first, size_t count);
/* As if its optimizer had not taken a step. */
void pupil_forget(const struct pupil *pupil);
/* Mean loss and share of right answers; not for the nodes'. */
void pupil_judge(const struct pupil *pupil, const float *x, double *loss,
                 double *accuracy);

#endif
