#include "train/convolution.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/train/models.h"
#include "tests/train/waves.h"

enum { VALUES_MAX = 256, NUMBERS_MAX = 3 * 3 * 28 * 28 };

/* Odd channels and sizes, pictures that are not square, the smallest ones. */
static const struct convolution blocks[] = {{1, 3, 7, 7},   {3, 5, 7, 7},
                                            {2, 1, 2, 2},   {3, 2, 5, 8},
                                            {1, 3, 28, 28}, {3, 5, 28, 28}};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static float values[VALUES_MAX], gradients[VALUES_MAX];
static float x[NUMBERS_MAX], y[NUMBERS_MAX], dy[NUMBERS_MAX];
static uint8_t winners[NUMBERS_MAX];

static bool set_up(const struct convolution *block, size_t pictures,
                   struct convolution_work *work)
{
    work->scratch = calloc(convolution_scratch(block), sizeof(float));
    work->winners = winners;
    waves_fill(values, convolution_elements(block));
    for (size_t i = 0; i < pictures * convolution_inputs(block); i++)
        x[i] = (float)wave_at(i + 1, 0.9);
    for (size_t i = 0; i < pictures * convolution_outputs(block); i++)
        dy[i] = (float)wave_at(i + 1, 1.3);
    return CHECK(work->scratch != NULL) &&
           CHECK(convolution_elements(block) <= VALUES_MAX) &&
           CHECK(pictures * convolution_inputs(block) <= NUMBERS_MAX) &&
           CHECK(pictures * convolution_outputs(block) <= NUMBERS_MAX);
}

/* ---- the same in the slow and obvious way, in double precision ---- */

/* The pictures and values as they are, which may be moved. */
static double numbers[NUMBERS_MAX], weights[VALUES_MAX];

static double number_at(const struct convolution *block, const double *picture,
                        size_t channel, size_t row, size_t column)
{
    if (row < 1 || column < 1 || row > block->height || column > block->width)
        return 0;
    return picture[(channel * block->height + row - 1) * block->width + column -
                   1];
}

static double convolve(const struct convolution *block, const double *picture,
                       size_t out, size_t row, size_t column)
{
    double sum = weights[block->out * block->in * 9 + out];

    for (size_t c = 0; c < block->in; c++)
        for (size_t tap = 0; tap < 9; tap++)
            sum +=
                weights[(out * block->in + c) * 9 + tap] *
                number_at(block, picture, c, row + tap / 3, column + tap % 3);
    return sum;
}

static void widen(const struct convolution *block, size_t pictures)
{
    for (size_t i = 0; i < convolution_elements(block); i++)
        weights[i] = (double)values[i];
    for (size_t i = 0; i < pictures * convolution_inputs(block); i++)
        numbers[i] = (double)x[i];
}

static double output(const struct convolution *block, size_t i)
{
    size_t columns = block->width / 2, pooled = columns * (block->height / 2);
    size_t row = i % pooled / columns, column = i % columns;
    const double *picture =
        numbers + i / convolution_outputs(block) * convolution_inputs(block);
    double largest = 0; /* as the ReLU has it */

    for (size_t four = 0; four < 4; four++)
        largest =
            fmax(largest, convolve(block, picture, i / pooled % block->out,
                                   2 * row + four / 2, 2 * column + four % 2));
    return largest;
}

/* What dy makes a loss of. */
static double loss(const struct convolution *block, size_t pictures)
{
    double sum = 0;

    for (size_t i = 0; i < pictures * convolution_outputs(block); i++)
        sum += (double)dy[i] * output(block, i);
    return sum;
}

/* A loss is linear between two places where a ReLU opens or a winner changes.
 * The step is too short to meet one, and long enough that the rounding of a
 * loss of about 100, 1e-14, is less than 1e-6 of the difference. */
static double difference(const struct convolution *block, size_t pictures,
                         double *moved)
{
    const double step = 1e-8, before = *moved;
    double above, below;

    *moved = before + step;
    above = loss(block, pictures);
    *moved = before - step;
    below = loss(block, pictures);
    *moved = before;
    return (above - below) / (2 * step);
}

/* ---- what both say ---- */

/* float32 rounds each of at most 28 terms below 0.3 by 6e-8 of it. */
static void check_outputs(const struct convolution *block, size_t pictures)
{
    struct convolution_work work;

    if (set_up(block, pictures, &work)) {
        widen(block, pictures);
        convolution_forward(block, values, x, pictures, &work, y);
        for (size_t i = 0; i < pictures * convolution_outputs(block); i++)
            CHECK_NEAR(output(block, i), y[i], 1e-6);
    }
    free(work.scratch);
}

