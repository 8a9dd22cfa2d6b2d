/* The words of a plug-in's outcomes in ours and back. */
#ifndef TRAIN_OUTCOME_H
#define TRAIN_OUTCOME_H

#include "core/status.h"
#include "include/starswitch_trainer.h"

/* An outcome that nobody knows becomes STATUS_BUG. */
enum status outcome_status(enum star_trainer_outcome outcome);
enum star_trainer_outcome outcome_of(enum status status);

#endif
