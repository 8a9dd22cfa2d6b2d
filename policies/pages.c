#include "policies/pages.h"

enum { WIDTH = 80, NAMES = 2, DOC = 17 };

/* One form of the page: how a section begins, and an entry of it. */
struct form {
    void (*section)(const char *option, const char *words, struct text *out);
    void (*entry)(const char *name, const char *doc, struct text *out);
};

#define ALL_RULES(kind, words)                                                 \
    form->section("--" #kind, words, out);                                     \
    for (unsigned i = 0; i < kind##_rule_count; i++)                           \
        form->entry(kind##_rules[i]->name, kind##_rules[i]->doc, out);

static void print_all(const struct form *form, struct text *out)
{
    form->section("--policy", "presets of one rule of each kind", out);
    for (unsigned i = 0; i < preset_count; i++)
        form->entry(presets[i].name, presets[i].doc, out);
    ALL_RULES(gate, "when a round closes")
    ALL_RULES(select, "whose offers are uploaded")
    ALL_RULES(reduce, "how updates become one")
    ALL_RULES(merge, "how the centre moves by it")
    ALL_RULES(receive, "who gets what back")
    ALL_RULES(damping, "what an offer that lags behind weighs")
    ALL_RULES(preempt, "whose parameters are discarded")
}

/* ---- help ---- */

static void help_section(const char *option, const char *words,
                         struct text *out)
{
    text_add(out, "\n%s: %s\n", option, words);
}

static void help_entry(const char *name, const char *doc, struct text *out)
{
    text_add(out, "%*s%s", NAMES, "", name);
    text_pad(out, DOC);
    text_wrap(out, doc, DOC, WIDTH);
    text_add(out, "\n");
}

void policies_print_help(struct text *out)
{
    static const struct form form = {help_section, help_entry};

    print_all(&form, out);
}

/* ---- the manual page ---- */

/* A hyphen is an ASCII one. */
static void add_plain(const char *words, struct text *out)
{
    for (; *words; words++)
        text_add(out, *words == '-' ? "\\-" : "%c", *words);
}

static void man_section(const char *option, const char *words, struct text *out)
{
    text_add(out, ".SS \"");
    add_plain(option, out);
    text_add(out, ": %s\"\n", words);
}

static void man_entry(const char *name, const char *doc, struct text *out)
{
    text_add(out, ".TP\n.B ");
    add_plain(name, out);
    text_add(out, "\n");
    add_plain(doc, out);
    text_add(out, "\n");
}

void policies_print_man(struct text *out)
{
    static const struct form form = {man_section, man_entry};

    text_add(out, ".SH POLICIES\n");
    print_all(&form, out);
}

/* ---- one policy ---- */

static void add_number(const char *name, double value, double usual,
                       struct text *out)
{
    if (!(value < usual) && !(value > usual))
        return;
    text_add(out, " ");
    for (; *name; name++)
        text_add_character(out, *name == '_' ? '-' : *name);
    text_add(out, " %.3g", value);
}

#define ADD_RULE(kind)                                                         \
    if (policy->kind != kind##_rules[0])                                       \
        text_add(out, " " #kind " %s", policy->kind->name);

void policy_describe(const struct policy *policy, struct text *out)
{
    struct policy_numbers numbers = policy->numbers;

    if (policy->merge == &merge_schedule_free && !(numbers.pull > 0))
        numbers.pull = policy_defaults.pull; /* it is none: k and d say it */
    ADD_RULE(gate)
    ADD_RULE(select)
    ADD_RULE(reduce)
    ADD_RULE(merge)
    ADD_RULE(receive)
    ADD_RULE(damping)
    ADD_RULE(preempt)
    if (policy->exchange != EXCHANGE_DELTA)
        text_add(out, " exchange %s", exchange_words[policy->exchange].text);
#define NUMBER(name, value, doc)                                               \
    add_number(#name, numbers.name, policy_defaults.name, out);
    POLICY_NUMBERS(NUMBER)
#undef NUMBER
}
