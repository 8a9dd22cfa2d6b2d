/* Who has which rank: a pure function of the list of members.
 *
 * Ranks go by seniority: who has been a member since an earlier epoch comes
 * first, so that rank 0, the master, whose parameters are broadcast, is never
 * one that has just come (ElasticDL's rendezvous). Members of one epoch, such
 * as all that founded the group, are in the order of their 128-bit ids, so
 * that ranks do not depend on who was quicker to start. */
#ifndef COLLECTIVES_ROSTER_H
#define COLLECTIVES_ROSTER_H

#include <stdint.h>

struct entrant {
    uint64_t since;     /* the epoch in which it became a member */
    uint64_t high, low; /* its id */
};

/* The rank of the member with this id among `count` in any order; `count`
 * when it is not one of them. Ids are unique. */
unsigned roster_rank(const struct entrant *list, unsigned count, uint64_t high,
                     uint64_t low);

#endif
