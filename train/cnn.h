/* cnn: tells the classes of labelled pictures apart (train/data.h).
 *
 * Blocks of train/convolution.h, then dense layers as mlp has them; softmax
 * cross-entropy. The spec is train/spec.h's: "C16-C32-H64,lr=0.002" or "". A
 * sample is a picture: of each of its channels, all rows. */
#ifndef TRAIN_CNN_H
#define TRAIN_CNN_H

#include "include/starswitch_trainer.h"

extern const struct star_trainer_type cnn_trainer;

#endif
