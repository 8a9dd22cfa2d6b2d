/* Nodes that offer what another one has learnt. */
#include "policies/copies.h"

#include <math.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"

enum { FEW = 6, MOST = COPY_MOST + 1, LONG = 20000 };

/* What copies_find makes of these. */
static void find(struct sketch *list, unsigned count, int *of)
{
    struct offered each[MOST] = {{NULL, NULL}};

    for (unsigned i = 0; i < count; i++)
        each[i].now = &list[i];
    copies_find(each, count, of);
}

/* Orthogonal ones, and what all have in common. */
static void orthogonal(struct sketch *list, unsigned count, double common)
{
    memset(list, 0, count * sizeof *list);
    for (unsigned i = 0; i < count; i++) {
        list[i].at[i] = 1;
        list[i].at[SKETCH - 1] = common;
    }
}

static void honest_nodes_are_told_apart_however_much_they_agree(void)
{
    struct sketch list[MOST];
    int of[MOST];

    for (unsigned count = 3; count <= FEW; count++) {
        orthogonal(list, count, 10); /* a cosine of 100 / 101 */
        find(list, count, of);
        for (unsigned i = 0; i < count; i++)
            CHECK(of[i] == -1);
    }
}

static void a_copy_is_found_whatever_its_length(void)
{
    static const double lengths[] = {1, 0.01, 1e6};
    struct sketch list[MOST];
    int of[MOST];

    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        orthogonal(list, 5, 1);
        for (unsigned j = 0; j < SKETCH; j++)
            list[3].at[j] = lengths[i] * list[1].at[j];
        find(list, 5, of);
        for (unsigned j = 0; j < 5; j++)
            CHECK(of[j] == (j == 3 ? 1 : -1));
    }
}

static void of_very_many_none_is_told(void)
{
    struct sketch list[MOST];
    int of[MOST];

    for (unsigned count = COPY_MOST; count <= MOST; count++) {
        orthogonal(list, count, 1);
        list[3] = list[1];
        find(list, count, of);
        CHECK(of[3] == (count > COPY_MOST ? -1 : 1));
    }
}

/* Node 0 offers what node 2 did a round ago; what one did itself is no copy. */
static void so_is_one_that_is_a_round_old(void)
{
    struct sketch now[4], before[4];
    struct offered each[4];
    int of[4];

    orthogonal(now, 4, 1);
    orthogonal(before, 4, 1);
    for (unsigned i = 0; i < 4; i++) {
        before[i].at[i] = 0;
        before[i].at[i == 1 ? 1 : 10 + i] = 1;
        each[i] = (struct offered){&now[i], &before[i]};
    }
    now[0] = before[2];
    copies_find(each, 4, of);
    for (unsigned i = 0; i < 4; i++)
        CHECK(of[i] == (i ? -1 : 2));
    each[2].before = NULL;
    copies_find(each, 4, of);
    CHECK(of[0] == -1);
}

/* Of four, of which two have the cosine a and all others 0, the directions that
 * are left have the cosine (5 a - 2) / (6 - 3 a), which is 0.9 at a = 7.4
 * / 7.7.
 */
static void a_copy_with_noise_is_one_up_to_a_cosine_of_nine_tenths(void)
{
    struct sketch list[MOST];
    int of[MOST];

    for (int beyond = 0; beyond < 2; beyond++) {
        double a = 7.4 / 7.7 + (beyond ? -1e-9 : 1e-9);

        orthogonal(list, 4, 0);
        list[1].at[0] = a;
        list[1].at[1] = sqrt(1 - a * a);
        find(list, 4, of);
        CHECK(of[1] == (beyond ? -1 : 0));
    }
}

/* Of vectors far longer than a sketch. */
static void a_sketch_keeps_lengths_and_angles(void)
{
    static double values[2][LONG];
    struct sketch whole[2] = {{{0}}}, part = {{0}};
    double dots[3] = {0};
    struct prng prng;

    prng_seed(&prng, 1);
    for (unsigned i = 0; i < LONG; i++) {
        values[0][i] = prng_normal(&prng);
        values[1][i] = values[0][i] + prng_normal(&prng);
    }
    for (unsigned i = 0; i < 2; i++)
        sketch_add(&whole[i], 7, 0, values[i], LONG);
    for (unsigned i = 0; i < SKETCH; i++) {
        dots[0] += whole[0].at[i] * whole[0].at[i];
        dots[1] += whole[1].at[i] * whole[1].at[i];
        dots[2] += whole[0].at[i] * whole[1].at[i];
    }
    CHECK_NEAR(sqrt(0.5), dots[2] / sqrt(dots[0] * dots[1]), 2 / sqrt(SKETCH));
    CHECK_NEAR(1, dots[0] / LONG, 4 / sqrt(SKETCH));
    sketch_add(&part, 7, LONG / 2, values[0] + LONG / 2, LONG / 2);
    memset(&whole[1], 0, sizeof whole[1]);
    sketch_add(&whole[1], 7, 0, values[0], LONG / 2);
    sketch_merge(&whole[1], &part);
    for (unsigned i = 0; i < SKETCH; i++)
        CHECK_NEAR(whole[0].at[i], whole[1].at[i], 1e-9);
}

static void who_goes_nowhere_and_two_alone_are_not_compared(void)
{
    struct sketch list[MOST];
    int of[MOST];

    memset(list, 0, sizeof list);
    find(list, FEW, of);
    for (unsigned i = 0; i < FEW; i++)
        CHECK(of[i] == -1);
    list[0].at[0] = list[1].at[0] = 1;
    find(list, 2, of);
    CHECK(of[1] == -1);
    find(list, FEW, of); /* four of them go nowhere */
    CHECK(of[1] == -1);
    list[2].at[0] = NAN;
    find(list, FEW, of);
    CHECK(of[1] == -1);
    list[2].at[0] = 0;
    list[2].at[1] = 1;
    find(list, FEW, of);
    CHECK(of[1] == 0 && of[2] == -1);
}

void add_policies_copies_tests(CU_pSuite suite)
{
    TEST(honest_nodes_are_told_apart_however_much_they_agree);
    TEST(a_copy_is_found_whatever_its_length);
    TEST(of_very_many_none_is_told);
    TEST(so_is_one_that_is_a_round_old);
    TEST(a_copy_with_noise_is_one_up_to_a_cosine_of_nine_tenths);
    TEST(a_sketch_keeps_lengths_and_angles);
    TEST(who_goes_nowhere_and_two_alone_are_not_compared);
}
