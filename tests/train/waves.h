/* What tests/train/golden/waves.py has: first parameters, and how a tensor is
 * known. */
#ifndef TESTS_TRAIN_WAVES_H
#define TESTS_TRAIN_WAVES_H

#include <stddef.h>

#include "tests/check.h"

/* Its number `i` of a wave, counted from 1. */
double wave_at(size_t i, double step);
/* All parameters as it begins with them. */
void waves_fill(float *values, size_t count);

/* Length and products of a tensor, or of how it has changed. */
struct golden {
    const char *name;
    double length, first, second;
};

/* Compares x - before (NULL: zeroes) with what PyTorch says; how much may be
 * wrong is in lengths. Returns how much is. */
double check_golden(const struct golden *golden, const float *x,
                    const float *before, size_t count, double tolerance);

#endif
