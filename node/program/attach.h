/* How the node's program attaches a trainer's tensors. */
#ifndef NODE_PROGRAM_ATTACH_H
#define NODE_PROGRAM_ATTACH_H

#include <starswitch.h>

#include "core/status.h"
#include "include/starswitch_trainer.h"

/* star_attach for all tensors of a model; its errors as ours. */
enum status main_attach(const struct star_options *options,
                        const struct star_trainer_model *model,
                        struct star_link **link, struct why *why) MUST_CHECK;

#endif
