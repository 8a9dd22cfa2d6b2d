/* Runs the soak: many seeds, each twice.
 *
 *     STARSWITCH_SOAK_SEEDS=200 STARSWITCH_SOAK_FIRST=17 run-tests study/soak
 *
 * starswitch-sim soak does the same with more seeds, and shortens what fails.
 */
#include "sim/study/soak.h"

#include <stdlib.h>

#include "store/file.h"
#include "tests/check.h"

enum { SEEDS = 200, SEEDS_SLOW = 12 };

static bool check_seed(uint64_t seed)
{
    struct soak_plan *plan = soak_draw(seed);
    struct soak_life life;

    soak_live_twice(plan, &life);
    soak_plan_destroy(&plan);
    if (life.complaint[0])
        (void)printf("\nSeed %llu: %s.\nAgain: %s/starswitch-sim soak --seeds "
                     "1 --seed %llu\n",
                     (unsigned long long)seed, life.complaint, build_folder(),
                     (unsigned long long)seed);
    return CHECK_TEXT("", life.complaint);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void seeded_lives_keep_every_promise(void)
{
    uint64_t first = number_from("STARSWITCH_SOAK_FIRST", 1);
    uint64_t count = number_from("STARSWITCH_SOAK_SEEDS",
                                 runs_slowly() ? SEEDS_SLOW : SEEDS);
    unsigned failures = 0;

    for (uint64_t seed = first; seed < first + count && failures < 3; seed++)
        failures += !check_seed(seed);
}

static void live_again(const char *path)
{
    struct soak_plan *plan = NULL;
    struct soak_life life;
    struct why why = {""};
    char *text = NULL;
    size_t size = 0;

    if (!CHECK_OK(file_read(path, 1 << 16, &text, &size, &why)))
        return;
    if (CHECK_OK(soak_plan_parse(text, size, &plan, &why))) {
        soak_live_twice(plan, &life);
        CHECK_TEXT("", life.complaint);
    }
    soak_plan_destroy(&plan);
    free(text);
}

#define LIFE(name)                                                             \
    static void life_of_##name(void)                                           \
    {                                                                          \
        live_again("tests/sim/study/lives/" #name ".story");                   \
    }
#include "tests/sim/study/lives.def"
#undef LIFE

void add_sim_study_soak_tests(CU_pSuite suite)
{
#define LIFE(name) TEST(life_of_##name);
#include "tests/sim/study/lives.def"
#undef LIFE
    TEST(seeded_lives_keep_every_promise);
}
