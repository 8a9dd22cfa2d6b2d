/* How malloc is to keep memory. */
#ifndef NET_MEMORY_H
#define NET_MEMORY_H

/* Lets malloc keep what is freed: fresh pages cost more than copying what goes
 * into them. For programs, first of all. */
void memory_keep(void);
/* The same for a library, whose host may have settings of its own: malloc does
 * what it does by itself once the host has freed a block of 32 MiB, and what it
 * was told is left alone. */
void memory_grow(void);

#endif
