/* Scoring the centre on held-out data with a trainer of its model. */
#ifndef HUB_PROGRAM_SCORE_H
#define HUB_PROGRAM_SCORE_H

#include <pthread.h>

#include "core/options.h"
#include "seam/machine.h"
#include "train/trainer.h"

struct scorer {
    struct trainer *trainer;
    struct schema *schema; /* of its model */
    float *values;         /* the chunks, side by side */
    uint64_t version;      /* of the centre in `values`; 0: it is none */
    pthread_mutex_t lock;  /* of both: rules that judge score, too */
};

/* CONFIG: something was asked for that a hub without --model and --data cannot
 * do. */
enum status scorer_check(const struct options *options,
                         struct why *why) MUST_CHECK;
/* Opens the trainer that --model (or --trainer) and --data name; without them
 * the scorer stays empty, which is fine. */
enum status scorer_open(struct scorer *scorer, const struct options *options,
                        struct why *why);
/* What the trainer trains, as nodes say it; NULL without one. */
const struct schema *scorer_schema(const struct scorer *scorer);
/* What a model that makes up text writes with the centre, if that was scored
 * last, as at a run's end. Returns trainer_write's length, 0 if it was not. */
size_t scorer_write(struct scorer *scorer, char *out, size_t size);
void scorer_close(struct scorer *scorer);

/* hub.h's `evaluate`; the context is a struct scorer, from any thread. */
extern const struct work score_centre;

#endif
