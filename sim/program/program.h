/* The commands of starswitch-sim: sim_NAME for each ACTION of
 * core/programs.def, in sim/main_NAME.c or, where two share a file, as it says.
 *
 * words[0] is the command's name; each returns an exit code and has said on
 * standard error why it is not 0. */
#ifndef SIM_PROGRAM_PROGRAM_H
#define SIM_PROGRAM_PROGRAM_H

#define ACTION_SIM(verb) int sim_##verb(int count, char **words);
#define ACTION_HUB(verb)
#define ACTION_NODE(verb)
#define ACTION(NAME, verb, arguments, what) ACTION_##NAME(verb)
#include "core/programs.def"
#undef ACTION_SIM

#endif
