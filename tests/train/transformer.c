#include "train/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "tests/check.h"
#include "tests/train/models.h"
#include "tests/train/waves.h"
#include "train/softmax.h"

/* The network of golden/gpt.py. */
static const struct transformer_shape small = {2, 24, 3, 20};
enum { SEQUENCES = 2, CONTEXT = 20, ROWS = SEQUENCES * CONTEXT };

static const double golden_loss =
#define LOSS(loss) loss
#define GRADIENT(name, length, first, second)
#define MOVED_BY_ADAMW(name, length, first, second)
#define MOVED_BY_MUON(name, length, first, second)
#include "tests/train/golden/gpt.def"
#undef LOSS
#undef GRADIENT
    ;

static const struct golden golden[] = {
#define LOSS(loss)
#define GRADIENT(name, length, first, second) {name, length, first, second},
#include "tests/train/golden/gpt.def"
};

static struct transformer transformer;
static float *values, *gradients;
static int32_t labels[ROWS];

static unsigned char byte_at(size_t i)
{
    return (unsigned char)((7 * i * i + 3 * i) % 256);
}

static void write_inputs(void)
{
    for (size_t s = 0; s < SEQUENCES; s++)
        for (size_t t = 0; t < CONTEXT; t++) {
            size_t at = s * (CONTEXT + 1) + t;

            transformer_inputs(&transformer)[s * CONTEXT + t] = byte_at(at);
            labels[s * CONTEXT + t] = byte_at(at + 1);
        }
}

static void tear_down(void)
{
    transformer_free(&transformer);
    free(values);
    free(gradients);
}

static bool set_up(void)
{
    size_t count = transformer_elements(&small);

    values = calloc(count, sizeof *values);
    gradients = calloc(count, sizeof *gradients);
    if (!CHECK(values && gradients) ||
        !CHECK_OK(transformer_init(&transformer, &small, SEQUENCES)))
        return false;
    waves_fill(values, count);
    write_inputs();
    return true;
}

static double loss(void)
{
    size_t correct = 0;

    return softmax_cross_entropy(
               transformer_forward(&transformer, values, SEQUENCES, CONTEXT),
               labels, ROWS, TRANSFORMER_BYTES, &correct, NULL) /
           ROWS;
}

static void four_layers_of_128_have_834304_parameters(void)
{
    struct transformer_shape shape = {4, 128, 4, 64};

    CHECK_EQUAL(834304, transformer_elements(&shape));
    CHECK_EQUAL(32768, transformer_places_at(&shape));
    CHECK_EQUAL(834304 - 256, transformer_norm_at(&shape));
}

/* Where tensor `i` of the small network ends. Behind the embeddings weights
 * are even, biases odd. */
static size_t tensor_end(size_t i)
{
    size_t layer = (i - 2) / 2 / TRANSFORMER_PARTS;
    size_t part = (i - 2) / 2 % TRANSFORMER_PARTS;
    size_t end;

    if (i < 2)
        return i ? transformer_layer_at(&small, 0)
                 : transformer_places_at(&small);
    if (layer == small.layers)
        return transformer_norm_at(&small) + (i % 2 + 1) * small.width;
    end = transformer_layer_at(&small, layer) +
          transformer_part_at(&small, (enum transformer_part)(part + 1));
    return i % 2 ? end : end - transformer_rows[part].rows * small.width;
}

static void gradients_are_those_of_pytorch(void)
{
    size_t begin = 0, count = sizeof golden / sizeof *golden;

    if (!set_up())
        return;
    CHECK_NEAR(golden_loss, loss(), 1e-5);
    transformer_backward(&transformer, values, gradients);
    CHECK_EQUAL(transformer_elements(&small), tensor_end(count - 1));
    for (size_t i = 0; i < count; i++) {
        size_t end = tensor_end(i);

        (void)check_golden(&golden[i], gradients + begin, NULL, end - begin,
                           1e-5);
        begin = end;
    }
    tear_down();
}

