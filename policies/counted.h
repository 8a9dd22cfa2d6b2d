/* Which node may communicate when iterations are counted over all nodes (LSGD,
 * Teng et al. 2019; docs/ancestors.md, SD-14).
 *
 * A node asks before each iteration. Until all nodes together have done
 * nodes * every iterations the answer is to do one more; then each of the next
 * `nodes` questions is told to communicate; then the count starts again. So
 * fast nodes do more of the iterations, and none waits for a straggler. */
#ifndef POLICIES_COUNTED_H
#define POLICIES_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

enum counted_answer { COUNTED_LOCAL, COUNTED_COMMUNICATE, COUNTED_STOP };

struct counted {
    uint64_t iterations; /* of all nodes in this phase */
    unsigned told;       /* nodes that were told to communicate */
};

/* Answers one question and counts it. `over`: no new phase is begun, so that
 * the end comes after a whole one. */
enum counted_answer counted_ask(struct counted *phase, unsigned nodes,
                                uint64_t every, bool over);

#endif
