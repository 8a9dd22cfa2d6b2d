/* The commands of starswitch-hub: command_NAME for each ACTION of
 * core/programs.def, in hub/main_NAME.c or where its table says.
 *
 * words[0] is the command's name; each returns an exit code and has said on
 * standard error why it is not 0. */
#ifndef HUB_PROGRAM_COMMANDS_H
#define HUB_PROGRAM_COMMANDS_H

#include <stdbool.h>

#include "core/options.h"

#define ACTION_HUB(verb) int command_##verb(int count, char **words);
#define ACTION_SIM(verb)
#define ACTION(NAME, verb, arguments, what) ACTION_##NAME(verb)
#include "core/programs.def"
#undef ACTION_HUB
#undef ACTION_SIM

/* Runs the command that the program's first word names; false: it is none, and
 * the program is to run a hub. */
bool command_run(int argc, char **argv, int *code);

/* Reads what stands behind a command: first its words, up to the first that
 * begins with -, then options; `taken` are the names of those that make sense
 * (with a NULL at the end), beside --config and --help. Puts into *plain how
 * many words there are, the command's own among them. USAGE, CONFIG, IO. With
 * --help it has printed it, and there is no more to do. */
enum status command_read(int count, char *const *words,
                         const char *const *taken, struct options *out,
                         int *plain, struct why *why) MUST_CHECK;

/* Says on standard error what went wrong, if something did; the exit code. */
int command_end(enum status status, const struct why *why);

#endif
