/* gpt: a transformer that guesses the next byte of any text.
 *
 * The network is GPT-2's (train/transformer.h) on windows of T bytes, each byte
 * of which is a sample. The spec is train/spec.h's: "L4-D128-H4-T64,lr=0.001".
 * The data is train/corpus.h's; the last tenth of the bytes is held out, of
 * which HELD_OUT samples at most are scored, in windows drawn from all of it.
 * The rest is shared out in stretches, one of them to a node (train/sampler.h).
 * Under muon its embeddings, norms and biases are adamw's. */
#ifndef TRAIN_GPT_H
#define TRAIN_GPT_H

#include "include/starswitch_trainer.h"

extern const struct star_trainer_type gpt_trainer;

#endif
