/* Test fixture: a patient virtual group, and what its members often do. */
#ifndef TESTS_COLLECTIVES_PATIENT_H
#define TESTS_COLLECTIVES_PATIENT_H

#include "tests/collectives/virtual_group.h"

struct virtual_group *patient_new(unsigned count);
void patient_settle(struct virtual_group *group);
/* All were told this. */
void patient_check_all(const struct virtual_group *group, enum ending outcome);
/* The member sums vectors of 40 floats; all sum `value` plus their place. */
void patient_sum(struct virtual_group *group, unsigned place, double value);
void patient_sum_all(struct virtual_group *group, double value);
/* A checkpoint of 50 floats; of all members, lazily, with the model laid ready.
 */
void patient_checkpoint(struct virtual_group *group, unsigned place,
                        double value);
void patient_checkpoint_all(struct virtual_group *group, double value);
void patient_lazy_all(struct virtual_group *group, double value);
void patient_load(struct virtual_group *group, unsigned place);

#endif
