#include "train/softmax.h"

#include <assert.h>
#include <math.h>

/* Replaces each x by e^(x - largest); returns their sum, at least 1. */
static float exponentiate(float *row, size_t classes, float largest)
{
    float sum = 0;

    for (size_t i = 0; i < classes; i++) {
        row[i] = expf(row[i] - largest);
        sum += row[i];
    }
    return sum;
}

/* Turns one row of logits into probabilities times `scale`; returns its
 * loss. */
static double softmax_row(float *row, size_t classes, size_t label, float scale)
{
    float largest = row[0], wanted = row[label], sum;

    assert(label < classes);
    for (size_t i = 1; i < classes; i++)
        largest = row[i] > largest ? row[i] : largest;
    sum = exponentiate(row, classes, largest);
    scale /= sum;
    for (size_t i = 0; i < classes; i++)
        row[i] *= scale;
    return log((double)sum) + (double)largest - (double)wanted;
}

static size_t largest_of(const float *row, size_t classes)
{
    size_t best = 0;

    for (size_t i = 1; i < classes; i++)
        if (row[i] > row[best])
            best = i;
    return best;
}

double softmax_cross_entropy(float *logits, const int32_t *labels, size_t rows,
                             size_t classes, size_t *correct, double *squares)
{
    float scale = 1 / (float)rows;
    double total = 0;

    for (size_t r = 0; r < rows; r++) {
        float *row = logits + r * classes;
        size_t label = (size_t)labels[r];
        int right = largest_of(row, classes) == label;
        double loss = softmax_row(row, classes, label, scale);

        row[label] -= scale;
        total += loss;
        if (squares)
            *squares += loss * loss;
        *correct += right && isfinite(loss);
    }
    return total;
}
