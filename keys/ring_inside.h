/* Shared by the files of the ring. */
#ifndef KEYS_RING_INSIDE_H
#define KEYS_RING_INSIDE_H

#include "keys/ring.h"

extern const char ring_allowed[], ring_revoked[]; /* folders */

/* PATH = FOLDER/SUB/NAME.SUFFIX; IO: it is too long. */
enum status ring_path(char path[FILE_PATH_BYTES], const char *folder,
                      const char *sub, const char *name, const char *suffix,
                      struct why *why) MUST_CHECK;
bool ring_has(const char *path);
enum status ring_make_folder(const char *folder, const char *sub,
                             struct why *why) MUST_CHECK;
enum status ring_sync_folder(const char *folder, const char *sub,
                             struct why *why) MUST_CHECK;
/* Notes how both folders are now, so that a change by others is seen. */
void ring_stamp(struct ring *ring);
bool ring_is_stale(const struct ring *ring);
/* How many the line has let in, of whom some may have been revoked since. */
void ring_count_used(struct ring *ring);

#endif
