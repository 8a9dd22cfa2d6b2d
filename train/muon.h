/* Muon's orthogonalisation: the update of a matrix, with all of its singular
 * values made nearly one.
 *
 * Jordan et al., "Muon: an optimizer for hidden layers in neural networks"
 * (2024): x is divided by its length, then five times
 *     x <- a x + (b G + c G^2) x,  G = x x^T,
 * the quintic Newton-Schulz iteration with a, b, c = 3.4445, -4.7750, 2.0315,
 * which takes singular values from (0, 1] to 0.7 .. 1.2. In float32. */
#ifndef TRAIN_MUON_H
#define TRAIN_MUON_H

#include <stddef.h>

/* Floats of scratch that a matrix needs. */
size_t muon_scratch(size_t rows, size_t columns);
/* Replaces x, rows x columns. */
void muon_orthogonalize(float *x, size_t rows, size_t columns, float *scratch);

#endif
