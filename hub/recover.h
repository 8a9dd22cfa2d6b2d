/* What is left of a hub that dies: the centre as its nodes keep it.
 *
 * Keeping (keeping.c). When a version of the centre is complete, a manifest of
 * it goes to the nodes (codec/manifest.h). Who was sent all chunks of that
 * version keeps them and the manifest. Only where results are the centre: else
 * nobody is sent all of it.
 *
 * Recovering (recover.c, recover_hello.c). A hub that starts
 * again does not begin before nodes have had time to come back and to say what
 * they keep. Who has a newer version than the disk is asked for it; what it
 * gives is checked against the manifest, and that against the hub's key. The
 * hub's life is a later one than all it hears of (lives.c).
 *
 * Stepping down (superseded.c). A node that knows a later life of the run than
 * this hub's is asked for the manifest of what it keeps. If that is of a later
 * life, too, another hub has taken over. Rounds go on until then. Who cannot
 * prove it is sent on, and gives that life up where it finds no hub of it. */
#ifndef HUB_RECOVER_H
#define HUB_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/manifest.h"
#include "codec/payload.h"
#include "core/blob.h"
#include "core/time.h"

enum { KEEPERS = 64 }; /* that are told of one version */

struct keeping {
    bool busy;      /* a manifest is being made */
    bool wanted;    /* behind the fence of snapshots */
    bool too_large; /* and it was said */
    bool first;     /* nothing is kept yet: rounds wait until it is made */
    bool made;      /* one at least: */
    uint64_t version; /* of which version, */
    nanos at;         /* and when */
    uint64_t bytes;   /* of the last one */
    nanos since, spent; /* when it was wanted; how long that took */
    int turn;           /* who is told first the next time */
    unsigned count;
    struct keeper {
        int place;
        uint64_t session, merged;
    } list[KEEPERS]; /* whom the one being made is for */
};

/* What a member was sent to keep, beside down_bytes, and when last. */
struct told {
    uint64_t bytes;
    nanos at;
};

/* Of a member that says that another hub has taken the run over. */
struct doubt {
    bool asked, answered; /* for its proof */
    bool unattached;      /* not asked until it has a bulk connection */
    nanos since;          /* it was, or came */
};

struct recovery {
    bool resumed;   /* the hub has a centre from its disk */
    uint64_t run;   /* of its disk, or of the node that gives */
    uint64_t epoch; /* of the centre that it goes on from; 0: of none */
    uint64_t version; /* and that one's */
    uint64_t life;  /* that the hub began in */
    uint64_t told;  /* 1 + that in which nodes were told what it has of theirs;
                       0: they were not */
    nanos until;    /* nodes have time to come back */
    nanos progress; /* of who gives: when something last came */
    unsigned searches; /* that have begun because of who came late */
    struct blob *manifest; /* what it gave first, or NULL */
    struct blob *state;    /* in that, once it is known to be the hub's own */
};

struct hub;
struct member;

/* Whether what a node of this run keeps may be of use while it recovers. */
bool recover_looks_for(const struct hub *hub, uint64_t run);
/* Whether a version that was told of in that life is newer than what the hub
 * has from its disk or a node. */
bool recover_outdoes(const struct hub *hub, uint64_t run, uint64_t life,
                     uint64_t version);
/* It was silent: it has as long to attach as one that has just come. */
void recover_heard(struct hub *hub, struct member *member);

#endif
