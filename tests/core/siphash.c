/* SipHash-2-4 against the vectors of its authors (vectors.h of their reference
 * implementation: key 00 01 ... 0f, input 00 01 ... of each length). */
#include "core/siphash.h"
#include "tests/check.h"

static const uint64_t key[2] = {UINT64_C(0x0706050403020100),
                                UINT64_C(0x0f0e0d0c0b0a0908)};

static void it_gives_what_its_authors_give(void)
{
    const uint64_t words[2] = {key[0], key[1]};

    CHECK(siphash(key, words, 0) == UINT64_C(0x726fdb47dd0e0e31));
    CHECK(siphash(key, words, 1) == UINT64_C(0x93f5f5799a932462));
    CHECK(siphash(key, words, 2) == UINT64_C(0x3f2acc7f57c29bdb));
}

void add_core_siphash_tests(CU_pSuite suite)
{
    TEST(it_gives_what_its_authors_give);
}
