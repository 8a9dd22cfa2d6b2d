/* Short words for what the members of a patient circle do in tests. */
#ifndef TESTS_COLLECTIVES_PATIENT_H
#define TESTS_COLLECTIVES_PATIENT_H

#include "tests/collectives/circle.h"

struct circle *patient_new(unsigned count);
/* The answer to the member's last request. */
const struct msg_told *patient_told(const struct circle *circle,
                                    unsigned place);
void patient_settle(struct circle *circle);
/* All were told this. */
void patient_check_all(const struct circle *circle, enum ending outcome);
/* The member sums vectors of 40 floats; all sum `value` plus their place. */
void patient_sum(struct circle *circle, unsigned place, double value);
void patient_sum_all(struct circle *circle, double value);
/* A checkpoint of 50 floats; of all members, lazily, with the model laid ready.
 */
void patient_checkpoint(struct circle *circle, unsigned place, double value);
void patient_checkpoint_all(struct circle *circle, double value);
void patient_lazy_all(struct circle *circle, double value);
void patient_load(struct circle *circle, unsigned place);

#endif
