/* Shared by the pages that are made from the option table. */
#ifndef CORE_OPTION_PAGES_H
#define CORE_OPTION_PAGES_H

#include "core/options.h"

/* How values are written, and where settings come from: paragraphs. */
extern const char option_units[], option_sources[];

/* The command line that tells a running hub something. */
extern const char option_command[];

/* Adds what the exit code of `status` means: the words of all statuses that
 * have it. False, adding nothing, unless `status` is the first of these. */
bool option_exit_code(enum program program, enum status status,
                      struct text *out);

#endif
