/* How rules sort: few by insertion, many by merging, both alike. */
#include "policies/order.h"

#include <math.h>
#include <stdlib.h>

#include "core/prng.h"
#include "tests/check.h"

enum { MANY = 3000 };

/* Of few values, so that many are equal; some have no score. */
static void draw(struct candidate *list, unsigned count)
{
    struct prng prng;

    prng_seed(&prng, count);
    for (unsigned i = 0; i < count; i++) {
        uint64_t score = prng_below(&prng, 40);

        list[i] = (struct candidate){.node = (unsigned)prng_below(&prng, 64),
                                     .version = prng_below(&prng, 3),
                                     .score = score ? (double)score : NO_SCORE};
    }
}

/* Whether a may stand before b: not behind it, and among equals first come. */
static bool may_precede(const struct candidate *list, unsigned a, unsigned b)
{
    const struct candidate *one = &list[a], *other = &list[b];

    if (one->score != other->score)
        return one->score < other->score;
    if (one->version != other->version)
        return one->version > other->version;
    if (one->node != other->node)
        return one->node < other->node;
    return a < b;
}

static void check_order(unsigned count)
{
    struct candidate *list = scratch_of(count, sizeof *list);
    unsigned *order = scratch_of(count, sizeof *order);
    struct policy_context context = {.pinned = -1};
    unsigned able = 0;

    draw(list, count);
    for (unsigned i = 0; i < count; i++)
        able += score_known(list[i].score);
    CHECK_EQUAL(able, candidates_order(list, count, &context, order));
    for (unsigned i = 1; i < count; i++)
        if (!CHECK(may_precede(list, order[i - 1], order[i])))
            break;
    free(order);
    free(list);
}

static void candidates_of_any_number_stand_in_one_order(void)
{
    for (unsigned count = 0; count < 200; count++)
        check_order(count);
    check_order(MANY);
}

static void the_pinned_one_of_many_comes_first(void)
{
    struct candidate *list = scratch_of(MANY, sizeof *list);
    unsigned *order = scratch_of(MANY, sizeof *order);
    struct policy_context context = {.pinned = 64};

    draw(list, MANY);
    list[1234].node = 64;
    list[1234].score = NO_SCORE;
    (void)candidates_order(list, MANY, &context, order);
    CHECK_EQUAL(1234, order[0]);
    free(order);
    free(list);
}

static void values_of_any_number_ascend_and_nan_comes_last(void)
{
    double *values = scratch_of(MANY, sizeof *values);
    struct prng prng;

    prng_seed(&prng, 1);
    for (unsigned count = 1; count <= MANY; count = count * 3 / 2 + 1) {
        double sum = 0;

        for (unsigned i = 0; i < count; i++) {
            values[i] = (double)prng_below(&prng, 100);
            sum += values[i];
        }
        if (count > 2) {
            sum -= values[count / 2] + values[0];
            values[count / 2] = NAN;
            values[0] = INFINITY;
        }
        values_sort(values, count);
        if (count > 2) {
            CHECK(isnan(values[count - 1]));
            CHECK(isinf(values[count - 2]));
            values[count - 1] = values[count - 2] = 100;
            sum += 200;
        }
        for (unsigned i = 0; i < count; i++) {
            CHECK(!i || values[i - 1] <= values[i]);
            sum -= values[i];
        }
        CHECK_NEAR(0, sum, 0);
    }
    free(values);
}

void add_policies_order_tests(CU_pSuite suite)
{
    TEST(candidates_of_any_number_stand_in_one_order);
    TEST(the_pinned_one_of_many_comes_first);
    TEST(values_of_any_number_ascend_and_nan_comes_last);
}
