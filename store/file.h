/* Files that are whole or not there: written under another name, then moved.
 *
 * A file is written as NAME.tmp in the same folder, brought to the disk, and
 * renamed; the folder is brought to the disk too. Whoever reads NAME sees the
 * old content or the new one. When something fails, the old file is still
 * there and NAME.tmp is not. One writer per file at a time; any thread. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <stddef.h>

#include "core/status.h"

enum { FILE_PATH_BYTES = 4096 };

/* Bytes of a file in a row with others; borrowed. */
struct part {
    const void *bytes;
    size_t size;
};

/* Replaces `path` by the parts. IO with a sentence that names the file. */
enum status file_replace(const char *path, const struct part *parts,
                         size_t count, struct why *why) MUST_CHECK;

/* Reads a whole file, `-`: standard input; `bytes` is the caller's, with a NUL
 * behind it that `size` does not count. IO; CONFIG: longer than `most`. */
enum status file_read(const char *path, size_t most, char **bytes,
                      size_t *size, struct why *why) MUST_CHECK;

/* Makes the folder, and those it is in, unless they are there. */
enum status folder_make(const char *path, struct why *why) MUST_CHECK;

/* "cannot VERB PATH: what errno says"; returns IO. */
enum status file_failed(const char *verb, const char *path, struct why *why);

#endif
