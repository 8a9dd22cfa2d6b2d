/* The programs of starswitch, and what their help says beside the options. */
#ifndef CORE_PROGRAM_H
#define CORE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

enum program {
#define PROGRAM(NAME, name, verb, summary, description) PROGRAM_##NAME,
#include "core/programs.def"
    PROGRAMS
};

struct program_info {
    const char *name; /* of the file: "starswitch-hub" */
    const char *verb; /* as its usage shows it, with a blank; or empty */
    const char *summary, *description;
};

/* A subcommand: the first word of the command line. */
struct program_action {
    enum program program;
    const char *what, *verb, *arguments;
};

/* An example (text: a command line) or a place (text: a file). */
struct program_item {
    enum program program;
    const char *what, *text;
};

extern const struct program_info programs[PROGRAMS];

/* All programs' items, in the table's order. */
const struct program_action *program_actions(size_t *count);
const struct program_item *program_examples(size_t *count);
const struct program_item *program_places(size_t *count);

#endif
