#include "sim/study/soak_plan.h"

#include <stdlib.h>
#include <string.h>

#include "sim/study/soak.h"
#include "tests/check.h"
#include "tests/sim/study/plans.h"

static void check_refused(const char *text, const char *words)
{
    struct soak_plan *plan = NULL;
    struct why why = {""};

    CHECK(soak_plan_parse(text, strlen(text), &plan, &why) != STATUS_OK);
    CHECK_CONTAINS(words, why.text);
    CHECK(plan == NULL);
}

static void the_plan_of_a_seed_reads_as_the_same(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct soak_plan *plan = soak_draw(seed), *again = NULL;
        char *text = plan_text(plan), *other = NULL;
        struct why why = {""};

        if (CHECK_OK(soak_plan_parse(text, strlen(text), &again, &why)))
            other = plan_text(again);
        CHECK_TEXT(text, other);
        free(text);
        free(other);
        soak_plan_destroy(&plan);
        soak_plan_destroy(&again);
    }
}

/* A hub has some thousand versions at most in a life. */
static void where_all_is_counted_nothing_is_damped(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct soak_plan *plan = soak_draw(seed);

        CHECK(!plan->counts || plan->options.staleness >= 100000);
        soak_plan_destroy(&plan);
    }
}

static void its_lines_are_settings_and_a_script(void)
{
    const char *text = "# a comment\n"
                       "set policy easgd\n"
                       "set codec-up f16\n"
                       "set nodes 5\n"
                       "at 2s crash hub\n";
    struct soak_plan *plan = NULL;
    struct why why;

    if (!CHECK_OK(soak_plan_parse(text, strlen(text), &plan, &why)))
        return;
    CHECK_EQUAL(5, plan->nodes);
    CHECK_TEXT("easgd", plan->options.policy);
    CHECK_EQUAL(1, plan->script->count);
    soak_plan_destroy(&plan);
}

static void what_cannot_be_lived_is_refused(void)
{
    check_refused("set nodes 2\nset nodse 3\n", "line 2: there is nothing "
                                                "called 'nodse'");
    check_refused("set nodes many\n", "line 1: nodes: expected");
    check_refused("set nodes\n", "a name and a value");
    check_refused("set nodes 17\n", "1 to 16 nodes");
    check_refused("set nodes 2\nat 1s crash n3\n", "enough for all acts");
    check_refused("set liars 2\nset required 2\n", "must be honest");
    check_refused("set elements 21\n", "1 to 20 elements");
    check_refused("set policy easgd\nset codec-up int8\n", "codec-up int8");
    check_refused("at 1s crush n1\n", "line 1: 'crush' does not happen");
}

void add_sim_study_soak_plan_tests(CU_pSuite suite)
{
    TEST(the_plan_of_a_seed_reads_as_the_same);
    TEST(where_all_is_counted_nothing_is_damped);
    TEST(its_lines_are_settings_and_a_script);
    TEST(what_cannot_be_lived_is_refused);
}
