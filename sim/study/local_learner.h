/* The learner of a simulated node that trains for real: a trainer of train/
 * with its own part of the data, its own optimizer state and its own first
 * parameters.
 *
 * It stands between train/trainer.h and sim/trainer.h, which both call what
 * they have a trainer. Parameters live with the caller; a local learner only
 * takes gradients at them and steps on them. What fails once it is open ends
 * the program. */
#ifndef SIM_STUDY_LOCAL_LEARNER_H
#define SIM_STUDY_LOCAL_LEARNER_H

#include <stddef.h>
#include <stdint.h>

#include "core/schema.h"
#include "core/status.h"

struct local_learner;
struct options;
struct trainer_choice; /* train/trainer.h, which sim/trainer.h clashes with */

/* As trainer_open. */
enum status local_learner_open(const struct trainer_choice *choice,
                               struct local_learner **out,
                               struct why *why) MUST_CHECK;
void local_learner_close(struct local_learner **learner);

/* Parameters of what the options train, which is opened for that. */
enum status local_learner_count(const struct options *options, uint64_t *out,
                                struct why *why) MUST_CHECK;

size_t local_learner_elements(const struct local_learner *learner);
/* Samples of a gradient. */
uint64_t local_learner_batch(const struct local_learner *learner);
/* Its first parameters; the caller's, to free. */
float *local_learner_start(const struct local_learner *learner);
/* The caller's, to destroy. */
struct schema *local_learner_schema(const struct local_learner *learner);
/* Its shard of the data from now on, as trainer_set_shard. */
void local_learner_set_shard(const struct local_learner *learner,
                             uint32_t shard, uint32_t shards);

/* The gradient of its next samples at x; returns their mean loss. */
double local_learner_gradient(const struct local_learner *learner,
                              const float *x, float *gradient);
/* Takes elements [first, first + count) of a gradient to the optimizer; with
 * the last of them it steps on the whole of x. */
void local_learner_step(const struct local_learner *learner, float *x,
                        const float *gradient, size_t first, size_t count);
/* As if its optimizer had not taken a step. */
void local_learner_forget(const struct local_learner *learner);
/* Mean loss on at most so many held-out samples, 0: all; the share of right
 * answers; the loss's standard error. Where there are none, zeros. */
void local_learner_evaluate(const struct local_learner *learner, const float *x,
                            uint64_t samples, double *loss, double *accuracy,
                            double *error);

#endif
