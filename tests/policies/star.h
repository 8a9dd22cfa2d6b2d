/* A star of one parameter: what the hub does with a round, without a hub, so
 * that a policy can be held to its equations. */
#ifndef TESTS_POLICIES_STAR_H
#define TESTS_POLICIES_STAR_H

#include "policies/policy.h"

enum { STAR_MOST = 256 }; /* nodes of a star */

struct star {
    struct policy policy;
    unsigned live;
    float theta, slot[POLICY_SLOTS];
    uint64_t updates_before, round;
    double score, error;      /* of the centre */
    double sent;              /* what receivers get */
    double (*loss)(double x); /* on held-out data, or NULL */
};

/* Of the preset, which must exist. */
struct star star_of(const char *preset, unsigned live, double theta);
struct policy_context star_context(const struct star *star);
/* Candidates 0 .. count - 1 of equal samples with these scores, or with none
 * (NULL). */
void star_candidates(struct candidate *list, const double *score,
                     unsigned count);
/* Select, shares, reduce and merge of what the candidates offer. */
void star_round(struct star *star, const struct candidate *list,
                const double *offered, unsigned count);
/* The same with equal candidates. */
void star_equal(struct star *star, const double *offered, unsigned count);
/* What a node has that sent x and now gets the result. */
double star_receive(const struct star *star, double x);

#endif
