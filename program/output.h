/* How a command ends: what went wrong, and whether all was printed. */
#ifndef PROGRAM_OUTPUT_H
#define PROGRAM_OUTPUT_H

#include "core/status.h"

/* The exit code; where it is not well, "PROGRAM: SENTENCE" on standard error
 * before. */
int output_fail(const char *program, enum status status, const struct why *why);

/* The exit code of a command that ends with `code`: that of STATUS_IO, with a
 * sentence, if all went well but standard output, as on a full disk. Nobody is
 * told who has closed a pipe. */
int output_end(const char *program, int code);

#endif
