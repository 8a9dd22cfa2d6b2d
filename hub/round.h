/* Which offers go together, and which of them count: the gate closes a round
 * (rounds.c), the policy chooses (choice.c). The tournament (tournament.c) is
 * rounds of a policy of its own. */
#ifndef HUB_ROUND_H
#define HUB_ROUND_H

#include "core/fragment.h"
#include "hub/norm_history.h"
#include "hub/patience.h"
#include "policies/claims.h"
#include "policies/policy.h"

struct hub;
struct member;

enum { HALVING_ROUNDS = 3 /* of a tournament */ };
/* A count of samples that nobody reaches: it stays there. */
#define MOST_SAMPLES ((uint64_t)1 << 60)

/* A chunk of a round. */
struct round_chunk {
    unsigned awaited; /* updates that may still deliver it, since the round has
                         been settled */
    bool done;
    struct round *next; /* the next one that may merge this chunk */
};

enum round_state {
    ROUND_OPEN,
    ROUND_CLOSED,  /* its list is complete */
    ROUND_JUDGING, /* a STAGED rule is at work */
    ROUND_SETTLED  /* what is merged is known: chunks may merge, and know who is
                      awaited */
};

struct round {
    uint64_t number;             /* ordinal of this hub's life */
    const struct policy *policy; /* when it closed */
    struct update **list;
    unsigned count, room;
    unsigned offers; /* of live nodes */
    unsigned lasts;  /* of nodes that leave with them */
    nanos opened;
    struct fragment part; /* of the model that it merges */
    enum round_state state;
    bool last;       /* the run was ending when it closed */
    bool takes_all;  /* nobody is chosen */
    bool gives;      /* it is known who gets whose */
    bool empty;      /* nothing is merged */
    bool discarded;  /* its run is given up: nothing may be */
    bool told;       /* somebody was, what will be merged of it */
    unsigned *order; /* the policy's, places in list; NULL: not closed */
    unsigned choices, next_choice, wanted;
    uint32_t merged;       /* chunks that are done */
    unsigned live;         /* nodes, when it closed, */
    double usual_norm;     /* and length of what had been merged lately, */
    struct claims claims;  /* and what they claimed */
    struct review *review; /* by other nodes, under way; or NULL */
    struct round_chunk *chunks;
    struct round *next, *previous, *next_over; /* over: its chunks are done */
};

struct rounds {
    struct round *first, *last; /* under way, oldest first */
    struct round *open; /* the first that is not closed: none before it is */
    struct round *over; /* all chunks are done: to be finished, in order */
    uint64_t opened, done,
        here;           /* ever; over, of the run, and since this start */
    uint64_t samples;   /* of all offers of the run of which some was merged */
    unsigned undecided; /* are closed, but not settled */
    unsigned merging;   /* have chunks that are done */
    unsigned barren;    /* in a row, of which nothing came in time */
    struct newcomers newcomers;
    uint64_t steps; /* of all nodes together, since the last one's close */
    unsigned halving_round; /* of the tournament, from 0 */
    struct policy tournament_policy, final_policy;
    uint64_t preempted; /* nodes, so far */
    uint64_t last_review, last_asked;
    bool too_few, unreviewed;         /* in the last one */
    bool slow_reviews;                /* told */
    double former_norms[NORM_SERIES]; /* usual, in a former life; or 0 */
};

/* rounds.c */
/* Takes an update out of its round, which is open; without any the round
 * is none. */
void round_let_go(struct hub *hub, struct update *update);
/* Without its updates. */
void round_destroy(struct hub *hub, struct round **round);
/* Fills, closes and chooses: of the settle pass. */
void rounds_settle(struct hub *hub);
/* Completes the rounds whose chunks are all done. */
void rounds_finish(struct hub *hub);
/* When the gate wants to be asked again, `latest` at the latest. */
nanos gate_deadline(const struct hub *hub, nanos latest);

/* choice.c */
/* Whether each offer is granted at once. */
bool choice_grants_all(const struct hub *hub);
/* The round has closed: asks for the data that the policy wants. */
void choice_make(struct hub *hub, struct round *round);
/* Goes on when data have come or will not come any more. */
void choice_advance(struct hub *hub, struct round *round);

/* tournament.c */
void tournament_open(struct hub *hub);
/* A round of it is closing: by which policy. */
void tournament_choose(struct hub *hub, const struct round *round);
/* The place of the one with the lowest loss of those that a rule has let pass,
 * or only of those that others have tested; -1: there is none. */
int round_best(const struct round *round, bool tested);
/* How many of its offers are to be tested, now that some have been: another
 * one where the best of them belies what its node has claimed. Of those that
 * were, the best is to be merged: its place, or -1 where there is no choice. */
unsigned tournament_wants(const struct hub *hub, const struct round *round);
int tournament_best(const struct hub *hub, const struct round *round);
/* It is over: is there a winner? */
void tournament_decide(struct hub *hub, const struct round *round);

/* preempt.c */
void preempt_round(struct hub *hub, const struct round *round);

#endif
