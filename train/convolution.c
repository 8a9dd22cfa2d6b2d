#include "train/convolution.h"

#include <string.h>

#include "train/linear.h"
#include "train/matrix.h"

enum { LOST = 4 }; /* no winner, as the ReLU was closed */

/* A padded channel has a zero on each side of its rows and columns. What a tap
 * sees of it is then one stretch of memory, `places` long, that begins where
 * the tap does; at the end of each row there are two places too many, which
 * nobody reads. */
static size_t stride_of(const struct convolution *block)
{
    return block->width + 2;
}

static size_t padded_of(const struct convolution *block)
{
    return (block->height + 2) * stride_of(block);
}

static size_t places_of(const struct convolution *block)
{
    return block->height * stride_of(block) - 2;
}

static size_t tap_at(const struct convolution *block, size_t tap)
{
    return tap / CONVOLUTION_SIDE * stride_of(block) + tap % CONVOLUTION_SIDE;
}

size_t convolution_elements(const struct convolution *block)
{
    return (block->in * CONVOLUTION_TAPS + 1) * block->out;
}

size_t convolution_inputs(const struct convolution *block)
{
    return block->in * block->height * block->width;
}

size_t convolution_outputs(const struct convolution *block)
{
    return block->out * (block->height / 2) * (block->width / 2);
}

size_t convolution_scratch(const struct convolution *block)
{
    return block->in * padded_of(block) +
           (block->in * CONVOLUTION_TAPS + block->out) * places_of(block);
}

void convolution_randomize(const struct convolution *block, float *values,
                           struct prng *prng)
{
    struct linear linear = {block->in * CONVOLUTION_TAPS, block->out};

    linear_randomize(linear, 2, values, prng);
}

/* The three parts of the scratch. */
struct parts {
    float *padded;  /* the picture: in x padded_of() */
    float *columns; /* in x 9, x places_of() */
    float *maps;    /* behind the convolution: out x places_of() */
};

static struct parts parts_of(const struct convolution *block, float *scratch)
{
    float *columns = scratch + block->in * padded_of(block);

    return (struct parts){scratch, columns,
                          columns +
                              block->in * CONVOLUTION_TAPS * places_of(block)};
}

static void make_columns(const struct convolution *block, const float *x,
                         const struct parts *parts)
{
    size_t padded = padded_of(block), places = places_of(block);
    float *column = parts->columns;

    memset(parts->padded, 0, block->in * padded * sizeof *x);
    for (size_t c = 0; c < block->in; c++)
        for (size_t row = 1; row <= block->height; row++, x += block->width)
            memcpy(parts->padded + c * padded + row * stride_of(block) + 1, x,
                   block->width * sizeof *x);
    for (size_t c = 0; c < block->in; c++)
        for (size_t tap = 0; tap < CONVOLUTION_TAPS; tap++, column += places)
            memcpy(column, parts->padded + c * padded + tap_at(block, tap),
                   places * sizeof *x);
}

/* The other way: adds up what all taps say of a number of the picture. */
static void add_columns(const struct convolution *block,
                        const struct parts *parts, float *dx)
{
    size_t padded = padded_of(block), places = places_of(block);
    const float *column = parts->columns;

    memset(parts->padded, 0, block->in * padded * sizeof *dx);
    for (size_t c = 0; c < block->in; c++)
        for (size_t tap = 0; tap < CONVOLUTION_TAPS; tap++, column += places) {
            float *at = parts->padded + c * padded + tap_at(block, tap);

            for (size_t i = 0; i < places; i++)
                at[i] += column[i];
        }
    for (size_t c = 0; c < block->in; c++)
        for (size_t row = 1; row <= block->height; row++, dx += block->width)
            memcpy(dx, parts->padded + c * padded + row * stride_of(block) + 1,
                   block->width * sizeof *dx);
}

static struct matrix weights_of(const struct convolution *block,
                                const float *values)
{
    return matrix_of(values, block->out, block->in * CONVOLUTION_TAPS);
}

static struct matrix columns_of(const struct convolution *block,
                                const struct parts *parts)
{
    return matrix_of(parts->columns, block->in * CONVOLUTION_TAPS,
                     places_of(block));
}

static struct matrix maps_of(const struct convolution *block,
                             const struct parts *parts)
{
    return matrix_of(parts->maps, block->out, places_of(block));
}

