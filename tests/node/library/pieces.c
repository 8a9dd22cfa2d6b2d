/* Parameters that a program keeps apart. */
#include <math.h>
#include <starswitch_pieces.h>

#include "tests/check.h"
#include "tests/node/library/server.h"

static void pieces_are_copied_end_to_end(void)
{
    const float one[2] = {1, 2}, other[3] = {3, 4, 5};
    const float *const pieces[] = {one, other};
    const uint64_t lengths[] = {2, 3};
    float values[5] = {0};

    star_gather(pieces, lengths, 2, values);
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(i + 1, values[i], 0);
    star_gather(NULL, NULL, 0, NULL);
}

static void pieces_are_moved_by_their_part_of_the_values(void)
{
    const float values[] = {10, 20, 30, 40, 50};
    const uint64_t lengths[] = {2, 3};
    float one[2] = {1, 2}, other[3] = {3, 4, 5};
    float *const pieces[] = {one, other};

    star_scatter(1, 2, values, pieces, lengths, 2);
    CHECK_NEAR(21, one[0], 0);
    CHECK_NEAR(42, one[1], 0);
    CHECK_NEAR(63, other[0], 0);
    CHECK_NEAR(105, other[2], 0);
    star_scatter(0.5, -1, values, pieces, lengths, 2);
    CHECK_NEAR(0.5, one[0], 0);
    CHECK_NEAR(2.5, other[2], 0);
    star_scatter(1, 1, NULL, NULL, NULL, 0);
}

static void what_is_not_kept_may_be_no_number(void)
{
    const float values[] = {4};
    const uint64_t length = 1;
    float one = NAN;
    float *const piece = &one;

    star_scatter(0, 0.25, values, &piece, &length, 1);
    CHECK_NEAR(1, one, 0);
}

static void a_piece_that_is_null_is_passed_over(void)
{
    const float given[] = {1, 2, 3};
    const uint64_t lengths[] = {1, 1, 1};
    float a = 10, c = 30, values[3] = {7, 8, 9};
    float *const pieces[] = {&a, NULL, &c};
    const float *const sources[] = {&a, NULL, &c};

    star_scatter(1, 1, given, pieces, lengths, 3);
    CHECK_NEAR(11, a, 0);
    CHECK_NEAR(33, c, 0);
    star_gather(sources, lengths, 3, values);
    CHECK_NEAR(11, values[0], 0);
    CHECK_NEAR(8, values[1], 0);
    CHECK_NEAR(33, values[2], 0);
}

static void pieces_longer_than_the_vector_are_refused(void)
{
    float x[3] = {0};
    const struct star_tensor tensor = STAR_TENSOR("x", 1, x, NULL, 3);
    const struct star_options options = {
        .size = sizeof options, .quiet = 1, .change = move_nothing};
    const float *const pieces[] = {x, x};
    const uint64_t lengths[] = {2, 2}, most[] = {2, UINT64_MAX};
    struct star_link *link = NULL;

    CHECK_EQUAL(STAR_OK, star_attach(&options, &tensor, 1, &link, NULL, 0));
    CHECK_EQUAL(STAR_GO, star_step(link, NULL));
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_offer_pieces(link, 1, pieces, lengths, 2));
    CHECK_EQUAL(STAR_BAD_ARGUMENT, star_offer_pieces(link, 1, pieces, most, 2));
    CHECK_EQUAL(STAR_OK, star_offer_pieces(link, 1, pieces, lengths, 1));
    CHECK_EQUAL(STAR_OK, star_offer_pieces(link, 1, NULL, NULL, 0));
    CHECK_EQUAL(STAR_BAD_ARGUMENT, star_offer_pieces(link, 2, NULL, NULL, 0));
    star_detach(&link);
    CHECK_EQUAL(STAR_OK, star_offer_pieces(NULL, 1, pieces, lengths, 2));
}

void add_node_library_pieces_tests(CU_pSuite suite)
{
    TEST(pieces_are_copied_end_to_end);
    TEST(pieces_are_moved_by_their_part_of_the_values);
    TEST(what_is_not_kept_may_be_no_number);
    TEST(a_piece_that_is_null_is_passed_over);
    TEST(pieces_longer_than_the_vector_are_refused);
}
