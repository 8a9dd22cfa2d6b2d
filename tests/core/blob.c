#include "core/blob.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"

static void a_blob_has_its_size_and_an_aligned_address(void)
{
    static const size_t sizes[] = {0,    1,    63,   64,      65,      1023,
                                   1024, 1025, 4096, 1 << 20, 1234567, 9876543};
    struct pool *pool = pool_new();

    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct blob *blob = blob_new(pool, sizes[i]);

        CHECK_EQUAL(sizes[i], blob->size);
        CHECK_EQUAL(sizes[i], blob->wire_bytes);
        CHECK_EQUAL(0, blob->checksum);
        CHECK_EQUAL(0, (uintptr_t)blob->bytes % 64);
        CHECK(blob->capacity >= sizes[i]);
        CHECK(blob->capacity <= sizes[i] + sizes[i] / 8 + 64);
        memset(blob->bytes, 1, sizes[i]);
        blob_unref(&blob);
        CHECK(blob == NULL);
    }
    pool_destroy(&pool);
    CHECK(pool == NULL);
}

static void nothing_and_no_pool_are_let_go_in_peace(void)
{
    struct blob *blob = blob_ref(NULL);
    struct pool *pool = NULL;

    CHECK(blob == NULL);
    blob_unref(&blob);
    pool_destroy(&pool);
}

static void a_size_that_nobody_has_is_refused(void)
{
    struct pool *pool = pool_new();

    CHECK(blob_new(pool, SIZE_MAX) == NULL);
    CHECK(blob_new(pool, SIZE_MAX - 64) == NULL);
    CHECK(blob_new(pool, ((size_t)1 << 40) + 1) == NULL);
    CHECK_EQUAL(0, pool_bytes(pool));
    pool_destroy(&pool);
}

static void the_last_reference_gives_a_blob_back(void)
{
    struct pool *pool = pool_new();
    struct blob *blob = blob_new(pool, 1000), *other = blob_ref(blob), *next;

    blob_unref(&blob);
    CHECK_EQUAL(1000, other->size);
    next = blob_new(pool, 1000);
    CHECK(next->bytes != other->bytes);
    blob_unref(&next);
    blob_unref(&other);
    pool_destroy(&pool);
}

static void the_pool_recycles(void)
{
    struct pool *pool = pool_new();
    struct blob *blob = blob_new(pool, 1 << 20);
    unsigned char *bytes = blob->bytes;
    size_t size = pool_bytes(pool);

    CHECK_EQUAL(1 << 20, size);
    blob_seal(blob);
    blob->wire_bytes = 7;
    blob_unref(&blob);
    for (int i = 0; i < 10; i++) {
        blob = blob_new(pool, (1 << 20) - (size_t)i);
        CHECK(blob->bytes == bytes);
        CHECK_EQUAL((1 << 20) - i, blob->size);
        CHECK_EQUAL((1 << 20) - i, blob->wire_bytes);
        CHECK_EQUAL(0, blob->checksum);
        blob_unref(&blob);
    }
    CHECK_EQUAL(size, pool_bytes(pool));
    pool_destroy(&pool);
}

/* Texts of many lengths must not keep the chunks from being recycled. */
static void odd_sizes_do_not_crowd_out_the_others(void)
{
    struct pool *pool = pool_new();
    struct blob *blob;
    size_t bytes;

    for (size_t size = 1; size < 100000; size += 777) {
        blob = blob_new(pool, size);
        blob_unref(&blob);
    }
    blob = blob_new(pool, 1 << 20);
    bytes = pool_bytes(pool);
    for (int i = 0; i < 100; i++) {
        blob_unref(&blob);
        blob = blob_new(pool, 1 << 20);
    }
    CHECK_EQUAL(bytes, pool_bytes(pool));
    blob_unref(&blob);
    pool_destroy(&pool);
}

static void spares_are_bounded(void)
{
    enum { COUNT = 1000, SIZE = 128 };
    static struct blob *blobs[COUNT];
    struct pool *pool = pool_new();

    for (int i = 0; i < COUNT; i++)
        blobs[i] = blob_new(pool, SIZE);
    CHECK_EQUAL(COUNT * SIZE, pool_bytes(pool));
    for (int i = 0; i < COUNT; i++)
        blob_unref(&blobs[i]);
    CHECK_EQUAL(256 * SIZE, pool_bytes(pool));
    pool_destroy(&pool);
}

static void count_release(void *of)
{
    ++*(int *)of;
}

static void foreign_bytes_are_released_once(void)
{
    struct pool *pool = pool_new();
    char bytes[] = "foreign";
    int released = 0;
    struct blob *blob =
        blob_wrap(pool, bytes, sizeof bytes, count_release, &released);
    struct blob *other = blob_ref(blob);

    CHECK(blob->bytes == (unsigned char *)bytes);
    blob_unref(&blob);
    CHECK_EQUAL(0, released);
    blob_unref(&other);
    CHECK_EQUAL(1, released);
    CHECK_EQUAL(0, pool_bytes(pool));
    pool_destroy(&pool);
}

static void foreign_bytes_need_no_release(void)
{
    static char bytes[] = "static";
    struct pool *pool = pool_new();
    struct blob *blob = blob_wrap(pool, bytes, sizeof bytes, NULL, NULL);

    blob_unref(&blob);
    CHECK_TEXT("static", bytes);
    pool_destroy(&pool);
}

static void a_slice_keeps_the_whole_alive(void)
{
    struct pool *pool = pool_new();
    char bytes[] = "0123456789";
    int released = 0;
    struct blob *whole =
        blob_wrap(pool, bytes, sizeof bytes, count_release, &released);
    struct blob *part = blob_slice(whole, 2, 5), *piece;

    blob_unref(&whole);
    piece = blob_slice(part, 1, 2);
    blob_unref(&part);
    CHECK_EQUAL(0, released);
    CHECK_EQUAL(2, piece->size);
    CHECK_EQUAL('3', piece->bytes[0]);
    blob_unref(&piece);
    CHECK_EQUAL(1, released);
    pool_destroy(&pool);
}

