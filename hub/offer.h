/* One exchange of a node: its chunks, its credit, its outcome. */
#ifndef HUB_OFFER_H
#define HUB_OFFER_H

#include "codec/msg.h"
#include "core/bitset.h"
#include "core/fragment.h"
#include "core/words.h"
#include "hub/handler.h"
#include "hub/hub.h"
#include "policies/copies.h"
#include "policies/policy.h"

struct member;

enum {
    MAX_OFFERS = 64,                /* of one node that wait for a round */
    MAX_REMEMBERED = 2 * MAX_OFFERS /* of one node, for when it is back */
};

enum chunk_state {
    CHUNK_EXPECTED,  /* not here yet */
    CHUNK_CHECKING,  /* here, being checked */
    CHUNK_DELIVERED, /* good, waits for its merge */
    CHUNK_CLOSED     /* has its verdict */
};

struct update_chunk {
    enum chunk_state state;
    enum verdict verdict;
    enum codec_id codec;
    struct blob *payload;
    uint64_t bytes; /* of the payload, once it came */
};

/* The credit of an upload. */
struct upload_credit {
    bool all_at_once; /* all of it is asked for at once */
    bool prompt;      /* what has come is done with, merged or not */
    uint32_t left;    /* chunks that have not come */
    uint32_t came;    /* chunks that have */
    int64_t bytes;    /* of those */
    int64_t given;    /* bytes of credit, ever; less than came: some is owed */
    int64_t done;     /* bytes that the hub is done with */
    nanos since;      /* when it last was given some after having none */
};

/* An offer, from its arrival to its last verdict. */
struct update {
    int member;
    uint64_t incarnation, connection; /* whose; connection = session */
    struct msg_offer offer;
    struct candidate candidate; /* the same for the policy, at the close */
    struct fragment part;       /* its chunks; the others are closed */
    uint32_t foreign;           /* how many others */
    bool passed_over; /* its node gets a newer result, or wants none any more */
    bool granted, uploads; /* and counts for the budget */
    struct upload_credit credit;
    bool merges;  /* it is to be merged, once it is here */
    bool donates; /* others get it as it is */
    bool judged;  /* by a STAGED rule */
    bool refused; /* by it, or it never came */
    int donor;    /* place in the round of whose it gets, or RECEIVE_... */
    uint32_t delivered, merged, answered; /* chunks; results sent */
    uint32_t reach;                       /* above all chunks that have come */
    uint32_t whole;                       /* below it none has been left out */
    struct round *round;   /* that it is in, until that is over */
    struct update *next;   /* of its member, in rounds */
    uint64_t ordinal;      /* of its node's offers that were taken */
    uint64_t steps;        /* iterations that its samples took */
    double squares;        /* of what has been delivered */
    struct sketch *sketch; /* the same; NULL: it is not compared */
    nanos arrived;         /* when it was offered */
    nanos began, progress; /* when it was granted; when the last chunk came */
    nanos behind;          /* for how long the others have been ahead of it */
    struct update_chunk *chunks; /* NULL: all of them are as `all` */
    enum verdict all;
};

struct offers {
    struct bitset waiting; /* places of members: have some that wait */
    uint64_t offered, verdicts[VERDICT_COUNT]; /* chunks */
    struct hub_durations durations;            /* of those that are over */
};

/* offers.c */
/* If it still waits for a round it is none any more, and the verdict says so:
 * the node's next one, which holds the same, need not wait behind it. */
bool offers_withdraw(struct hub *hub, struct member *member, uint64_t exchange,
                     enum verdict verdict);
/* So with all of the member's that are in no round that has closed, but for its
 * last one: that holds what they did. */
void offers_return(struct hub *hub, struct member *member);
void offers_withdraw_all(struct hub *hub, struct member *member,
                         enum verdict verdict);
handler hub_on_offer;

/* update.c */
/* Nothing that is under way is merged. */
void rounds_discard(struct hub *hub);
/* Closes what the member has not delivered; `gone`: also the offers that wait,
 * and what is being checked. */
void offers_forget(struct hub *hub, struct member *member, enum verdict verdict,
                   bool gone);
/* Tells a node that is back what became of what it sent before. */
void rounds_recall(struct hub *hub, struct member *member);
/* Whether its samples are to be counted: fragments of one iteration stand for
 * the same. *last: iteration of the one before. */
bool update_counts(const struct msg_offer *offer, uint64_t *last);
/* Asks for its data, once. */
void update_grant(struct hub *hub, struct update *update);
/* It is in a round now, and each of its chunks has a life of its own. */
void update_spread(struct hub *hub, struct update *update);
/* The verdict of all its chunks, as long as it waits for a round. */
void update_decline(struct hub *hub, struct update *update,
                    enum verdict verdict);
/* What a chunk was given. */
enum verdict update_fate(const struct update *update, uint32_t chunk);
/* Gives a chunk its verdict. */
void update_close(struct hub *hub, struct update *update, uint32_t chunk,
                  enum verdict verdict);
/* Closes the chunks that are not delivered; `gone`: nor checked. */
void update_cut(struct hub *hub, struct update *update, enum verdict verdict,
                bool gone);
/* Closes all that is not merged yet, whatever has come of it. */
void update_end(struct hub *hub, struct update *update, enum verdict verdict);
/* Of a chunk that is closed, or is about to be: what is delivered is as good
 * as merged, if it is to be merged. */
enum verdict update_verdict(const struct update *update, uint32_t chunk);
/* Says all its verdicts to the member, run by run. */
void verdicts_tell(struct hub *hub, struct member *member,
                   const struct update *update);
/* All is judged: keeps what a node that is away must be told when it is back,
 * and frees the rest. */
void update_retire(struct hub *hub, struct update *update);
void update_destroy(struct hub *hub, struct update **update);
/* Where one is remembered that was not merged as a whole; what was there is
 * gone. */
struct update **update_place(struct hub *hub, struct member *member,
                             uint64_t exchange);
/* Forgets the oldest of those that were merged in part, if their lines, 32
 * bytes and a letter for each chunk, would take more. */
void updates_shorten(struct hub *hub, struct member *member, size_t bytes);
/* Nobody is told any more what became of the member's former exchanges. */
void updates_forget(struct hub *hub, struct member *member);
/* Of a round under way and of the member's session; or NULL. */
struct update *update_find(struct hub *hub, int member, uint64_t exchange);
/* The member has one in this round. */
bool round_has(const struct round *round, const struct member *member);

/* The round is settled: its chunks may merge once nobody delivers them. */
void round_gather(struct hub *hub, struct round *round);
/* The chunk of an update has come, or will not come any more. */
void chunk_here(struct hub *hub, struct update *update, uint32_t chunk);
/* The oldest round that may merge the chunk, and has not been told so before;
 * NULL: none. */
struct round *chunk_next(struct hub *hub, uint32_t chunk);
/* The chunk of the round is done. */
void chunk_done(struct hub *hub, struct round *round, uint32_t chunk);

/* gather.c */
handler hub_on_chunk;
/* Some of its chunks do not come: they are merged without it. */
handler hub_on_close;

#endif
