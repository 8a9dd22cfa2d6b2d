/* What the tests of mlp, cnn, lm and gpt ask of all. */
#ifndef TESTS_TRAIN_MODELS_H
#define TESTS_TRAIN_MODELS_H

#include <stdbool.h>

#include "train/trainer.h"

/* Opens, with a failed check and NULL if that does not work. */
struct trainer *model_open(const char *model, const char *data, uint64_t seed);
/* Trains; returns the loss of the last iteration. */
double model_train(struct trainer *trainer, unsigned iterations);

/* Compares some gradients with finite differences. The batch must be all of
 * the training samples, so that each call has the same ones. */
void check_gradients(struct trainer *trainer);
/* Two trainers of one seed do the same bits; one of another seed does not. */
void check_determinism(const char *model, const char *data);
/* Evaluating leaves the training as it would be without. */
void check_evaluation_is_pure(const char *model, const char *data);
/* The deviation is that of the losses of single samples. */
void check_deviation(const char *model, const char *data);
/* Whether the bits are the same. */
bool same_floats(const float *a, const float *b, uint64_t count);
/* Tensors lie in a row; names differ. */
void check_tensors(const struct trainer *trainer);

#endif
