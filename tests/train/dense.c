#include "train/dense.h"

#include <math.h>

#include "tests/check.h"
#include "train/softmax.h"

/* Two inputs, two hidden, one output; weights and biases in their order. */
static const size_t widths[] = {2, 2, 1};
static const float values[] = {1, 2, -1, 1, 0.5f, 0, 3, 4, -1};

static void fill_inputs(struct dense *dense)
{
    float *x = dense_inputs(dense);

    x[0] = 1; /* hidden 1 + 2 + 0.5 = 3.5 and 0: output 10.5 - 1 */
    x[1] = 1;
    x[2] = -2; /* hidden -1.5 -> 0 and 2: output 8 - 1 */
    x[3] = 0;
}

static void layers_multiply_add_and_cut_at_zero(void)
{
    struct dense dense;
    float *y;

    if (!CHECK_OK(dense_init(&dense, widths, 2, 4)))
        return;
    CHECK_EQUAL(9, dense_elements(&dense));
    fill_inputs(&dense);
    y = dense_forward(&dense, values, 2);
    CHECK_NEAR(9.5, y[0], 1e-6);
    CHECK_NEAR(7, y[1], 1e-6);
    dense_free(&dense);
}

static void backward_gives_the_derivatives_worked_out_by_hand(void)
{
    /* Loss is the sum of outputs; the second ReLU is closed at 0 for row 1,
     * the first for row 2. */
    static const float expected[] = {3, 3, -8, 0, 3, 4, 3.5f, 2, 2};
    static const float inputs[] = {3, 6, -4, 4};
    struct dense dense;
    float gradients[9];
    float *y;

    if (!CHECK_OK(dense_init(&dense, widths, 2, 2)))
        return;
    fill_inputs(&dense);
    y = dense_forward(&dense, values, 2);
    y[0] = y[1] = 1;
    dense_backward(&dense, values, gradients, 2, 1);
    for (unsigned i = 0; i < 9; i++)
        CHECK_NEAR((double)expected[i], gradients[i], 1e-5);
    for (unsigned i = 0; i < 4; i++)
        CHECK_NEAR((double)inputs[i], dense_inputs(&dense)[i], 1e-5);
    dense_free(&dense);
}

static void initial_weights_have_the_variance_of_he(void)
{
    static const size_t wide[] = {200, 100, 50};
    static float start[200 * 100 + 100 + 100 * 50 + 50];
    struct dense dense;
    struct prng prng;
    double squares = 0;

    if (!CHECK_OK(dense_init(&dense, wide, 2, 1)))
        return;
    prng_seed(&prng, 1);
    dense_randomize(&dense, start, &prng);
    for (unsigned i = 0; i < 20000; i++)
        squares += (double)start[i] * (double)start[i];
    CHECK_NEAR(2.0 / 200, squares / 20000, 5e-4);
    for (unsigned i = 20000; i < 20100; i++)
        CHECK(start[i] == 0);
    dense_free(&dense);
}

static void equal_logits_lose_the_logarithm_of_the_classes(void)
{
    float logits[4] = {7, 7, 7, 7};
    const int32_t label = 2;
    size_t correct = 0;

    CHECK_NEAR(log(4),
               softmax_cross_entropy(logits, &label, 1, 4, &correct, NULL),
               1e-6);
    CHECK_NEAR(0.25, logits[0], 1e-6);
    CHECK_NEAR(-0.75, logits[2], 1e-6);
    CHECK_EQUAL(0, correct);
}

static void huge_logits_do_not_overflow(void)
{
    float logits[4] = {1e30f, -1e30f, 1000, 2000};
    const int32_t labels[2] = {0, 0};
    size_t correct = 0;
    double squares = 0, loss = softmax_cross_entropy(logits, labels, 2, 2,
                                                     &correct, &squares);

    CHECK_NEAR(1000, loss, 1e-3);
    CHECK_NEAR(1e6, squares, 1);
    CHECK_EQUAL(1, correct);
    CHECK_NEAR(0.5, logits[3], 1e-6);
}

static void logits_that_are_no_numbers_are_never_right(void)
{
    float logits[2] = {NAN, NAN};
    const int32_t label = 0;
    size_t correct = 0;

    CHECK(isnan(softmax_cross_entropy(logits, &label, 1, 2, &correct, NULL)));
    CHECK_EQUAL(0, correct);
}

void add_train_dense_tests(CU_pSuite suite)
{
    TEST(layers_multiply_add_and_cut_at_zero);
    TEST(backward_gives_the_derivatives_worked_out_by_hand);
    TEST(initial_weights_have_the_variance_of_he);
    TEST(equal_logits_lose_the_logarithm_of_the_classes);
    TEST(huge_logits_do_not_overflow);
    TEST(logits_that_are_no_numbers_are_never_right);
}