static void a_slice_may_be_empty_or_all(void)
{
    struct pool *pool = pool_new();
    struct blob *whole = blob_new(pool, 100);
    struct blob *all = blob_slice(whole, 0, 100);
    struct blob *none = blob_slice(whole, 100, 0);

    CHECK(all->bytes == whole->bytes);
    CHECK_EQUAL(0, none->size);
    blob_unref(&whole);
    blob_unref(&none);
    blob_unref(&all);
    pool_destroy(&pool);
}

static void equal_bytes_have_equal_checksums(void)
{
    struct pool *pool = pool_new();
    struct blob *a = blob_new(pool, 1000), *b = blob_new(pool, 1000);

    memset(a->bytes, 7, 1000);
    memset(b->bytes, 7, 1000);
    blob_seal(a);
    blob_seal(b);
    CHECK(a->checksum == b->checksum);
    CHECK(a->checksum != 0);
    b->bytes[999] = 8;
    blob_seal(b);
    CHECK(a->checksum != b->checksum);
    blob_unref(&a);
    blob_unref(&b);
    pool_destroy(&pool);
}

enum { THREADS = 4 };

struct crowd {
    struct pool *pool;
    struct blob *shared;
    uint64_t seed;
    bool failed;
};

/* References, slices and makes blobs as fast as it can. */
static void *hammer(void *of)
{
    struct crowd *crowd = of;
    struct prng prng;

    prng_seed(&prng, crowd->seed);
    for (int i = 0; i < (runs_slowly() ? 2000 : 20000); i++) {
        size_t offset = (size_t)prng_below(&prng, 1000);
        struct blob *reference = blob_ref(crowd->shared);
        struct blob *part = blob_slice(reference, offset, 1);
        struct blob *own = blob_new(crowd->pool, offset);

        blob_unref(&reference);
        crowd->failed |= part->bytes[0] != offset % 256;
        memset(own->bytes, 1, offset);
        blob_unref(&part);
        blob_unref(&own);
    }
    blob_unref(&crowd->shared);
    return NULL;
}

static void threads_may_share_a_blob_and_a_pool(void)
{
    struct pool *pool = pool_new();
    struct blob *shared = blob_new(pool, 1000);
    struct crowd crowds[THREADS];
    pthread_t threads[THREADS];

    for (size_t i = 0; i < 1000; i++)
        shared->bytes[i] = (unsigned char)i;
    for (uint64_t i = 0; i < THREADS; i++)
        crowds[i] = (struct crowd){pool, blob_ref(shared), i, false};
    blob_unref(&shared);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(0, pthread_create(&threads[i], NULL, hammer, &crowds[i]));
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(0, pthread_join(threads[i], NULL));
        CHECK(!crowds[i].failed);
    }
    pool_destroy(&pool);
}

static void a_checksum_may_be_taken_piece_by_piece(void)
{
    struct pool *pool = pool_new();
    struct blob *blob = blob_new(pool, 10000);
    struct sealing sealing;
    uint64_t whole;

    for (size_t i = 0; i < blob->size; i++)
        blob->bytes[i] = (unsigned char)(i * i);
    blob_seal(blob);
    whole = blob->checksum;
    for (size_t piece = 1; piece <= blob->size; piece = piece * 3 + 1) {
        sealing_begin(&sealing);
        for (size_t at = 0; at < blob->size; at += piece) {
            size_t left = blob->size - at;

            sealing_add(&sealing, blob->bytes + at,
                        left < piece ? left : piece);
        }
        blob->checksum = 0;
        sealing_end(&sealing, blob);
        CHECK(blob->checksum == whole);
    }
    blob_unref(&blob);
    pool_destroy(&pool);
}

static void a_pool_keeps_as_many_bytes_as_it_is_told(void)
{
    struct pool *pool = pool_new();
    struct blob *blobs[8];

    pool_limit_spare(pool, 4096);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            blobs[i] = blob_new(pool, 1024);
        CHECK_EQUAL(8 * 1024, pool_bytes(pool));
        for (int i = 0; i < 8; i++)
            blob_unref(&blobs[i]);
        CHECK_EQUAL(4096, pool_bytes(pool));
    }
    pool_limit_spare(pool, 0);
    blobs[0] = blob_new(pool, 1024);
    blobs[1] = blob_new(pool, 8192);
    blob_unref(&blobs[0]);
    blob_unref(&blobs[1]);
    CHECK_EQUAL(3072, pool_bytes(pool));
    pool_destroy(&pool);
}

void add_core_blob_tests(CU_pSuite suite)
{
    TEST(a_blob_has_its_size_and_an_aligned_address);
    TEST(nothing_and_no_pool_are_let_go_in_peace);
    TEST(a_size_that_nobody_has_is_refused);
    TEST(the_last_reference_gives_a_blob_back);
    TEST(the_pool_recycles);
    TEST(odd_sizes_do_not_crowd_out_the_others);
    TEST(spares_are_bounded);
    TEST(foreign_bytes_are_released_once);
    TEST(foreign_bytes_need_no_release);
    TEST(a_slice_keeps_the_whole_alive);
    TEST(a_slice_may_be_empty_or_all);
    TEST(equal_bytes_have_equal_checksums);
    TEST(a_checksum_may_be_taken_piece_by_piece);
    TEST(a_pool_keeps_as_many_bytes_as_it_is_told);
    TEST(threads_may_share_a_blob_and_a_pool);
}
