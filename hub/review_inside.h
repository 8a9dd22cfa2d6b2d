/* The inside of a review, for review.c (asking) and review_score.c (what the
 * answers come to). */
#ifndef HUB_REVIEW_INSIDE_H
#define HUB_REVIEW_INSIDE_H

#include "hub/state.h"

enum stage {
    STAGE_NONE, /* not asked */
    STAGE_OPEN, /* to be asked */
    STAGE_SENT, /* asked */
    STAGE_MADE, /* has answered */
    STAGE_VOID  /* will not answer */
};

struct opinion {
    enum stage stage;
    double loss, error;
};

/* What is evaluated: first the centre, then the contributions. */
struct subject {
    const struct contribution *contribution; /* NULL: the centre */
    uint32_t formed;                         /* chunks */
    struct opinion *by; /* of each place */
};

struct review {
    uint64_t number;           /* ordinal, of reviews */
    nanos began;
    int places;                /* of members, taken or not, when it began */
    int *circle;               /* these, in random order */
    struct opinion *opinions;  /* count * places */
    unsigned open;             /* opinions that are OPEN or SENT */
    unsigned forming;          /* jobs under way */
    bool centred;              /* there is a centre */
    unsigned count;            /* subjects */
    struct blob **chunks;      /* count * hub->chunks, float32, sealed */
    struct subject subject[];
};

#endif
