/* The bytes of one or several files, end to end. */
#ifndef TRAIN_CORPUS_H
#define TRAIN_CORPUS_H

#include "train/input.h"

/* `paths` are separated by commas. Ends as input_read does. */
enum status corpus_read(const char *paths, struct input *out,
                        struct why *why) MUST_CHECK;

#endif
