/* What --data names, as labelled samples to train on and to be judged by.
 *
 * PATH is one of
 *   a directory   train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz]
 *                 and, to be judged by, the same two with t10k for train;
 *   X.csv[.gz]    numbers with the label in the last column (train/csv.h);
 *   X,Y           features and labels, both .npy or both IDX.
 * Without t10k files a tenth of the rows, chosen by the split seed, is held
 * out; so it is the same tenth on every PC that has the same file. */
#ifndef TRAIN_DATA_H
#define TRAIN_DATA_H

#include "core/status.h"
#include "train/table.h"

struct data {
    struct table training, held_out; /* parts of the files */
    struct table files[2];           /* the second is empty without t10k */
    int32_t classes;                 /* labels are 0 .. classes - 1 */
};

/* STATUS_IO: not readable; STATUS_MALFORMED: not what it should be;
 * STATUS_USAGE: not a PATH as above, or NULL. Then there is nothing to
 * free. */
enum status data_open(const char *path, uint64_t split_seed, struct data *out,
                      struct why *why) MUST_CHECK;
void data_close(struct data *data);
/* Writes these rows of one of the two parts, count x features, and their
 * labels. */
void data_load(const struct data *data, int held_out, const uint64_t *rows,
               size_t count, float *features, int32_t *labels);

#endif
