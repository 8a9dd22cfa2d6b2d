/* k and d as the run needs them: measured here, chosen by policies/tempo.h.
 *
 * Of each exchange the hub sees for how long a member had credit for uploads
 * and used it, and for how long it was sent results; nodes tell how many
 * iterations results have taken and what they have cost (PING). The first
 * choice is made after some rounds; later ones once a minute at most.
 */
#ifndef HUB_ADAPT_H
#define HUB_ADAPT_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/msg.h"
#include "core/time.h"

struct hub;
struct member;

struct adapt {
    uint64_t every, delay; /* in force: k and d */
    uint64_t longest;      /* k that has been in force */
    bool chosen;           /* not for the first time any more */
    nanos changed;         /* when that was */
    nanos began;           /* to look; and since then: */
    unsigned skipped;      /* rounds that do not count, */
    unsigned rounds;       /* that do */
    uint64_t samples;      /* of what results took (hub/traffic.h) */
};

void adapt_init(struct hub *hub);
/* A PING has come, and is not the member's newest yet. */
void adapt_heard(struct hub *hub, struct member *member,
                 const struct msg_ping *ping);
/* A round is over. */
void adapt_round(struct hub *hub);
/* Chooses, if it is time to. */
void adapt_tick(struct hub *hub);

#endif
