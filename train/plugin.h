/* Loads a trainer from a shared object. */
#ifndef TRAIN_PLUGIN_H
#define TRAIN_PLUGIN_H

#include "core/status.h"
#include "include/starswitch_trainer.h"

/* STATUS_UNAVAILABLE: cannot be loaded or exports no trainer; STATUS_VERSION:
 * built for another ABI; STATUS_CONFIG: lacks a function. On success the
 * caller closes `library` with plugin_close when nothing of it is used. */
enum status plugin_open(const char *path, void **library,
                        const struct star_trainer_type **type,
                        struct why *why) MUST_CHECK;
/* NULL is nothing to close. */
void plugin_close(void **library);
/* Whether its ABI is ours and no function lacks that must be there. */
enum status plugin_check_type(const char *path,
                              const struct star_trainer_type *type,
                              struct why *why) MUST_CHECK;
/* Whether the tensors lie end to end in values and gradients, as promised. */
enum status plugin_check_model(const char *name,
                               const struct star_trainer_model *model,
                               struct why *why) MUST_CHECK;

#endif
