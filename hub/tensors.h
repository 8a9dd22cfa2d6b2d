/* Rules that look at a tensor as a whole, and not at tile after tile of a
 * chunk: of each tensor, what of it is in the chunk. Statistics, which no rule
 * may turn, are summed as ever. */
#ifndef HUB_TENSORS_H
#define HUB_TENSORS_H

#include "hub/work.h"

/* whole[0 .. extent.elements) = what the updates come to by the policy's
 * reduce->blend, divided. NO_MEMORY. */
enum status tensors_blend(const struct chunk_merge *merge, double *whole);
/* Changes it by the policy's merge->correct, where something is kept. */
void tensors_correct(const struct chunk_merge *merge, double *whole);

#endif
