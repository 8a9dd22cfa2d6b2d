/* How long the hub lets one node hold the others up.
 *
 * A node holds up when a round waits for it, and for nobody else who is as far:
 * for its offer, beyond twice the time that its own k iterations take, once it
 * has its last result; for that, or for its chunks, beyond what others need for
 * theirs. That uses its patience up, second by second. Patience comes back at a
 * twentieth of the time, so that whatever a node does, and does not, the others
 * lose 5 % at most in the long run. Who has none left is not waited for
 * (waits.c) until all of it has come back and it has offered again; it is a
 * member all the while, its offers are taken, and what it delivers in time is
 * merged.
 *
 * Who is new, and has had no offer merged or left aside by the policy's choice
 * in a run that goes on, has none of its own: all newcomers share one patience,
 * from the first second that others wait, so that nobody gains time by other
 * names.
 * Whoever was in the tournament is not new.
 *
 * A slow link that brings something, but not enough in that time, is given
 * twice as much the next time: less often, but for long enough. */
#ifndef HUB_PATIENCE_H
#define HUB_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/time.h"

/* Seconds of patience, at first and at most. */
#define PATIENCE_FIRST 5.0
#define PATIENCE_MOST 60.0
#define PATIENCE_BACK 0.05 /* of the time */
/* An upload of which nothing comes for so long is cut whatever the others do;
 * so long for each that is under way, since they may share a link. */
#define STUCK (30 * SECOND)
/* What all wait for may take so much longer than others need for theirs. */
#define SLOWER 3.0
/* Between two offers a node may take so much of its own k iterations' time, and
 * of those of the others. */
#define OWN_TIMES 2.0
#define OTHERS_TIMES 10.0
/* Rounds in a row of which nothing came in time, before that is said. */
enum { BARREN_ROUNDS = 3 };

/* Zeroed at first: nothing is used up. */
struct patience {
    double used;   /* seconds */
    double more;   /* that there are beyond the first */
    bool spent;    /* all was used up: it is not waited for, */
    bool offers;   /* and has offered since */
    bool proved;   /* something of it was merged in this life of the hub, or was
                      not chosen; or it was in its tournament */
    double rate;   /* bytes per second of its last whole upload; 0: none yet */
    double upload; /* how many seconds that took */
    nanos began, ended; /* to be sent its last results; until it had them */
    double fetch;       /* how many seconds that took; 0: none yet */
};

/* What newcomers have used up together. */
struct newcomers {
    double used;   /* seconds */
    nanos counted; /* until then */
};

/* The payload that is on its way over the bulk connection. */
struct arrival {
    uint64_t bytes, whole; /* here; that it will be; 0: it takes no time */
    uint64_t counted;      /* what was here when that last was progress */
};

struct hub;
struct member;
struct round;
struct update;

double patience_seconds(nanos span);
/* Since then; never nothing, which stands for unknown. */
nanos patience_took(const struct hub *hub, nanos since);
/* Others have waited so long for the member, which does `what`; whether they do
 * not any more. */
bool patience_use(struct hub *hub, struct member *member, nanos span,
                  const char *what);
/* Whether it shares that of the newcomers. */
bool patience_is_shared(const struct hub *hub, const struct member *member);
/* So long has passed. */
void patience_return(struct hub *hub, struct member *member, nanos span);
/* It was not enough for what the member had begun: there is more next time. */
void patience_grow(struct patience *patience);

/* What the members that are here need, in order; of whom it is known. */
struct sorted_values {
    double *list; /* to be freed */
    unsigned count;
};

struct sorted_values values_of(const struct hub *hub,
                               double (*of)(const struct member *));
/* The lower median of the others, so that a few of many cannot set it: without
 * `own`, where that is in the list; that of a member just lost is not. 0:
 * nothing is known of others. */
double median_of_others(const struct sorted_values *values, double own);

/* waits.c */
/* So long has passed since the last time. */
void waits_tick(struct hub *hub, nanos span);
/* It has made an offer. */
void waits_offered(struct member *member);
/* It is sent something after it had all; it has all that it was sent. */
void waits_sent(struct hub *hub, struct member *member, bool all);
/* All that will come of an upload is here. */
void waits_delivered(struct hub *hub, const struct update *update);
/* A round that it was in is over. */
void waits_round_over(struct hub *hub, const struct update *update);
/* Others of the round are through: those that it does not wait for are cut. */
void waits_skip(struct hub *hub, const struct round *round);
/* The round is over, and has merged something or not. */
void waits_barren(struct hub *hub, const struct round *round, bool merged);
/* Seconds that all of the parameters, as they are, may take to a member, by
 * what others upload; infinite while that is not known. */
double waits_whole(const struct hub *hub, const struct member *member);
/* Iterations a second, the median of what it has said lately; 0: not known. */
double member_speed(const struct member *member);
/* The same of the live members that there is patience with, in
 * order; and pace_reference of them, which k is for, 0: not known. */
struct sorted_values speeds_of(const struct hub *hub);
double reference_speed(const struct hub *hub);
/* How long after an offer no node waits for its result yet: d iterations of the
 * quickest nodes (reference_speed), less an exchange of the slowest links
 * (values_high). Negative: not known. */
nanos waits_slack(const struct hub *hub);
/* Whether the round is open and waits for an offer of the member's. */
bool waits_for(const struct hub *hub, const struct round *round,
               const struct member *member);
/* Whether it was granted, and something of it is still to come. */
bool waits_uploads(const struct hub *hub, const struct update *one);

/* The run ends: last offers are waited for by its own bounds. */
void waits_end(struct hub *hub);
/* Whether uploads are under way, and not stuck. */
bool waits_bring(const struct hub *hub);
/* What was offered before the last call is waited for no more: others cannot
 * make their last offers while it is, and its node's holds it. Of gradients,
 * which have none, while it is stuck. Whether there was any. */
bool waits_free(struct hub *hub);

#endif