/* Derivatives by values are sums of at most 3 x 14 x 14 terms below 1, which
 * float32 rounds by 6e-8 of what they have come to, 30 at most. */
static void check_gradients_of(const struct convolution *block, size_t pictures)
{
    size_t inputs = pictures * convolution_inputs(block);
    struct convolution_work work;

    if (set_up(block, pictures, &work)) {
        widen(block, pictures);
        convolution_forward(block, values, x, pictures, &work, y);
        convolution_backward_values(block, x, dy, pictures, &work, gradients);
        convolution_backward_inputs(block, values, dy, pictures, &work, x);
        for (size_t i = 0; i < convolution_elements(block); i++)
            CHECK_NEAR(difference(block, pictures, &weights[i]), gradients[i],
                       3e-5);
        for (size_t i = 0; i < inputs; i += 1 + inputs / 64)
            CHECK_NEAR(difference(block, pictures, &numbers[i]), x[i], 3e-6);
    }
    free(work.scratch);
}

static void outputs_are_those_of_plain_loops(void)
{
    for (size_t b = 0; b < BLOCKS; b++) {
        check_outputs(&blocks[b], 1);
        check_outputs(&blocks[b], 3);
    }
}

static void gradients_are_those_of_finite_differences(void)
{
    for (size_t b = 0; b < BLOCKS; b++) {
        check_gradients_of(&blocks[b], 1);
        check_gradients_of(&blocks[b], 3);
    }
}

static void a_picture_gives_the_same_bits_in_any_batch(void)
{
    const struct convolution *block = &blocks[1];
    size_t inputs = convolution_inputs(block);
    size_t outputs = convolution_outputs(block);
    float one[NUMBERS_MAX];
    struct convolution_work work;

    if (set_up(block, 3, &work)) {
        convolution_forward(block, values, x, 3, &work, y);
        convolution_forward(block, values, x + 2 * inputs, 1, &work, one);
        CHECK(same_floats(y + 2 * outputs, one, outputs));
    }
    free(work.scratch);
}

/* Of 1 2 / 3 4 the last one wins, which nine weights see from all sides. */
static void a_picture_of_four_is_worked_out_by_hand(void)
{
    static const struct convolution block = {1, 1, 2, 2};
    static const float picture[] = {1, 2, 3, 4}, by = 5;
    static const float expected[] = {5, 10, 0, 15, 20, 0, 0, 0, 0, 5};
    float filter[10] = {[4] = 2, [9] = -1};
    struct convolution_work work;

    if (set_up(&block, 1, &work)) {
        convolution_forward(&block, filter, picture, 1, &work, y);
        CHECK_NEAR(7, y[0], 0);
        convolution_backward_values(&block, picture, &by, 1, &work, gradients);
        for (size_t i = 0; i < 10; i++)
            CHECK_NEAR((double)expected[i], gradients[i], 0);
        convolution_backward_inputs(&block, filter, &by, 1, &work, x);
        CHECK(x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 10);
        filter[9] = -9; /* the ReLU is closed */
        convolution_forward(&block, filter, picture, 1, &work, y);
        convolution_backward_values(&block, picture, &by, 1, &work, gradients);
        CHECK(y[0] == 0 && gradients[4] == 0 && gradients[9] == 0);
    }
    free(work.scratch);
}

static void initial_weights_have_the_variance_of_he(void)
{
    static const struct convolution wide = {30, 80, 2, 2};
    static float start[(30 * 9 + 1) * 80];
    double squares = 0;
    struct prng prng;

    prng_seed(&prng, 1);
    convolution_randomize(&wide, start, &prng);
    for (size_t i = 0; i < 21600; i++)
        squares += (double)start[i] * (double)start[i];
    CHECK_NEAR(2.0 / 270, squares / 21600, 4e-4);
    for (size_t i = 21600; i < 21680; i++)
        CHECK(start[i] == 0);
}

void add_train_convolution_tests(CU_pSuite suite)
{
    TEST(a_picture_of_four_is_worked_out_by_hand);
    TEST(outputs_are_those_of_plain_loops);
    TEST(gradients_are_those_of_finite_differences);
    TEST(a_picture_gives_the_same_bits_in_any_batch);
    TEST(initial_weights_have_the_variance_of_he);
}
