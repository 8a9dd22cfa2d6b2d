/* lm: guesses the next byte of any file from the bytes before it.
 *
 * Each of the `context` bytes is looked up in an embedding (256 x embedding),
 * the vectors end to end go through dense layers to 256 logits: the neural
 * probabilistic language model of Bengio et al. (2003) on bytes. The spec is
 * train/spec.h's: "context=16,hidden=128,embedding=16". The data is
 * train/corpus.h's: files, as if they were one; .gz is unpacked. The last tenth
 * of the bytes is held out; no context crosses into it. A sample is a place in
 * the text; shards share the text but no place. */
#ifndef TRAIN_LM_H
#define TRAIN_LM_H

#include "include/starswitch_trainer.h"

extern const struct star_trainer_type lm_trainer;

#endif
