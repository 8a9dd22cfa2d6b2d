/* For how long each member's links are busy with exchanges, for hub/adapt.h:
 * while it has credit for uploads, and while it is sent results. */
#ifndef HUB_TRAFFIC_H
#define HUB_TRAFFIC_H

#include <stdint.h>

#include "core/time.h"

struct hub;
struct member;
struct update;

enum { TRAFFIC_TOOK = 32 };

/* Of a member, since the hub has begun to look. */
struct traffic {
    nanos up, down;            /* its links were busy */
    nanos counted;             /* until then, with uploads */
    uint64_t up_bytes;         /* credit of the uploads that are over, */
    uint64_t uploads;          /* and how many */
    uint64_t down_before;      /* bytes that it had been sent when that began */
    uint64_t results;          /* that have come to it */
    double exchanging;         /* seconds of its trainer */
    unsigned samples;          /* of the iterations that its results took, */
    double took[TRAFFIC_TOOK]; /* the newest ones */
};

/* Of the last exchanges of a member, 16 to 32 of them, or fewer at first. */
struct busy {
    nanos up, down;                 /* its links were busy with them, */
    uint64_t up_bytes, down_bytes;  /* and carried this */
    nanos counted_up, counted_down; /* until then */
    uint64_t down_before; /* bytes that it had been sent when the last began */
    unsigned exchanges;
};

/* Seconds that an exchange keeps the member's link busy, up or down, whichever
 * is longer; NaN: it is not known yet. */
double traffic_busy(const struct member *member);

/* Bytes per second that its links carried while they were busy; NaN: it is not
 * known yet. */
double traffic_up(const struct member *member);
double traffic_down(const struct member *member);

/* The member has had credit since then, and has used all of it. */
void traffic_sent(const struct hub *hub, struct member *member, nanos since);
/* All that will come of an upload is here. */
void traffic_uploaded(struct hub *hub, const struct update *one);
/* It begins to be sent results. */
void traffic_sending(struct member *member);
/* It has been sent results since then, and has them all. */
void traffic_fetched(const struct hub *hub, struct member *member, nanos since);
/* What is on its way counts as far as it has come: the look ends here. */
void traffic_count(const struct hub *hub, struct member *member);

#endif
