#include "train/muon.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "train/matrix.h"
#include "train/optimizer.h"

enum { ROWS = 2, COLUMNS = 3, SIZE = ROWS * COLUMNS };

/* x = U S V^T of two rotations: U by 0.7; V's columns are these. */
static const double right[ROWS][COLUMNS] = {{0.36, 0.48, 0.8}, {0.8, -0.6, 0}};

static void compose(double first, double second, float x[SIZE])
{
    double c = cos(0.7), s = sin(0.7);

    for (int j = 0; j < COLUMNS; j++) {
        x[j] = (float)(c * first * right[0][j] - s * second * right[1][j]);
        x[COLUMNS + j] =
            (float)(s * first * right[0][j] + c * second * right[1][j]);
    }
}

/* What the five steps make of one singular value. */
static double quintic(double s)
{
    for (int step = 0; step < 5; step++)
        s = 3.4445 * s - 4.7750 * pow(s, 3) + 2.0315 * pow(s, 5);
    return s;
}

static void each_singular_value_goes_its_own_way_to_about_one(void)
{
    float x[SIZE], tall[SIZE], wanted[SIZE], scratch[SIZE + 2 * ROWS * ROWS];

    matrix_begin();
    CHECK_EQUAL(sizeof scratch / sizeof *scratch, muon_scratch(ROWS, COLUMNS));
    CHECK_EQUAL(sizeof scratch / sizeof *scratch, muon_scratch(COLUMNS, ROWS));
    compose(4, 3, x); /* its length is 5 */
    for (int i = 0; i < SIZE; i++)
        tall[i % COLUMNS * ROWS + i / COLUMNS] = x[i];
    compose(quintic(0.8), quintic(0.6), wanted);
    muon_orthogonalize(x, ROWS, COLUMNS, scratch);
    muon_orthogonalize(tall, COLUMNS, ROWS, scratch);
    for (int i = 0; i < SIZE; i++) {
        CHECK_NEAR((double)wanted[i], x[i], 1e-5);
        CHECK_NEAR((double)wanted[i], tall[i % COLUMNS * ROWS + i / COLUMNS],
                   1e-5);
    }
    CHECK_NEAR(1, quintic(0.8), 0.35);
    CHECK_NEAR(1, quintic(0.6), 0.35);
}

static void nothing_stays_nothing(void)
{
    float x[SIZE] = {0}, scratch[SIZE + 2 * ROWS * ROWS];

    muon_orthogonalize(x, ROWS, COLUMNS, scratch);
    for (int i = 0; i < SIZE; i++)
        CHECK(x[i] == 0);
}

/* A matrix of Muon's between two parts that are AdamW's. */
static const struct optimizer_part parts[] = {
    {ROLE_OTHER, 1, 1}, {ROLE_HIDDEN, ROWS, COLUMNS}, {ROLE_WEIGHT, 1, 2}};
enum { ALL = 1 + SIZE + 2 };

static const struct optimizer_settings muon = {.kind = OPTIMIZER_MUON,
                                               .rate = 0.1,
                                               .decay = 0.5,
                                               .beta1 = 0.9,
                                               .beta2 = 0.99,
                                               .epsilon = 1e-8,
                                               .muon_momentum = 0.5};

/* The orthogonalized matrix does not depend on how long the gradient is. */
static void hidden_matrices_are_stepped_by_what_is_orthogonal(void)
{
    struct optimizer optimizer;
    float x[ALL] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    float g[ALL] = {7, [ALL - 2] = -5, [ALL - 1] = 3}, wanted[SIZE];
    double size = 0.1 * 0.2 * sqrt(COLUMNS);

    compose(0.04, 0.03, g + 1);
    if (!CHECK_OK(optimizer_init(&optimizer, &muon, parts, 3)))
        return;
    optimizer_step(&optimizer, x, g);
    compose(quintic(0.8), quintic(0.6), wanted);
    CHECK_NEAR(1.9, x[0], 1e-6);
    CHECK_NEAR(2, x[ALL - 2], 1e-6);
    CHECK_NEAR(1.8, x[ALL - 1], 1e-6);
    for (int i = 0; i < SIZE; i++)
        CHECK_NEAR(1.9 - size * (double)wanted[i], x[1 + i], 1e-5);
    optimizer_free(&optimizer);
}

/* u = g + 0.5 g0, and the step is along g + 0.5 u = 1.5 g + 0.25 g0: its
 * singular values are 0.16 and -0.5925. */
static void the_momentum_of_muon_is_nesterovs(void)
{
    struct optimizer_settings settings = muon;
    struct optimizer optimizer;
    float x[ALL] = {0}, g[ALL] = {0}, wanted[SIZE];
    double size = 0.1 * 0.2 * sqrt(COLUMNS);

    settings.decay = 0;
    compose(0.04, 0.03, g + 1);
    if (!CHECK_OK(optimizer_init(&optimizer, &settings, parts, 3)))
        return;
    optimizer_step(&optimizer, x, g);
    compose(0.1, -0.4, g + 1);
    memset(x, 0, sizeof x);
    optimizer_step(&optimizer, x, g);
    compose(quintic(0.16 / hypot(0.16, 0.5925)),
            -quintic(0.5925 / hypot(0.16, 0.5925)), wanted);
    for (int i = 0; i < SIZE; i++)
        CHECK_NEAR(-size * (double)wanted[i], x[1 + i], 1e-5);
    optimizer_free(&optimizer);
}

void add_train_muon_tests(CU_pSuite suite)
{
    TEST(each_singular_value_goes_its_own_way_to_about_one);
    TEST(nothing_stays_nothing);
    TEST(hidden_matrices_are_stepped_by_what_is_orthogonal);
    TEST(the_momentum_of_muon_is_nesterovs);
}
