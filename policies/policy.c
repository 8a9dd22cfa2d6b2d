#include "policies/policy.h"

#include <string.h>

#define NUMBER(name, value, doc) .name = (value),

const struct policy_numbers policy_defaults = {POLICY_NUMBERS(NUMBER)};

/* A preset's own numbers stand behind the defaults: the last ones count. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct preset presets[] = {
#define PRESET(title, offered, gate, select, reduce, merge, receive, damping,  \
               preempt, text, origin, ...)                                     \
    {title,                                                                    \
     text,                                                                     \
     origin,                                                                   \
     {EXCHANGE_##offered,                                                      \
      &gate_##gate,                                                            \
      &select_##select,                                                        \
      &reduce_##reduce,                                                        \
      &merge_##merge,                                                          \
      &receive_##receive,                                                      \
      &damping_##damping,                                                      \
      &preempt_##preempt,                                                      \
      {POLICY_NUMBERS(NUMBER) __VA_ARGS__}}},
#include "policies/policies.def"
};
#pragma GCC diagnostic pop

const unsigned preset_count = sizeof presets / sizeof *presets;

const struct preset *preset_find(const char *name)
{
    for (unsigned i = 0; i < preset_count; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

void policy_take_own(const struct merge_rule *before, struct policy *policy)
{
    struct policy_numbers *numbers = &policy->numbers;
    const struct policy_numbers *own = policy->merge->own;

    if (policy->merge == before || !(own || before->own))
        return;
    if (!own)
        own = &policy_defaults;
    numbers->outer_lr = own->outer_lr;
    numbers->outer_momentum = own->outer_momentum;
    numbers->pull = own->pull;
}
