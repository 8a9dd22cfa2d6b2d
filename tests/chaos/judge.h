/* The history checker: what must hold of all lives of a hub and its nodes, by
 * what they have recorded. A recording is written before its step is carried
 * out, so what somebody has seen of a process that was killed stands in it; the
 * last line of it may be cut off.
 *
 * N1 each chunk of an exchange gets one verdict, told by RESULT or VERDICT, or
 *    by the WELCOME that answers all that was offered before; what is open at
 *    last is of a node that was killed, or was offered just before: never eight
 *    exchanges behind one that is answered. A node is told what the hub has
 *    recorded as told.
 * N2 a chunk of an exchange of an incarnation is in one version of the centre,
 *    over all lives of the hub.
 * N3 (epoch, version) never goes back at a node, over all its lives.
 * N4 a hub goes on from a version no older than the newest saved one; with
 *    `recovery`, than the newest that a node kept which was there all along,
 *    unless a hub has gone on without that and merged something since.
 * N5 the hub's resident set stays below `memory`.
 * N6 once all is quiet, each node has an exchange merged within `live`.
 * N8 while a node runs, it trains: two counts of its iterations are never
 *    further apart than `pause`, time in which it was stopped aside.
 * And nobody ends of itself, but a hub that is started on a full disk; with
 * `serve`, a hub serves that long after its start. */
#ifndef TESTS_CHAOS_JUDGE_H
#define TESTS_CHAOS_JUDGE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/time.h"

struct judge_limits {
    bool recovery;
    double memory; /* bytes */
    nanos live, pause;
    nanos serve; /* 0: any */
};

void judge_limits_init(struct judge_limits *limits);
/* Judges the folder of a run; prints figures and violations. 0: none. */
int judge_folder(const char *folder, const struct judge_limits *limits,
                 FILE *out);

#endif
