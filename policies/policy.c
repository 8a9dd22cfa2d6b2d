#include "policies/policy.h"

#include <string.h>

#include "policies/gates.h"
#include "policies/mean.h"

const struct preset presets[] = {
#define PRESET(name, gate, merge, lr, momentum, doc, source)                 \
    {#name, doc, source, &gate_##gate, &merge_##merge, {lr, momentum}},
#include "policies/policies.def"
#undef PRESET
};

const unsigned preset_count = sizeof presets / sizeof *presets;

const struct preset *preset_find(const char *name)
{
    for (unsigned i = 0; i < preset_count; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}
