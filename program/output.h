/* What a command has printed. */
#ifndef PROGRAM_OUTPUT_H
#define PROGRAM_OUTPUT_H

/* The exit code of a command that ends with `code`: that of STATUS_IO, with a
 * sentence, if all went well but standard output, as on a full disk. Nobody is
 * told who has closed a pipe. */
int output_end(const char *program, int code);

#endif
