#include "policies/policy.h"

#include <string.h>

#include "tests/check.h"

static void a_preset_is_found_by_its_name(void)
{
    CHECK_TEXT("mean", preset_find("mean")->name);
    CHECK(preset_find("Mean") == NULL);
    CHECK(preset_find("") == NULL);
}

static void every_preset_is_whole(void)
{
    for (unsigned i = 0; i < preset_count; i++) {
        CHECK(preset_find(presets[i].name) == &presets[i]);
        CHECK(policy_conflict(&presets[i].policy) == NULL);
        CHECK(strlen(presets[i].doc) > 0 && strlen(presets[i].source) > 0);
        CHECK(presets[i].policy.numbers.outer_momentum >= 0 &&
              presets[i].policy.numbers.outer_momentum < 1);
    }
}

static void diloco_has_the_numbers_of_its_paper(void)
{
    CHECK_NEAR(0.7, preset_find("diloco")->policy.numbers.outer_lr, 0);
    CHECK_NEAR(0.9, preset_find("diloco")->policy.numbers.outer_momentum, 0);
}

void add_policies_policy_tests(CU_pSuite suite)
{
    TEST(a_preset_is_found_by_its_name);
    TEST(every_preset_is_whole);
    TEST(diloco_has_the_numbers_of_its_paper);
}
