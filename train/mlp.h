/* mlp: tells the classes of labelled samples apart (train/data.h).
 *
 * Dense layers with ReLU, softmax cross-entropy. The spec is train/spec.h's:
 * "784-128-10,lr=0.1", "128" or "". */
#ifndef TRAIN_MLP_H
#define TRAIN_MLP_H

#include "include/starswitch_trainer.h"

extern const struct star_trainer_type mlp_trainer;

#endif
