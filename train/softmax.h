/* Softmax and cross-entropy of a batch, in one pass per row. */
#ifndef TRAIN_SOFTMAX_H
#define TRAIN_SOFTMAX_H

#include <stddef.h>
#include <stdint.h>

/* `logits` (rows x classes) becomes the gradient of the mean loss by the
 * logits, (p - onehot(label)) / rows. Returns the sum (not the mean) of the
 * rows' losses -ln p[label]; adds to `correct` the rows whose largest logit is
 * the label's, and to `squares` (unless NULL) the squares of the losses.
 * Labels are below `classes`. */
double softmax_cross_entropy(float *logits, const int32_t *labels, size_t rows,
                             size_t classes, size_t *correct, double *squares);

#endif
