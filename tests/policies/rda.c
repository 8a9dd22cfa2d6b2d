/* Reduction by direction and length. */
#include <math.h>

#include "policies/policy.h"
#include "tests/check.h"
#include "tests/policies/star.h"

enum { MOST = 8, WIDE = 8 };

/* What the rule makes of `count` updates of equal shares to one tensor. */
static void reduced(double updates[][WIDE], unsigned count, double *out)
{
    double length[MOST], share[MOST], factor[MOST], norm = 0, whole;

    for (unsigned i = 0; i < count; i++) {
        double square = 0;

        for (unsigned j = 0; j < WIDE; j++)
            square += updates[i][j] * updates[i][j];
        length[i] = sqrt(square);
        share[i] = 1;
    }
    whole = reduce_rda.blend(length, share, count, factor) / count;
    for (unsigned j = 0; j < WIDE; j++) {
        out[j] = 0;
        for (unsigned i = 0; i < count; i++)
            out[j] += factor[i] * updates[i][j];
        norm += out[j] * out[j];
    }
    for (unsigned j = 0; j < WIDE; j++)
        out[j] *= norm > 0 ? whole / sqrt(norm) : 0;
}

static void orthogonal_unit_vectors_come_to_length_one(void)
{
    for (unsigned count = 1; count <= MOST; count++) {
        double updates[MOST][WIDE] = {{0}}, out[WIDE];

        for (unsigned i = 0; i < count; i++)
            updates[i][i] = 1;
        reduced(updates, count, out);
        for (unsigned j = 0; j < WIDE; j++)
            CHECK_NEAR(j < count ? 1 / sqrt(count) : 0, out[j], 1e-15);
    }
}

static void equal_vectors_are_as_their_mean(void)
{
    double updates[3][WIDE] = {{3, -4}, {3, -4}, {3, -4}}, out[WIDE];

    reduced(updates, 3, out);
    CHECK_NEAR(3, out[0], 1e-15);
    CHECK_NEAR(-4, out[1], 1e-15);
}

static void lengths_are_averaged_and_directions_count_alike(void)
{
    double updates[2][WIDE] = {{1, 0}, {0, 7}}, out[WIDE];

    reduced(updates, 2, out);
    CHECK_NEAR(4 / sqrt(2), out[0], 1e-15);
    CHECK_NEAR(4 / sqrt(2), out[1], 1e-15);
}

static void who_has_nothing_is_passed_over(void)
{
    double updates[3][WIDE] = {{0, 2}, {0}, {2, 0}}, out[WIDE];

    reduced(updates, 3, out);
    CHECK_NEAR(sqrt(2), out[0], 1e-15);
    CHECK_NEAR(sqrt(2), out[1], 1e-15);
    reduced(&updates[1], 1, out);
    CHECK_NEAR(0, out[0], 0);
}

/* The middle one of three has 2: the long one is 4, and one direction of
 * three. */
static void one_that_explodes_sets_no_length(void)
{
    double updates[3][WIDE] = {{1, 0}, {0, 2}, {0, 0, -1e9}}, out[WIDE];

    reduced(updates, 3, out);
    CHECK_NEAR(7 / 3. / sqrt(3), out[0], 1e-12);
    CHECK_NEAR(7 / 3. / sqrt(3), out[1], 1e-12);
    CHECK_NEAR(-7 / 3. / sqrt(3), out[2], 1e-12);
}

static void shares_are_those_of_clip(void)
{
    struct star star = star_of("mean", 4, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[4];
    double share[4], expected[4], whole, whole_of_clip;

    star_candidates(list, NULL, 4);
    list[3].norm = 1e6;
    list[3].samples = 5;
    star.policy.reduce = &reduce_clip;
    policy_shares(&star.policy, list, 4, &context, expected, &whole_of_clip);
    star.policy.reduce = &reduce_rda;
    policy_shares(&star.policy, list, 4, &context, share, &whole);
    CHECK_NEAR(whole_of_clip, whole, 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_NEAR(expected[i], share[i], 0);
}

static void opposite_vectors_cancel_each_other(void)
{
    double updates[2][WIDE] = {{1, 2}, {-1, -2}}, out[WIDE];

    reduced(updates, 2, out);
    CHECK_NEAR(0, out[0], 0);
    CHECK_NEAR(0, out[1], 0);
}

static void embeddings_are_spared(void)
{
    static const char *const spared[] = {"wte.weight", "model.embed_tokens.w",
                                         "token_embedding.weight"};
    struct tensor tensor = {.name = "h.0.mlp.weight"};

    CHECK(!reduce_rda.spares(&tensor));
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(tensor.name, sizeof tensor.name, "%s", spared[i]);
        CHECK(reduce_rda.spares(&tensor));
    }
}

static void it_compares_the_changes_of_several(void)
{
    struct policy policy = preset_find("auto")->policy;

    policy.reduce = &reduce_rda;
    CHECK(policy_conflict(&policy) == NULL);
    policy.gate = &gate_async;
    CHECK(policy_conflict(&policy) != NULL);
    policy = preset_find("easgd")->policy;
    policy.reduce = &reduce_rda;
    CHECK(policy_conflict(&policy) != NULL);
}

void add_policies_rda_tests(CU_pSuite suite)
{
    TEST(orthogonal_unit_vectors_come_to_length_one);
    TEST(equal_vectors_are_as_their_mean);
    TEST(lengths_are_averaged_and_directions_count_alike);
    TEST(who_has_nothing_is_passed_over);
    TEST(one_that_explodes_sets_no_length);
    TEST(shares_are_those_of_clip);
    TEST(opposite_vectors_cancel_each_other);
    TEST(embeddings_are_spared);
    TEST(it_compares_the_changes_of_several);
}
