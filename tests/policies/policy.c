#include "policies/policy.h"

#include <stdio.h>
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

/* One wrong choice, and words of the sentence that says what to do. */
static void check_conflict(struct policy policy, const char *words)
{
    CHECK_CONTAINS(words, policy_conflict(&policy));
}

static void choices_that_do_not_go_together_are_named(void)
{
    struct policy policy = preset_find("lsgd")->policy;

    policy.exchange = EXCHANGE_DELTA;
    check_conflict(policy, "another --merge or --exchange");
    policy.merge = &merge_mean;
    check_conflict(policy, "say --exchange parameters");
    policy = preset_find("lsgd")->policy;
    policy.gate = &gate_async;
    check_conflict(policy, "--gate sync or quorum");
    policy = preset_find("median")->policy;
    policy.gate = &gate_async;
    check_conflict(policy, "--gate sync or quorum");
    policy = preset_find("best")->policy;
    policy.gate = &gate_async;
    check_conflict(policy, "--gate sync or quorum");
    policy = preset_find("easgd-async")->policy;
    policy.merge = &merge_leader;
    check_conflict(policy, "--gate sync or quorum");
    policy.merge = &merge_copy;
    check_conflict(policy, "--select best");
    policy = preset_find("pbt")->policy;
    policy.select = &select_top;
    check_conflict(policy, "--select best");
    policy = preset_find("async")->policy;
    policy.merge = &merge_heloco;
    check_conflict(policy, "--outer-momentum");
    policy = preset_find("adam")->policy;
    policy.gate = &gate_quorum;
    check_conflict(policy, "--gate sync");
    policy.gate = &gate_async;
    check_conflict(policy, "--gate sync");
    policy = preset_find("easgd")->policy;
    policy.reduce = &reduce_clip;
    check_conflict(policy, "--exchange delta");
    policy = preset_find("easgd-async")->policy;
    policy.damping = &damping_root;
    check_conflict(policy, "--damping none");
}

static void what_is_judged_by_itself_needs_no_company(void)
{
    struct policy policy = preset_find("verified")->policy;

    policy.gate = &gate_async;
    CHECK(policy_conflict(&policy) == NULL);
    policy = preset_find("better")->policy;
    policy.gate = &gate_async;
    CHECK(policy_conflict(&policy) == NULL);
}

/* A node's parameters weigh as much as the others', whatever the gate. */
static void parameters_are_divided_by_their_shares(void)
{
    const struct policy *policy = &preset_find("easgd-async")->policy;
    const struct candidate one = {.samples = 20, .score = NO_SCORE};
    const struct policy_context context = {.numbers = &policy->numbers,
                                           .live = 8};
    double share, whole;

    policy_shares(policy, &one, 1, &context, &share, &whole);
    CHECK_NEAR(1, share / whole, 0);
}

static void diloco_has_the_numbers_of_its_paper(void)
{
    CHECK_NEAR(0.7, preset_find("diloco")->policy.numbers.outer_lr, 0);
    CHECK_NEAR(0.9, preset_find("diloco")->policy.numbers.outer_momentum, 0);
}

static void every_rule_is_found_by_its_name(void)
{
#define FOUND(kind)                                                            \
    for (unsigned i = 0; i < kind##_rule_count; i++) {                         \
        CHECK(kind##_find(kind##_rules[i]->name) == kind##_rules[i]);          \
        CHECK(strlen(kind##_rules[i]->doc) > 0);                               \
    }                                                                          \
    CHECK(kind##_find("") == NULL)
    FOUND(gate);
    FOUND(select);
    FOUND(reduce);
    FOUND(merge);
    FOUND(receive);
    FOUND(damping);
    FOUND(preempt);
    CHECK(reduce_find("multi-krum") == &reduce_multi_krum);
}

static void the_manual_names_every_rule_and_preset(void)
{
    static char page[60000];
    FILE *file = fopen("docs/policies.md", "r");

    CHECK(file != NULL);
    if (!file)
        return;
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    CHECK(fclose(file) == 0);
#define NAMED(kind)                                                            \
    for (unsigned i = 0; i < kind##_rule_count; i++) {                         \
        char name[40];                                                         \
                                                                               \
        (void)snprintf(name, sizeof name, "`%s`", kind##_rules[i]->name);      \
        CHECK_CONTAINS(name, page);                                            \
    }
    NAMED(gate)
    NAMED(select)
    NAMED(reduce)
    NAMED(merge)
    NAMED(receive)
    NAMED(damping)
    NAMED(preempt)
    for (unsigned i = 0; i < preset_count; i++) {
        char row[40];

        (void)snprintf(row, sizeof row, "| `%s` |", presets[i].name);
        CHECK_CONTAINS(row, page);
    }
}

void add_policies_policy_tests(CU_pSuite suite)
{
    TEST(a_preset_is_found_by_its_name);
    TEST(every_preset_is_whole);
    TEST(choices_that_do_not_go_together_are_named);
    TEST(what_is_judged_by_itself_needs_no_company);
    TEST(parameters_are_divided_by_their_shares);
    TEST(every_rule_is_found_by_its_name);
    TEST(the_manual_names_every_rule_and_preset);
    TEST(diloco_has_the_numbers_of_its_paper);
}
