/* The commands of starswitch-hub: command_NAME for each ACTION of
 * core/programs.def.
 *
 * words[0] is the command's name; each returns an exit code and has said on
 * standard error why it is not 0. */
#ifndef HUB_PROGRAM_COMMANDS_H
#define HUB_PROGRAM_COMMANDS_H

#include <stdbool.h>

#define ACTION_HUB(verb) int command_##verb(int count, char **words);
#define ACTION_NODE(verb)
#define ACTION_SIM(verb)
#define ACTION(NAME, verb, arguments, what) ACTION_##NAME(verb)
#include "core/programs.def"
#undef ACTION_HUB
#undef ACTION_NODE
#undef ACTION_SIM

/* Runs the command that the program's first word names; false: it is none, and
 * the program is to run a hub. */
bool command_run(int argc, char **argv, int *code);

#endif
