/* Parameters in pieces: arrays of float32 that a program keeps apart, such as
 * thousands of small tensors, and that end to end are one flat vector. They are
 * copied and moved in one call each, whatever their number; who attaches with
 * `change` (starswitch.h) has a use for both:
 *
 *     star_offer_pieces(link, copying, pieces, lengths, count);
 *     star_scatter(keep, scale, values, pieces, lengths, count);   in `change`
 *
 * A piece that is NULL is passed over: so many elements of the vector are left
 * as they are, for another way. No piece is kept. star_gather and star_scatter
 * cannot fail, and any thread may call them; `values` must not overlap a
 * piece. */
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

/* As star_offer, from the pieces themselves, which saves the copy to the
 * tensors: of elements that are in no piece, as those of a NULL and those
 * behind the last, the tensors hold the newest. It is not star_offer for
 * star_detach: the tensors hold no more than before. BAD_ARGUMENT: as there, or
 * the pieces are longer than the vector; NO_MEMORY: nothing was done. */
STAR_API enum star_status star_offer_pieces(struct star_link *link,
                                            uint64_t iteration,
                                            const float *const *pieces,
                                            const uint64_t *lengths,
                                            size_t count);

#ifdef __cplusplus
}
#endif

#endif
