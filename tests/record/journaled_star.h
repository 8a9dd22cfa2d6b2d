/* Keeps the journal of a virtual star's hub, for tests.
 *
 *     struct lab *lab = sweep_lab(&policy, &seen);
 *     journaled_star_begin(lab, path, NULL);    before it is opened
 *     sweep_open(lab, 1, SWEEP_NODES);
 *     lab_run(lab, 8 * SECOND);
 *     journaled_star_end(lab);                  before it is destroyed
 *     journaled_star_replay(path, &config, &replay, &why) */
#ifndef TESTS_RECORD_JOURNALED_STAR_H
#define TESTS_RECORD_JOURNALED_STAR_H

#include "record/replay.h"
#include "tests/sim/lab.h"

/* Takes over the lab's after_step. `saved`: what the hub goes on from. */
void journaled_star_begin(struct lab *lab, const char *path,
                          const struct hub_saved *saved);
void journaled_star_end(struct lab *lab);
/* The configuration of a star's hub, as a replay of it needs it. */
struct hub_config journaled_star_config(const struct lab *lab);
/* Does the journal again. */
enum status journaled_star_replay(const char *path,
                                  const struct hub_config *config,
                                  struct replay *out, struct why *why);

/* The journal of this star of sweep_lab, scored each second, for so long, with
 * its hub's configuration; destroys the lab. */
struct hub_config journaled_star_sweep(const char *path, struct lab *lab,
                                       unsigned nodes, nanos span);
/* The journal of a star of `nodes` in a folder, with the hub's configuration:
 * policy mean, for so long. */
struct hub_config journaled_star_star(const char *path, unsigned nodes,
                                      nanos span);

#endif
