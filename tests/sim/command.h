/* A command of starswitch-sim, called as the program would. */
#ifndef TESTS_SIM_COMMAND_H
#define TESTS_SIM_COMMAND_H

#include "tests/store/folder.h"

enum { COMMAND_WORDS = 32 };

/* What a call has left: its exit code, and what it printed. */
struct command {
    int code;
    char *out, *err;
};

/* Calls it with the words, NULL behind the last; what it prints goes through
 * files in the folder. */
struct command command_call(const struct folder *folder,
                            int (*command)(int argc, char **argv),
                            const char *const words[COMMAND_WORDS]);
/* The same with one line of words, without quotes. */
struct command command_line(const struct folder *folder,
                            int (*command)(int argc, char **argv),
                            const char *line);
void command_free(struct command *command);

#endif
