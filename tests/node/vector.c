#include "node/vector.h"

#include "codec/msg.h"
#include "tests/check.h"

/* Eleven elements in chunks of 4, 4 and 3. */
enum { ELEMENTS = 11, CHUNK = 4, CHUNKS = 3 };

static void fragments_share_the_chunks_out(void)
{
    for (uint32_t fragments = 1; fragments <= CHUNKS; fragments++) {
        uint32_t chunks = 0;
        size_t elements = 0;

        for (uint32_t i = 0; i < fragments; i++) {
            struct fragment fragment = fragment_of(i, fragments);

            chunks += fragment_chunks(fragment, CHUNKS);
            elements += fragment_elements(fragment, ELEMENTS, CHUNK);
            for (uint32_t chunk = 0; chunk < CHUNKS; chunk++)
                CHECK_EQUAL(chunk % fragments == i,
                            fragment_holds(fragment, chunk));
        }
        CHECK_EQUAL(CHUNKS, chunks);
        CHECK_EQUAL(ELEMENTS, elements);
    }
    CHECK_EQUAL(0, fragment_chunks(fragment_of(5, 6), CHUNKS));
    CHECK_EQUAL(0, fragment_elements(fragment_of(5, 6), ELEMENTS, CHUNK));
}

static void all_of_them_are_a_fragment_too(void)
{
    struct fragment all = fragment_of(FRAGMENT_ALL, 3);

    CHECK_EQUAL(CHUNKS, fragment_chunks(all, CHUNKS));
    CHECK_EQUAL(ELEMENTS, fragment_elements(all, ELEMENTS, CHUNK));
    CHECK(fragments_meet(all, fragment_of(2, 3)));
    CHECK(fragments_meet(fragment_of(2, 3), all));
    CHECK(fragments_meet(fragment_of(2, 3), fragment_of(2, 3)));
    CHECK(!fragments_meet(fragment_of(2, 3), fragment_of(1, 3)));
    CHECK(fragments_meet(fragment_of(0, 0), fragment_of(0, 1)));
}

static void a_fragment_is_copied_from_wherever_it_lies(void)
{
    float head[3], middle[6], tail[2], out[ELEMENTS];
    const struct span spans[] = {{head, 3}, {middle, 6}, {tail, 2}};
    size_t count = ELEMENTS;

    for (size_t i = 0; i < ELEMENTS; i++) {
        size_t one = 1;

        *span_at(spans, i, &one) = (float)i;
        CHECK_EQUAL(1, one);
    }
    CHECK(span_at(spans, 4, &count) == middle + 1);
    CHECK_EQUAL(5, count);
    fragment_copy(fragment_of(0, 2), ELEMENTS, CHUNK, spans, out);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(i, (double)out[i], 0);
    for (int i = 4; i < 7; i++)
        CHECK_NEAR(i + 4, (double)out[i], 0);
    fragment_copy(fragment_of(1, 2), ELEMENTS, CHUNK, spans, out);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(i + 4, (double)out[i], 0);
    fragment_copy(fragment_of(0, 1), ELEMENTS, CHUNK, spans, out);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(i, (double)out[i], 0);
}

/* 2^33 elements and 3 more, in chunks of 2^24, of which there are 513. */
static void fragments_of_a_large_model_do_not_overflow(void)
{
    const size_t elements = ((size_t)1 << 33) + 3;
    const uint32_t chunk = (uint32_t)1 << 24;
    size_t sum = 0;

    CHECK_EQUAL(elements, fragment_elements(fragment_of(FRAGMENT_ALL, 2),
                                            elements, chunk));
    for (uint32_t i = 0; i < 2; i++)
        sum += fragment_elements(fragment_of(i, 2), elements, chunk);
    CHECK_EQUAL(elements, sum);
    CHECK_EQUAL(256 * (size_t)chunk,
                fragment_elements(fragment_of(1, 2), elements, chunk));
}

void add_node_vector_tests(CU_pSuite suite)
{
    TEST(fragments_share_the_chunks_out);
    TEST(all_of_them_are_a_fragment_too);
    TEST(fragments_of_a_large_model_do_not_overflow);
    TEST(a_fragment_is_copied_from_wherever_it_lies);
}