/* The largest of four, which `map` begins with; the first of equal ones. */
static inline unsigned largest_of(const float *map, size_t stride, float *out)
{
    const float four[] = {map[0], map[1], map[stride], map[stride + 1]};
    unsigned winner = 0;

    for (unsigned i = 1; i < 4; i++)
        winner = four[i] > four[winner] ? i : winner;
    *out = four[winner];
    return winner;
}

/* One channel. The largest of four behind bias and ReLU is the largest before
 * them. */
static void pool(const struct convolution *block, const float *map, float bias,
                 uint8_t *winners, float *y)
{
    size_t columns = block->width / 2, stride = stride_of(block);

    for (size_t row = 0; row < block->height / 2; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t i = row * columns + column;
            unsigned winner =
                largest_of(map + 2 * row * stride + 2 * column, stride, &y[i]);

            y[i] += bias;
            winners[i] = (uint8_t)(y[i] > 0 ? winner : LOST);
            y[i] = y[i] > 0 ? y[i] : 0;
        }
}

void convolution_forward(const struct convolution *block, const float *values,
                         const float *x, size_t pictures,
                         const struct convolution_work *work, float *y)
{
    const float *bias = values + block->out * block->in * CONVOLUTION_TAPS;
    size_t places = places_of(block), inputs = convolution_inputs(block);
    size_t outputs = convolution_outputs(block) / block->out;
    struct parts parts = parts_of(block, work->scratch);
    uint8_t *winners = work->winners;

    for (size_t i = 0; i < pictures; i++) {
        make_columns(block, x + i * inputs, &parts);
        matrix_multiply(weights_of(block, values), columns_of(block, &parts), 1,
                        0, parts.maps, places);
        for (size_t c = 0; c < block->out; c++) {
            pool(block, parts.maps + c * places, bias[c], winners, y);
            winners += outputs;
            y += outputs;
        }
    }
}

/* One channel: the derivative by a map, whose winners alone matter. Returns
 * their sum, the derivative by the bias. */
static float unpool(const struct convolution *block, const uint8_t *winners,
                    const float *dy, float *map)
{
    size_t columns = block->width / 2, stride = stride_of(block);
    float sum = 0;

    memset(map, 0, places_of(block) * sizeof *map);
    for (size_t row = 0; row < block->height / 2; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t i = row * columns + column;

            if (winners[i] == LOST)
                continue;
            map[(2 * row + winners[i] / 2) * stride + 2 * column +
                winners[i] % 2] = dy[i];
            sum += dy[i];
        }
    return sum;
}

/* The maps of picture number i; adds to the derivatives by the biases unless
 * they are NULL. */
static void unpool_all(const struct convolution *block, const float *dy,
                       size_t i, const struct convolution_work *work,
                       float *by_bias)
{
    size_t outputs = convolution_outputs(block) / block->out;
    struct parts parts = parts_of(block, work->scratch);

    for (size_t c = 0; c < block->out; c++) {
        size_t at = (i * block->out + c) * outputs;
        float sum = unpool(block, work->winners + at, dy + at,
                           parts.maps + c * places_of(block));

        if (by_bias)
            by_bias[c] += sum;
    }
}

void convolution_backward_values(const struct convolution *block,
                                 const float *x, const float *dy,
                                 size_t pictures,
                                 const struct convolution_work *work,
                                 float *gradients)
{
    size_t weights = block->in * CONVOLUTION_TAPS;
    struct parts parts = parts_of(block, work->scratch);

    memset(gradients, 0, convolution_elements(block) * sizeof *gradients);
    for (size_t i = 0; i < pictures; i++) {
        make_columns(block, x + i * convolution_inputs(block), &parts);
        unpool_all(block, dy, i, work, gradients + block->out * weights);
        matrix_multiply(maps_of(block, &parts),
                        matrix_transposed(columns_of(block, &parts)), 1, 1,
                        gradients, weights);
    }
}

void convolution_backward_inputs(const struct convolution *block,
                                 const float *values, const float *dy,
                                 size_t pictures,
                                 const struct convolution_work *work, float *dx)
{
    struct parts parts = parts_of(block, work->scratch);

    for (size_t i = 0; i < pictures; i++) {
        unpool_all(block, dy, i, work, NULL);
        matrix_multiply(matrix_transposed(weights_of(block, values)),
                        maps_of(block, &parts), 1, 0, parts.columns,
                        places_of(block));
        add_columns(block, &parts, dx + i * convolution_inputs(block));
    }
}
