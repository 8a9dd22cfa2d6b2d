/* Nodes that send bad numbers again and again take no part for a while.
 *
 * A bad number is one that no network makes of a good one: a value that is not
 * finite, more energy than was announced, a payload that does not fit its codec
 * though its checksum does. Whose exchanges held some 3 times within 16 is in
 * quarantine: its next 16 exchanges are turned down, and rounds do not wait for
 * it. If it goes on the next term is twice as long, 256 exchanges at most; 256
 * good ones make it the first again. It belongs to the identity: neither a new
 * process nor a new hub ends it, since it is saved with the centre. Two
 * processes under one identity that replace each other more than 3 times a
 * minute are in quarantine both.
 *
 * A chunk whose checksum does not hold is the network's fault at first: it
 * stays with the node, whose next exchange holds it. After the third in a row
 * the connection is not worth having. */
#ifndef HUB_QUARANTINE_H
#define HUB_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"

enum {
    BAD_MOST = 3,    /* exchanges with bad numbers, of */
    BAD_SPAN = 16,   /* so many in a row */
    TERM_FIRST = 16, /* exchanges that are turned down */
    TERM_MOST = 256,
    DAMAGED_MOST = 3, /* chunks in a row */
    FLAPS_MOST = 3    /* replacements a minute */
};

struct hub;
struct member;
struct update;

/* How a node has behaved, whatever process it was. */
struct conduct {
    uint64_t offers;        /* that were taken */
    uint64_t bad[BAD_MOST]; /* which of these held bad numbers, the newest
                               first; 0: none */
    uint64_t left;          /* offers that are to be turned down still */
    uint64_t term;          /* of the last quarantine; 0: there was none */
    uint64_t freed;         /* `offers` when it ended */
    unsigned damaged;       /* chunks in a row */
    unsigned flaps;         /* replacements, of which the last ones were */
    nanos flapped[FLAPS_MOST];
    bool tells;  /* it has told a score, */
    double told; /* the last one */
};

/* An offer is here, the first that says so: one less to be turned down. */
void quarantine_serve(struct hub *hub, struct member *member);
/* A chunk of it held bad numbers. */
void quarantine_bad(struct hub *hub, struct update *update);
/* A chunk came damaged, or whole. The third damaged one in a row cuts the
 * member. */
void quarantine_damaged(struct hub *hub, struct member *member, bool damaged);
/* What a former hub knows of it: the quarantine's term, what is left of it, and
 * the exchanges that were taken since it ended. */
void quarantine_resume(struct hub *hub, struct member *member, uint64_t left,
                       uint64_t term, uint64_t since);
/* Exchanges that were taken since the last quarantine ended. */
uint64_t quarantine_since(const struct member *member);
/* Another process of its name has taken its place. */
void quarantine_flap(struct hub *hub, struct member *member);

#endif
