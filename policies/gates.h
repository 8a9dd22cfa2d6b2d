/* When a round closes, and what each contribution weighs in it. */
#ifndef POLICIES_GATES_H
#define POLICIES_GATES_H

#include "policies/policy.h"

/* Closes when every live node has offered; weights are shares of samples. */
extern const struct gate_rule gate_sync;
/* Each offer is a round; its weight is 1/N, so that N equal nodes move the
 * centre as far as one synchronous round does. Dividing by the weights in the
 * round would cancel any discount. */
extern const struct gate_rule gate_async;

#endif
