/* NumPy's .npy arrays: a magic, a Python dict as header, the elements.
 * (NEP 1, "A simple file format for NumPy arrays".) Read are little endian
 * f4, f8, i4, i8 and u1 in C order. */
#ifndef TRAIN_NPY_H
#define TRAIN_NPY_H

#include "train/input.h"
#include "train/table.h"

/* Whether the bytes begin like a .npy file. */
int npy_recognise(const struct input *file);
/* Makes a table of a features file (rows first; further dimensions are
 * flattened) and a labels file (one whole number per row). u1 features stay
 * bytes, and `features` is taken over then; both remain the caller's to free
 * in any case. The paths are for the error's sentence. */
enum status npy_make_table(struct input *features, const char *features_path,
                           const struct input *labels, const char *labels_path,
                           struct table *out, struct why *why) MUST_CHECK;

#endif
