/* The settings of a program, read from where people write them: the command
 * line, the environment (STARSWITCH_*), the file that --config names.
 *
 *     status = settings_read(&options, PROGRAM_HUB, argc, argv, &why);
 *     if (status != STATUS_OK) ... print why.text, exit with its code ...
 *     if (options.version) ... print the version ...
 *     if (options.help || options.version) return 0;
 *
 * What they may say is core/options.h. */
#ifndef PROGRAM_SETTINGS_H
#define PROGRAM_SETTINGS_H

#include "core/options.h"

/* Starts from the defaults. Prints the help to standard output when --help is
 * given; with --help or --version nothing else is read. USAGE: the command
 * line; CONFIG: the environment or the file's text; IO: the file cannot be
 * read. If it fails, `out` is unchanged. One thread only, as for getenv. */
enum status settings_read(struct options *out, enum program program, int argc,
                          char *const *argv, struct why *why) MUST_CHECK;

#endif
