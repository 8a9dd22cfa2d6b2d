/* The programs of starswitch, and what their help says beside the options. */
#ifndef CORE_PROGRAM_H
#define CORE_PROGRAM_H

#include <stddef.h>

#define EXAMPLE(NAME, what, command)
#define PLACE(NAME, file, what)
enum program {
#define PROGRAM(NAME, name, summary, description) PROGRAM_##NAME,
#include "core/programs.def"
#undef PROGRAM
    PROGRAMS
};
#undef EXAMPLE
#undef PLACE

struct program_info {
    const char *name; /* of the file: "starswitch-hub" */
    const char *summary, *description;
};

/* An example (text: a command line) or a place (text: a file). */
struct program_item {
    enum program program;
    const char *what, *text;
};

extern const struct program_info programs[PROGRAMS];

/* All programs' items, in the table's order. */
const struct program_item *program_examples(size_t *count);
const struct program_item *program_places(size_t *count);

#endif
