/* A training loop that follows a pacer, iteration by iteration. */
#ifndef TESTS_NODE_PACING_H
#define TESTS_NODE_PACING_H

#include "node/pacer.h"

/* Attached, with k and d of this. */
void pacing_start(struct pacer *pacer, uint64_t every, uint64_t delay,
                  enum miss miss);
void pacing_run_to(struct pacer *pacer, uint64_t iteration);
/* Runs to the iteration and offers there. */
uint64_t pacing_offer_at(struct pacer *pacer, uint64_t iteration);
/* Checks what is due, and does it if that is to apply or to skip. */
void pacing_expect(struct pacer *pacer, enum pacer_act act, uint64_t exchange);

#endif
