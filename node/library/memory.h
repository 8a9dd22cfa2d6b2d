/* How malloc is to keep memory for the library. */
#ifndef NODE_LIBRARY_MEMORY_H
#define NODE_LIBRARY_MEMORY_H

/* Lets malloc keep what is freed, as service_keep_memory does, but its host may
 * have settings of its own: malloc does what it does by itself once the host
 * has freed a block of 32 MiB, and what it was told is left alone. */
void memory_grow(void);

#endif
