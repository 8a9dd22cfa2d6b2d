/* Every rule by kind and name. */
#include <string.h>

#include "policies/policy.h"

/* clang-format off */
#define GATE(name) &gate_##name,
const struct gate_rule *const gate_rules[] = {
#include "policies/policies.def"
};
#define SELECT(name) &select_##name,
const struct select_rule *const select_rules[] = {
#include "policies/policies.def"
};
#define REDUCE(name) &reduce_##name,
const struct reduce_rule *const reduce_rules[] = {
#include "policies/policies.def"
};
#define MERGE(name) &merge_##name,
const struct merge_rule *const merge_rules[] = {
#include "policies/policies.def"
};
#define RECEIVE(name) &receive_##name,
const struct receive_rule *const receive_rules[] = {
#include "policies/policies.def"
};
#define DAMPING(name) &damping_##name,
const struct damping_rule *const damping_rules[] = {
#include "policies/policies.def"
};
#define PREEMPT(name) &preempt_##name,
const struct preempt_rule *const preempt_rules[] = {
#include "policies/policies.def"
};
/* clang-format on */

#define FINDER(kind)                                                           \
    const unsigned kind##_rule_count =                                         \
        sizeof kind##_rules / sizeof *kind##_rules;                            \
    const struct kind##_rule *kind##_find(const char *name)                    \
    {                                                                          \
        for (unsigned i = 0; i < kind##_rule_count; i++)                       \
            if (strcmp(kind##_rules[i]->name, name) == 0)                      \
                return kind##_rules[i];                                        \
        return NULL;                                                           \
    }
FINDER(gate)
FINDER(select)
FINDER(reduce)
FINDER(merge)
FINDER(receive)
FINDER(damping)
FINDER(preempt)
