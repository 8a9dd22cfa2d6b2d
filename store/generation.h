/* Generations of the centre in a hub's directory: folders that are whole or
 * not there, of which each says by checksums whether it still is.
 *
 *     generation-12/   files, best.safetensors (a link), MANIFEST
 *     current          a link to the newest one, for readers
 *     best.safetensors a link to current/best.safetensors
 *
 * A new one is made as generation-N.tmp: each file is written and brought to
 * the disk, then the folder, then it is renamed, then the directory is brought
 * to the disk; then `current` is replaced in the same way. After a crash there
 * are so, at any moment, one or two that are whole. When something fails, all
 * of the new one is removed, as what is behind a failed fsync cannot be known
 * (P. Rebello et al., "Can Applications Recover from fsync Failures?", 2020).
 *
 * One writer per directory; readers may come at any time, and find that one is
 * gone. A directory's name has at most GENERATION_DIRECTORY_BYTES. */
#ifndef STORE_GENERATION_H
#define STORE_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "store/file.h"
#include "store/inventory.h"

#define GENERATION_MANIFEST "MANIFEST"
#define GENERATION_CURRENT "current"
#define GENERATION_BEST "best.safetensors"

enum {
    GENERATION_LIST = 16, /* that are looked at; two are kept */
    GENERATION_NAME_BYTES = 40,
    GENERATION_DIRECTORY_BYTES = FILE_PATH_BYTES - 128
};

/* Numbers of those that are there, newest first. */
struct generations {
    uint64_t numbers[GENERATION_LIST];
    unsigned count;
};

/* IO: the directory cannot be read; then `out` is empty. */
enum status generation_list(const char *directory, struct generations *out,
                            struct why *why) MUST_CHECK;
/* That `current` is a link to, or 0: it is none, or to none that is there. */
uint64_t generation_current(const char *directory);
/* Makes `current` a link to it, and brings it to the disk. */
enum status generation_point(const char *directory, uint64_t number,
                             struct why *why) MUST_CHECK;
/* The path of a file in it, or of itself if the name is "". */
void generation_path(const char *directory, uint64_t number, const char *name,
                     char path[FILE_PATH_BYTES]);

/* That of the folder in which it is made, or removed. */
void generation_half_path(const char *directory, uint64_t number,
                          char path[FILE_PATH_BYTES]);

/* Reads its manifest, which must be all zeros, and is to be freed either way.
 * MALFORMED, IO, NO_MEMORY; the sentence names no generation. */
enum status generation_open(const char *directory, uint64_t number,
                            struct inventory *out, struct why *why) MUST_CHECK;
/* Compares a file with what the manifest says. MALFORMED: it is damaged, and
 * the sentence says where. */
enum status generation_check(const char *directory, uint64_t number,
                             const struct inventory_file *file,
                             struct why *why) MUST_CHECK;

/* One that is being made. */
struct generation {
    const char *directory;        /* borrowed */
    uint64_t number, before;      /* before: `current` until then, or 0 */
    char folder[FILE_PATH_BYTES]; /* where it is now */
    struct inventory manifest;    /* the owner sets run, version, epoch */
};

/* Begins one behind the newest that is there. IO: it is not known which are
 * there, or nothing can be written. Whatever follows, generation_end or
 * generation_abandon ends it. */
enum status generation_begin(struct generation *generation,
                             const char *directory, struct why *why) MUST_CHECK;
/* Adds a file. */
enum status generation_add(struct generation *generation, const char *name,
                           const struct part *parts, size_t count,
                           struct why *why) MUST_CHECK;
/* Adds a file of the one before, as that one's manifest knows it: the same file
 * where the file system has links, else a copy. AGAIN: it is gone or damaged,
 * and nothing was added. */
enum status generation_link_former(struct generation *generation,
                                   const struct inventory_file *file,
                                   struct why *why) MUST_CHECK;
/* Makes best.safetensors a link to one of its files. */
enum status generation_choose(struct generation *generation, const char *name,
                              struct why *why) MUST_CHECK;
/* Makes it the current one. When that fails, it is abandoned. */
enum status generation_end(struct generation *generation,
                           struct why *why) MUST_CHECK;
/* Removes what has been made of it, and nothing else. */
void generation_abandon(struct generation *generation);

/* Removes it, at once for whoever looks. */
void generation_remove(const char *directory, uint64_t number);
/* Removes all but two, as far as they can be found. */
void generation_prune(const char *directory, uint64_t newest, uint64_t before);
/* Removes what a crash has left half made or half removed. */
void generation_clear(const char *directory);

#endif
