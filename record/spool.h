/* A file that is written step by step while a machine runs: a write of some
 * 100 bytes per step, which takes about a microsecond, and nothing waits for
 * the disk. When writing fails it stops behind the last whole step and says so
 * once. The machine goes on. One thread, the loop's. */
#ifndef RECORD_SPOOL_H
#define RECORD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

struct spool;

/* A callback for when writing begins to fail. NULL: none. */
struct spool_complaint {
    void (*tell)(void *of, const char *sentence);
    void *of;
};

/* Makes the file anew. What `complaint` points to must stay until spool_close.
 * IO when the file cannot be made, NO_MEMORY. */
enum status spool_open(const char *path, struct spool_complaint complaint,
                       struct spool **out, struct why *why) MUST_CHECK;
/* Of a file in which steps may be missing: 10 s after writing has failed, and
 * again and again, it is tried with the step of then. */
void spool_goes_on(struct spool *spool);
/* Whether it takes something, or will. */
bool spool_works(const struct spool *spool);
void spool_write(struct spool *spool, const void *bytes, size_t size);
/* The step is whole: all is given to the system, so that whoever is killed has
 * recorded all that others have seen of it. */
void spool_step(struct spool *spool);
/* Writes what is still to be written. NULL is passed over. */
void spool_close(struct spool **spool);

#endif
