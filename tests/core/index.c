#include "core/index.h"

#include <stdlib.h>

#include "core/prng.h"
#include "tests/check.h"

enum { MANY = 5000 };

static void what_was_put_is_found_and_nothing_else(void)
{
    struct index index = {0};
    int one, other;

    CHECK(!index_find(&index, 1, 2));
    index_remove(&index, 1, 2);
    index_put(&index, 1, 2, &one);
    CHECK(index_find(&index, 1, 2) == &one);
    CHECK(!index_find(&index, 2, 1));
    CHECK(!index_find(&index, 1, 3));
    index_put(&index, 1, 2, &other);
    CHECK(index_find(&index, 1, 2) == &other);
    CHECK_EQUAL(1, index.count);
    index_remove(&index, 1, 2);
    CHECK(!index_find(&index, 1, 2));
    CHECK_EQUAL(0, index.count);
    index_free(&index);
}

/* Against a plain array, with few keys so that many are put and removed
 * again; a key is its own place in the array. */
static void many_come_and_go_and_each_stays_what_it_was(void)
{
    static char values[MANY];
    bool *in = calloc(MANY, sizeof *in);
    struct index index = {0};
    struct prng prng;
    uint32_t count = 0;

    prng_seed(&prng, 7);
    for (int i = 0; in && i < 20 * MANY; i++) {
        uint64_t key = prng_below(&prng, i < 10 * MANY ? MANY : MANY / 50);

        if (prng_below(&prng, 2)) {
            index_put(&index, key % 3, key, &values[key]);
            count += !in[key];
            in[key] = true;
        } else {
            index_remove(&index, key % 3, key);
            count -= in[key];
            in[key] = false;
        }
        CHECK_EQUAL(count, index.count);
    }
    for (uint64_t key = 0; in && key < MANY; key++)
        CHECK(index_find(&index, key % 3, key) ==
              (in[key] ? &values[key] : NULL));
    free(in);
    index_free(&index);
}

void add_core_index_tests(CU_pSuite suite)
{
    TEST(what_was_put_is_found_and_nothing_else);
    TEST(many_come_and_go_and_each_stays_what_it_was);
}
