/* What a node has learnt, in a file of its own: for one that has no hub. */
#ifndef NODE_PROGRAM_SAVE_H
#define NODE_PROGRAM_SAVE_H

#include <starswitch.h>

#include "core/options.h"
#include "core/status.h"
#include "train/trainer.h"

/* At the start: IO if --save names what cannot be written. */
enum status node_may_save(const struct options *options,
                          struct why *why) MUST_CHECK;

/* At the end: writes the trainer's parameters where --save says, as
 * .safetensors, whole or not at all; parameters that are not finite, or beyond
 * what a hub would take, are not: IO. Without --save, and if no hub has any of
 * it, says so. IO, NO_MEMORY. */
enum status node_save(const struct trainer *trainer,
                      const struct options *options,
                      const struct star_state *state,
                      struct why *why) MUST_CHECK;

#endif
