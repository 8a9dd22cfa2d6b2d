/* Arithmetic of collectives on payloads: the insides of jobs. */
#ifndef COLLECTIVES_WORK_H
#define COLLECTIVES_WORK_H

#include "seam/machine.h"

/* Bytes of one scalar. */
unsigned scalar_bytes(enum scalar scalar);
/* Whether the reduction makes sense of such scalars: MEAN of floats only,
 * BITOR of integers only. */
bool reduction_fits(enum reduction reduction, enum scalar scalar);

/* What the machines' jobs run. */

/* Input 0 must have this checksum; MALFORMED if not. */
void check_input(struct job *job, uint64_t checksum);
/* Seals input 0. */
void seal_input(struct job *job);
/* out[0], sealed = a copy of input 0. Waits for memory (core/need.h): a message
 * that flows keeps others from its receiver until it is whole. */
void copy_input(struct job *job);
/* out[0], sealed = the inputs reduced elementwise, in their order: equal bits
 * on every machine. Floats are added in double, and rounded once; integers
 * wrap; MAX and MIN keep the earlier of equals, and a NaN only where it is the
 * first. MEAN divides by the number of inputs. MALFORMED when sizes differ or
 * hold half a scalar. */
void reduce_inputs(struct job *job, enum scalar scalar,
                   enum reduction reduction);

#endif
