#include "sim/study/tune.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

/* What --policy auto comes to by itself, beside what the tuner chooses. */
static struct tune *search(const char *more)
{
    char line[300], *list[32] = {line}, *rest = NULL;
    struct options options;
    struct tune *tune = NULL;
    struct why why = {""};
    int count = 1;

    (void)snprintf(line, sizeof line,
                   "--nodes 3 --params 2M --step-time 100ms --rate 100Mbit "
                   "--port 100Mbit --seeds 1 %s",
                   more);
    for (char *word = strtok_r(line, " ", &rest); word && count < 32;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    options_defaults(&options);
    CHECK_OK(options_parse_arguments(&options, PROGRAM_SIM, count, list, &why));
    CHECK_OK(tune_open(&options, &tune, &why));
    CHECK(tune_search(tune, 0, NULL));
    CHECK(tune_by_itself(tune, 0, NULL));
    return tune;
}

static void auto_is_played_beside_the_choice(void)
{
    struct tune *tune = search("");

    CHECK(tune->by_itself.trial.done);
    CHECK(tune->by_itself.trial.every >= 1);
    CHECK(tune->by_itself.speed_up > 0.8 * tune->rows[tune->best].speed_up);
    tune_close(&tune);
}

/* k is its fastest nodes', and the slowest does one iteration at least. */
static void unequal_pcs_have_ks_of_their_own(void)
{
    struct tune *tune = search("--speeds 1,1,0.25");

    CHECK(tune->by_itself.trial.done);
    CHECK(tune->by_itself.trial.every >= (4 + 4 + 1) / 3. - 0.1);
    tune_close(&tune);
}

static void what_is_given_is_not_left_to_it(void)
{
    struct tune *tune = search("--every 20");

    CHECK(!tune->by_itself.tried);
    tune_close(&tune);
}

void add_sim_study_tune_auto_tests(CU_pSuite suite)
{
    TEST(auto_is_played_beside_the_choice);
    TEST(unequal_pcs_have_ks_of_their_own);
    TEST(what_is_given_is_not_left_to_it);
}
