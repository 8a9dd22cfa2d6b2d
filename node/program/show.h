/* What starswitch-node prints: a line that is redrawn on a terminal, or a
 * `key=value` line every 5 s, or a JSON line every second; events on stderr. */
#ifndef NODE_PROGRAM_SHOW_H
#define NODE_PROGRAM_SHOW_H

#include <pthread.h>
#include <starswitch.h>

#include "core/options.h"
#include "core/time.h"
#include "train/trainer.h"

struct node_show {
    pthread_mutex_t lock; /* events come from the link's thread */
    const char *model;
    char name[40];
    bool terminal, json, drawn;
    nanos begun, shown; /* when the line was first and last printed */
    uint64_t shown_iteration;
    double rate, loss;
    uint64_t overruns; /* steps longer than --step-time */
    nanos step_time;
};

void node_show_begin(struct node_show *show, const struct options *options,
                     const struct trainer *trainer);
/* After an iteration; prints when it is time to. */
void node_show_step(struct node_show *show, nanos now,
                    const struct star_progress *progress,
                    const struct star_state *state);
/* An event; any thread. */
void node_show_note(struct node_show *show, enum star_level level,
                    const char *event, const char *sentence);
/* The same JSON line as --json prints, at once and on stderr. */
void node_show_state(struct node_show *show,
                     const struct star_progress *progress,
                     const struct star_state *state);
/* Why the hub will not have this node, on stderr. */
void node_show_refusal(const char *sentence);
/* And what the model makes up, if it does. */
void node_show_end(struct node_show *show, nanos elapsed,
                   const struct star_state *state, struct trainer *trainer);
/* What --dry-run says. */
void node_show_plan(const struct trainer *trainer,
                    const struct options *options, double loss);

#endif
