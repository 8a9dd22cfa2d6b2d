#include "core/program.h"

#define EXAMPLE(NAME, what, command)
#define PLACE(NAME, file, what)
#define PROGRAM(NAME, name, summary, description)                              \
    [PROGRAM_##NAME] = {name, summary, description},
const struct program_info programs[PROGRAMS] = {
#include "core/programs.def"
};
#undef PROGRAM
#define PROGRAM(NAME, name, summary, description)

#undef EXAMPLE
#define EXAMPLE(NAME, what, command) {PROGRAM_##NAME, what, command},
static const struct program_item examples[] = {
#include "core/programs.def"
};
#undef EXAMPLE
#define EXAMPLE(NAME, what, command)

#undef PLACE
#define PLACE(NAME, file, what) {PROGRAM_##NAME, what, file},
static const struct program_item places[] = {
#include "core/programs.def"
};
#undef PROGRAM
#undef EXAMPLE
#undef PLACE

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
