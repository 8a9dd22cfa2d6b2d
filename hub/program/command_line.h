/* How the commands of starswitch-hub read their words, and how they end. */
#ifndef HUB_PROGRAM_COMMAND_LINE_H
#define HUB_PROGRAM_COMMAND_LINE_H

#include "core/options.h"

/* Reads what stands behind a command: first its words, up to the first that
 * begins with -, then options, and behind -- words again, whatever they begin
 * with, which are moved to the first ones; `taken` are the names of those that
 * make sense (with a NULL at the end), beside --config and --help. Puts into
 * *plain how many words there are, the command's own among them. USAGE, CONFIG,
 * IO. With
 * --help it has printed it, and there is no more to do. */
enum status command_read(int count, char **words, const char *const *taken,
                         struct options *out, int *plain,
                         struct why *why) MUST_CHECK;

/* Prints what the command takes, if its words ask for that; whether they do. */
bool command_help(int count, char **words, const char *const *taken);

/* Says on standard error what went wrong, if something did; the exit code. */
int command_end(enum status status, const struct why *why);

#endif
