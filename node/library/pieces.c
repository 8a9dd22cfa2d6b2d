/* Parameters in pieces, copied and moved without a call for each. */
#include <starswitch_pieces.h>
#include <string.h>

void star_gather(const float *const *pieces, const uint64_t *lengths,
                 size_t count, float *values)
{
    for (size_t i = 0; i < count; i++) {
        if (pieces[i])
            memcpy(values, pieces[i], (size_t)lengths[i] * sizeof *values);
        values += lengths[i];
    }
}

static void move(float *piece, size_t length, float keep, float scale,
                 const float *values)
{
    if (keep == 0)
        for (size_t i = 0; i < length; i++)
            piece[i] = scale * values[i];
    else if (keep == 1)
        for (size_t i = 0; i < length; i++)
            piece[i] += scale * values[i];
    else
        for (size_t i = 0; i < length; i++)
            piece[i] = keep * piece[i] + scale * values[i];
}

void star_scatter(double keep, double scale, const float *values,
                  float *const *pieces, const uint64_t *lengths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t)lengths[i];

        if (pieces[i])
            move(pieces[i], length, (float)keep, (float)scale, values);
        values += length;
    }
}