/* 23 is less than the size of any tensor: every one is met. */
static void gradients_are_those_of_finite_differences(void)
{
    const float step = 1.0F / 128;

    if (!set_up())
        return;
    (void)loss();
    transformer_backward(&transformer, values, gradients);
    for (size_t i = 0; i < transformer_elements(&small); i += 23) {
        float before = values[i];
        double above, below;

        values[i] = before + step;
        above = loss();
        values[i] = before - step;
        below = loss();
        values[i] = before;
        CHECK_NEAR((above - below) / (2 * (double)step), gradients[i],
                   5e-5 + 0.01 * fabs((double)gradients[i]));
    }
    tear_down();
}

static void a_place_sees_nothing_that_is_behind_it(void)
{
    enum { CHANGED = 13, LOGITS = CHANGED * TRANSFORMER_BYTES };
    float before[LOGITS], *logits;

    if (!set_up())
        return;
    logits = transformer_forward(&transformer, values, SEQUENCES, CONTEXT);
    memcpy(before, logits, sizeof before);
    for (size_t i = CHANGED; i < ROWS; i++)
        transformer_inputs(&transformer)[i] ^= 1;
    logits = transformer_forward(&transformer, values, SEQUENCES, CONTEXT);
    CHECK(same_floats(before, logits, LOGITS));
    tear_down();
}

static void what_is_shorter_is_guessed_alike(void)
{
    enum { SHORT = 7, LOGITS = SHORT * TRANSFORMER_BYTES };
    float before[LOGITS], *logits;

    if (!set_up())
        return;
    logits = transformer_forward(&transformer, values, SEQUENCES, CONTEXT);
    memcpy(before, logits + (size_t)CONTEXT * TRANSFORMER_BYTES, sizeof before);
    memmove(transformer_inputs(&transformer),
            transformer_inputs(&transformer) + CONTEXT, SHORT);
    logits = transformer_forward(&transformer, values, 1, SHORT);
    for (size_t i = 0; i < LOGITS; i++)
        CHECK_NEAR((double)before[i], logits[i], 1e-4);
    tear_down();
}

static void every_level_of_instructions_gives_the_same_bits(void)
{
    size_t count = transformer_elements(&small);
    float *plain;
    double expected;

    if (!set_up())
        return;
    plain = calloc(count, sizeof *plain);
    if (!plain)
        abort();
    (void)cpu_limit(CPU_PLAIN);
    expected = loss();
    transformer_backward(&transformer, values, plain);
    for (int level = CPU_BASE; level < CPU_COUNT; level++) {
        (void)cpu_limit((enum cpu_level)level);
        CHECK(loss() == expected);
        transformer_backward(&transformer, values, gradients);
        CHECK(same_floats(plain, gradients, count));
    }
    (void)cpu_limit(CPU_AVX512);
    free(plain);
    tear_down();
}

static double deviation(const float *x, size_t count)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        squares += (double)x[i] * (double)x[i];
    return sqrt(squares / (double)count);
}

static void first_values_are_those_of_gpt_2(void)
{
    size_t layer = transformer_layer_at(&small, 1);
    size_t project = layer + transformer_part_at(&small, TRANSFORMER_PROJECT);
    size_t attend = layer + transformer_part_at(&small, TRANSFORMER_ATTEND);
    struct prng prng;

    if (!set_up())
        return;
    prng_seed(&prng, 1);
    transformer_randomize(&small, values, &prng);
    CHECK_NEAR(0.02, deviation(values, 6144), 1e-3);
    CHECK_NEAR(0.02, deviation(values + attend, 1728), 1e-3);
    CHECK_NEAR(0.01, deviation(values + project, 576), 1e-3);
    for (size_t i = 0; i < small.width; i++) {
        CHECK(values[layer + i] == 1);
        CHECK(values[layer + small.width + i] == 0);
        CHECK(values[attend - 1 - i] == 0);
        CHECK(values[transformer_norm_at(&small) + i] == 1);
    }
    tear_down();
}

void add_train_transformer_tests(CU_pSuite suite)
{
    TEST(four_layers_of_128_have_834304_parameters);
    TEST(gradients_are_those_of_pytorch);
    TEST(gradients_are_those_of_finite_differences);
    TEST(a_place_sees_nothing_that_is_behind_it);
    TEST(what_is_shorter_is_guessed_alike);
    TEST(every_level_of_instructions_gives_the_same_bits);
    TEST(first_values_are_those_of_gpt_2);
}
