/* How a program of ours keeps its memory. */
#ifndef NET_MEMORY_H
#define NET_MEMORY_H

/* Lets malloc keep what libzmq frees: it takes a fresh buffer for each chunk
 * that comes, and fresh pages cost more than copying the chunk. For programs,
 * first of all; a library leaves this to its host. */
void memory_keep(void);

#endif
