/* The node's work on payloads. */
#ifndef NODE_WORK_H
#define NODE_WORK_H

#include "seam/machine.h"

/* out[0] = the sum of all inputs, encoded raw and sealed; number[0] = its
 * squared norm. CONFIG when it is not finite. */
extern const struct work work_delta;
/* The same, after checking that input 0 has the checksum in tag[2] and is
 * finite: MALFORMED if not. Not sealed. */
extern const struct work work_correct;
/* out[0] = inputs 1, 2, ... end to end, `elements` floats together, after
 * checking that their checksums are those in input 0; MALFORMED if not. */
extern const struct work work_gather;
/* Seals input 0. */
extern const struct work work_seal;

#endif
