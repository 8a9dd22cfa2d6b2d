/* From a failing plan to the shortest story that fails alike: fewer acts,
 * fewer nodes, fewer settings, rounder and earlier times.
 *
 * Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
 * failure-inducing input", 2002) on the list of acts; the settings one by one.
 * Alike is a life that ends with the same complaint, whatever its numbers. Each
 * attempt lives in a process of its own, so that a life that ends the process
 * (an assert) can be cut down, too. */
#ifndef SIM_STUDY_SOAK_SHRINK_H
#define SIM_STUDY_SOAK_SHRINK_H

#include "sim/study/soak.h"

enum { SOAK_ATTEMPTS = 3000 /* at most, for one story */ };

/* Lives a plan in a child. A child that dies has a complaint that says so.
 * False: somebody has interrupted it, and nothing is known of it. */
bool soak_try(const struct soak_plan *plan, const struct soak_watcher *watcher,
              struct soak_life *out) MUST_CHECK;

/* Whether two complaints are the same but for their numbers. */
bool soak_alike(const char *one, const char *other);

/* The shortest plan found that fails with `complaint`, until somebody
 * interrupts it; the caller's. */
struct soak_plan *soak_shrink(const struct soak_plan *plan,
                              const struct soak_watcher *watcher,
                              const char *complaint);

/* The story: what is wrong as a comment, then the plan. */
void soak_tell(const struct soak_plan *plan, const char *complaint, FILE *out);

#endif
