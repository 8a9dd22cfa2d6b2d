/* The work of collectives on payloads, for coordinator and client. */
#ifndef COLLECTIVES_WORK_H
#define COLLECTIVES_WORK_H

#include "seam/machine.h"

/* Bytes of one scalar. */
unsigned scalar_bytes(enum scalar scalar);
/* Whether the reduction makes sense of such scalars: MEAN of floats only,
 * BITOR of integers only. */
bool reduction_fits(enum reduction reduction, enum scalar scalar);

/* Input 0 must have the checksum in tag[2]; MALFORMED if not. */
extern const struct work work_segment_check;
/* Seals input 0. */
extern const struct work work_segment_seal;
/* out[0], sealed = a copy of input 0. */
extern const struct work work_segment_copy;
/* out[0], sealed = the inputs reduced elementwise, in their order: equal bits
 * on every machine. Floats are added in double, and rounded once; integers
 * wrap; MAX and MIN keep the earlier of equals, and a NaN only where it is the
 * first. number[0] = enum scalar, number[1] = enum reduction; MEAN divides by
 * the number of inputs. MALFORMED when sizes differ or hold half a scalar. */
extern const struct work work_segment_reduce;

#endif
