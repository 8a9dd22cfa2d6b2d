/* IDX files, the format of MNIST and Fashion-MNIST, plain or gzipped.
 *
 * A file is: two zero bytes, the element type (0x08: unsigned bytes, the only
 * one read here), the number of dimensions, each dimension as 32 bits big
 * endian, the elements. (LeCun, Cortes and Burges, "The MNIST database".) */
#ifndef TRAIN_IDX_H
#define TRAIN_IDX_H

#include "train/input.h"
#include "train/table.h"

/* Makes a table of a file of images (2 to 4 dimensions; all but the first are
 * the features) and one of labels (1 dimension) that fits. Takes over `images`
 * if it succeeds; the paths are for the error's sentence. */
enum status idx_make_table(struct input *images, const char *images_path,
                           const struct input *labels, const char *labels_path,
                           struct table *out, struct why *why) MUST_CHECK;

#endif
