/* The scores and norms that nodes report, compared where nobody tests them.
 *
 * No rule can tell a claim from a real gain as long as it is near to what
 * others claim; one that is far from all of them is nothing to build a run on
 * before somebody has tested it. With s' the best score but one, and m the
 * median,
 *
 *     a boast    s_i < s' - 0.8 |s'|, or parameters longer than 4 times the
 *                median of all, of three or more
 *     belied     its score, tested by others, is above m + 0.8 |m|
 *
 * so that a loss is a boast where it is less than a fifth of all others. Nodes
 * that lie together are believed. */
#ifndef POLICIES_CLAIMS_H
#define POLICIES_CLAIMS_H

#include "policies/policy.h"

struct claims {
    double lowest, highest; /* scores between them are near the others' */
    double longest;         /* parameters up to there are */
};

/* Of an untested list; a number that is not known bounds nothing. */
struct claims claims_of(const struct candidate *list, unsigned count);
/* `whole`: it offers parameters, not a change of them. */
bool claims_boast(const struct claims *claims, const struct candidate *one,
                  bool whole);
bool claims_belied(const struct claims *claims, double tested);

#endif
