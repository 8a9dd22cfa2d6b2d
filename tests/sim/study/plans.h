/* Plans of soak as text, for the tests of its parts. */
#ifndef TESTS_SIM_STUDY_PLANS_H
#define TESTS_SIM_STUDY_PLANS_H

#include "sim/study/soak_plan.h"

/* The plan of this text, which is one; the caller's. */
struct soak_plan *plan_of(const char *text);
/* As text; the caller's. */
char *plan_text(const struct soak_plan *plan);

#endif
