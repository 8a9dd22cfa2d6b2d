#include "core/program.h"

#define PROGRAM(NAME, name, verb, summary, description)                        \
    [PROGRAM_##NAME] = {name, verb, summary, description},
const struct program_info programs[PROGRAMS] = {
#include "core/programs.def"
};

#define ACTION(NAME, verb, arguments, what)                                    \
    {PROGRAM_##NAME, what, #verb, arguments},
static const struct program_action actions[] = {
#include "core/programs.def"
};

#define EXAMPLE(NAME, what, command) {PROGRAM_##NAME, what, command},
static const struct program_item examples[] = {
#include "core/programs.def"
};

#define PLACE(NAME, file, what) {PROGRAM_##NAME, what, file},
static const struct program_item places[] = {
#include "core/programs.def"
};

const struct program_action *program_actions(size_t *count)
{
    *count = sizeof actions / sizeof *actions;
    return actions;
}

const struct program_item *program_examples(size_t *count)
{
    *count = sizeof examples / sizeof *examples;
    return examples;
}

const struct program_item *program_places(size_t *count)
{
    *count = sizeof places / sizeof *places;
    return places;
}
