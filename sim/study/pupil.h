/* What a simulated node really trains: a trainer of train/ with its own part
 * of the data, its own optimizer state and its own first parameters.
 *
 * It stands between train/trainer.h and sim/trainer.h, which both call what
 * they have a trainer. Parameters live with the caller; a pupil only takes
 * gradients at them and steps on them. What fails once it is open ends the
 * program. */
#ifndef SIM_STUDY_PUPIL_H
#define SIM_STUDY_PUPIL_H

#include <stddef.h>
#include <stdint.h>

#include "core/schema.h"
#include "core/status.h"

struct pupil;
struct trainer_choice; /* train/trainer.h, which sim/trainer.h clashes with */

/* As trainer_open. */
enum status pupil_open(const struct trainer_choice *choice, struct pupil **out,
                       struct why *why) MUST_CHECK;
void pupil_close(struct pupil **pupil);

size_t pupil_elements(const struct pupil *pupil);
/* Samples of a gradient. */
uint64_t pupil_batch(const struct pupil *pupil);
/* Its first parameters; the caller's, to free. */
float *pupil_start(const struct pupil *pupil);
/* The caller's, to destroy. */
struct schema *pupil_schema(const struct pupil *pupil);
/* What it trains on from now on, as trainer_set_shard. */
void pupil_set_shard(const struct pupil *pupil, uint32_t shard,
                     uint32_t shards);

/* The gradient of its next samples at x; returns their mean loss. */
double pupil_gradient(const struct pupil *pupil, const float *x,
                      float *gradient);
/* Takes elements [first, first + count) of a gradient to the optimizer; with
 * the last of them it steps on the whole of x. */
void pupil_step(const struct pupil *pupil, float *x, const float *gradient,
                size_t first, size_t count);
/* As if its optimizer had not taken a step. */
void pupil_forget(const struct pupil *pupil);
/* Mean loss on at most so many held-out samples, 0: all; the share of right
 * answers; the loss's standard error. Where there are none, zeros. */
void pupil_judge(const struct pupil *pupil, const float *x, uint64_t samples,
                 double *loss, double *accuracy, double *error);

#endif
