/* Files that are whole or not there: written under another name, then moved.
 *
 * A file is written as NAME.tmp in the same folder, brought to the disk, and
 * renamed; the folder is brought to the disk too. Whoever reads NAME sees the
 * old content or the new one. When something fails, the old file is still
 * there and NAME.tmp is not. One writer per file at a time, of a secret as many
 * as like to; any thread. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/status.h"

enum { FILE_PATH_BYTES = 4096 };

/* Bytes of a file in a row with others; borrowed. */
struct part {
    const void *bytes;
    size_t size;
};

/* Replaces `path` by the parts; what is a pipe or a device there, such as
 * /dev/null, is never replaced but written to. IO with a sentence that names
 * the file. */
enum status file_replace(const char *path, const struct part *parts,
                         size_t count, struct why *why) MUST_CHECK;

/* The same for what nobody needs after a crash: not brought to the disk, which
 * could take long. */
enum status file_replace_lightly(const char *path, const struct part *parts,
                                 size_t count, struct why *why) MUST_CHECK;

/* The same for a secret: nobody but its owner may ever read it (mode 0600). */
enum status file_replace_private(const char *path, const struct part *parts,
                                 size_t count, struct why *why) MUST_CHECK;
/* The same, unless there is a file: it stays as it is, and *made is false. */
enum status file_create_private(const char *path, const struct part *parts,
                                size_t count, bool *made,
                                struct why *why) MUST_CHECK;

/* Whether file_replace may succeed, for whoever needs it much later: what is
 * at `path` stays as it is. IO. */
enum status file_try(const char *path, struct why *why) MUST_CHECK;

/* Makes way for another file: a plain one that is not empty becomes PATH.1, or
 * the next of these names that is free. Nothing there: nothing is done. IO. */
enum status file_make_way(const char *path, struct why *why) MUST_CHECK;

/* To an open file, all of it; false, and errno says why: some of it may be
 * there. */
bool file_write_all(int file, const void *bytes, size_t size);

/* Writes a new file, in place of one of that name, and brings it to the disk;
 * the folder is not. IO: it is not
 * there, or not to be trusted, and must not be written to again. */
enum status file_write(const char *path, const struct part *parts, size_t count,
                       struct why *why) MUST_CHECK;

/* Reads a whole file, `-`: standard input; `bytes` is the caller's, with a NUL
 * behind it that `size` does not count. IO; CONFIG: longer than `most`. */
enum status file_read(const char *path, size_t most, char **bytes, size_t *size,
                      struct why *why) MUST_CHECK;

/* The same for what a program has saved itself: a plain file and nothing else,
 * such as a FIFO, which would be waited for. */
enum status file_open_saved(const char *path, FILE **out,
                            struct why *why) MUST_CHECK;
enum status file_read_saved(const char *path, size_t most, char **bytes,
                            size_t *size, struct why *why) MUST_CHECK;

/* Makes the folder, and those it is in, unless they are there. */
enum status folder_make(const char *path, struct why *why) MUST_CHECK;

/* Whether `path` is a link to that target; replaces it by one, at once and
 * brought to the disk. */
bool link_is(const char *path, const char *target);
enum status link_replace(const char *path, const char *target,
                         struct why *why) MUST_CHECK;

/* The path of `name` in the folder. What does not fit is cut: whoever takes a
 * folder from outside looks first. */
void path_join(char path[FILE_PATH_BYTES], const char *folder,
               const char *name);

/* The next entry of the open folder `path`; NULL: that was all. IO. */
enum status folder_next(DIR *folder, const char *path,
                        const struct dirent **entry,
                        struct why *why) MUST_CHECK;
/* Brings the names in a folder to the disk. Some file systems cannot: then what
 * was done is as safe as it gets there. */
enum status folder_sync(const char *path, struct why *why) MUST_CHECK;
/* Removes a folder and the files in it, as far as that goes. */
void folder_discard(const char *path);

/* "cannot VERB PATH: what errno says"; returns IO. */
enum status file_failed(const char *verb, const char *path, struct why *why);

#endif
