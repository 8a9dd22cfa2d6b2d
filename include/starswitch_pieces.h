/* Parameters in pieces: arrays of float32 that a program keeps apart, such as
 * thousands of small tensors, and that end to end are one flat vector. They are
 * copied and moved in one call each, whatever their number; who attaches with
 * `change` (starswitch.h) has a use for both:
 *
 *     star_gather(pieces, lengths, count, values);      then star_offer
 *     star_scatter(keep, scale, values, pieces, lengths, count);   in `change`
 *
 * A piece that is NULL is passed over: so many elements of the vector are left
 * as they are, for another way. Nothing is kept, nothing can fail, and any
 * thread may call; `values` must not overlap a piece. */
#ifndef STARSWITCH_PIECES_H
#define STARSWITCH_PIECES_H

#include <starswitch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `count` pieces, of lengths[i] elements each, to `values`, which has
 * room for all of them. */
STAR_API void star_gather(const float *const *pieces, const uint64_t *lengths,
                          size_t count, float *values);

/* Moves `count` pieces: x = keep x + scale v, in float32, where v is the part
 * of `values` that is the piece's. What is not kept (keep 0) may be NaN. */
STAR_API void star_scatter(double keep, double scale, const float *values,
                           float *const *pieces, const uint64_t *lengths,
                           size_t count);

#ifdef __cplusplus
}
#endif

#endif
