#include "policies/pages.h"

#include <string.h>

#include "tests/check.h"

static char bytes[32 * 1024];

static void help_names_every_preset_and_every_rule(void)
{
    const char *page = check_page(policies_print_help);

    for (unsigned i = 0; i < preset_count; i++)
        CHECK_CONTAINS(presets[i].name, page);
    for (unsigned i = 0; i < merge_rule_count; i++)
        CHECK_CONTAINS(merge_rules[i]->name, page);
    for (unsigned i = 0; i < reduce_rule_count; i++)
        CHECK_CONTAINS(reduce_rules[i]->name, page);
    CHECK_CONTAINS("\n--gate: when a round closes\n  sync           A round "
                   "closes when every live node has offered.\n",
                   page);
    CHECK_CONTAINS("\n--preempt: ", page);
}

static void help_has_lines_of_80_columns_at_most(void)
{
    const char *line = check_page(policies_print_help);

    for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
        CHECK(strcspn(line, "\n") <= 80);
}

static void the_manual_page_has_ascii_hyphens(void)
{
    const char *page = check_page(policies_print_man);

    CHECK_CONTAINS(".SH POLICIES\n.SS \"\\-\\-policy: presets", page);
    CHECK_CONTAINS(".TP\n.B multi\\-krum\n", page);
    for (const char *at = strchr(page, '-'); at; at = strchr(at + 1, '-'))
        CHECK(at[-1] == '\\');
}

static const char *describe(const struct policy *policy)
{
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    policy_describe(policy, &text);
    return bytes;
}

static void what_is_plain_is_not_said(void)
{
    struct policy policy = preset_find("mean")->policy;

    CHECK_TEXT("", describe(&policy));
    CHECK_TEXT(" reduce clip outer-lr 0.7 outer-momentum 0.9",
               describe(&preset_find("diloco")->policy));
    CHECK_TEXT(" gate quorum reduce clip merge delayed outer-lr 0.25 "
               "outer-momentum 0.9 quorum 0",
               describe(&preset_find("delayed")->policy));
    CHECK_TEXT(" select best merge leader receive leader exchange parameters",
               describe(&preset_find("lsgd")->policy));
    policy.reduce = &reduce_clip;
    policy.preempt = &preempt_margin;
    policy.numbers.rollback = 0;
    CHECK_TEXT(" reduce clip preempt margin rollback 0", describe(&policy));
}

void add_policies_pages_tests(CU_pSuite suite)
{
    TEST(help_names_every_preset_and_every_rule);
    TEST(help_has_lines_of_80_columns_at_most);
    TEST(the_manual_page_has_ascii_hyphens);
    TEST(what_is_plain_is_not_said);
}
