/* The bytes of files and folders, end to end. */
#ifndef TRAIN_CORPUS_H
#define TRAIN_CORPUS_H

#include "train/input.h"

/* `paths` are separated by commas. Of a folder all files are read that are not
 * empty, in the order of their names' bytes, but for names that begin with a
 * dot; not the folders in it. Ends as input_read does. */
enum status corpus_read(const char *paths, struct input *out,
                        struct why *why) MUST_CHECK;
/* Where the held-out bytes begin: they are the last tenth. STATUS_CONFIG if
 * that is no longer than a context. `paths` are what was read. */
enum status corpus_split(const struct input *corpus, const char *paths,
                         size_t context, size_t *split,
                         struct why *why) MUST_CHECK;

#endif
