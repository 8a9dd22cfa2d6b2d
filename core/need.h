/* Memory that a machine cannot do without: small things, in the middle of a
 * step that is not to be left half done.
 *
 * Where there is none a program ends, unless it has said what to do instead.
 * A library inside somebody's process does: its threads wait until there is
 * (node/library/shell.h), and its host trains on. What the host's own threads
 * run never asks here: it gets NULL from malloc and does without. */
#ifndef CORE_NEED_H
#define CORE_NEED_H

#include <stddef.h>

/* Zeroed, and never NULL. */
void *need_memory(size_t count, size_t size);
/* As realloc, and never NULL. */
void *need_more(void *old, size_t bytes);
/* From now on, on whatever thread: `act` is called where memory is missing, and
 * then it is tried again. */
void need_when_missing(void (*act)(void));
/* Memory is missing: calls `act`, or ends the program. */
void need_wait(void);

#endif
