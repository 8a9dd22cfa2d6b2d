/* The hub's work on payloads. */
#ifndef HUB_WORK_H
#define HUB_WORK_H

#include "policies/policy.h"
#include "seam/machine.h"

/* What a merge needs to know, in a job's context. */
struct merge_plan {
    const struct merge_rule *rule;
    struct outer outer;
    double sign; /* +1: displacements, -1: gradients */
};

/* Input 0 must have the checksum in tag[2] (MALFORMED), fit `elements` of its
 * codec (MALFORMED) and be finite (CONFIG). */
extern const struct work work_check;
/* in[0] = theta, in[1] = velocity or empty, in[2..] = contributions with
 * their shares, number[0] = what their sum is divided by; context = struct
 * merge_plan. out[0] = the new theta, sealed; out[1] = the new velocity. */
extern const struct work work_merge;
/* Stands for scoring where the hub cannot score: the score is what the nodes
 * said, and is in number[1] already. */
extern const struct work work_hint;

#endif
