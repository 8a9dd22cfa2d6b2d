/* Keeps the journal of a virtual star's hub, for tests.
 *
 *     struct lab *lab = sweep_lab(&policy, &seen);
 *     keeper_begin(lab, path, NULL);    before it is opened
 *     sweep_open(lab, 1, SWEEP_NODES);
 *     lab_run(lab, 8 * SECOND);
 *     keeper_end(lab);                  before it is destroyed
 *     keeper_replay(path, &config, &replay, &why) */
#ifndef TESTS_RECORD_KEEPER_H
#define TESTS_RECORD_KEEPER_H

#include "record/replay.h"
#include "tests/sim/lab.h"

/* Takes over the lab's after_step. `saved`: what the hub goes on from. */
void keeper_begin(struct lab *lab, const char *path,
                  const struct hub_saved *saved);
void keeper_end(struct lab *lab);
/* The configuration of a star's hub, as a replay of it needs it. */
struct hub_config keeper_config(const struct lab *lab);
/* Does the journal again. */
enum status keeper_replay(const char *path, const struct hub_config *config,
                          struct replay *out, struct why *why);

/* The journal of this star of sweep_lab, scored each second, for so long, with
 * its hub's configuration; destroys the lab. */
struct hub_config keeper_sweep(const char *path, struct lab *lab,
                               unsigned nodes, nanos span);
/* The journal of a star of `nodes` in a folder, with the hub's configuration:
 * policy mean, for so long. */
struct hub_config keeper_star(const char *path, unsigned nodes, nanos span);

#endif
