/* The node's work on payloads. */
#ifndef NODE_WORK_H
#define NODE_WORK_H

#include "seam/machine.h"

/* How work_delta goes. */
enum delta_number {
    DELTA_SQUARES, /* out: of what is given, decoded as all others will */
    DELTA_PARTS,   /* 0, or how many inputs come before those of r */
    DELTA_KEEPS    /* whether what the codec leaves out is wanted */
};

/* Whoever makes a job of sums says which input's statistics count (`plain` of
 * struct job).
 *
 * out[0] = the sum of all inputs, p, in the codec of tag[2], sealed. CONFIG
 * when p is not finite. out[1] = p - decoded out[0] if DELTA_KEEPS, or, if
 * DELTA_PARTS, r, of which the inputs from there on are -r. A blob that is p
 * already is not copied. */
extern const struct work work_delta;
/* The same, of exchanges that were merged. */
extern const struct work work_fold;
/* out[0] = the sum of all inputs as floats, after checking that input 0 has the
 * checksum in tag[2] and that the sum's norm is at most 1e30: MALFORMED if not.
 * Not sealed. */
extern const struct work work_correct;
/* out[0] = the values that the last input stands for, sealed: those it holds,
 * or, if there is one before it, that one changed by it. MALFORMED when it has
 * not the checksum in tag[2], does not fit, or a value is not finite; raw
 * values are only looked at when they are used. */
extern const struct work work_decode;
/* out[0] = inputs 1, 2, ... end to end, `elements` floats together, after
 * checking that their checksums are those in input 0; MALFORMED if not. */
extern const struct work work_gather;
/* Seals input 0. */
extern const struct work work_seal;

#endif
