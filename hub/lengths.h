/* How long updates usually are.
 *
 * Where fewer than three come together nothing can be compared, so rules that
 * clip measure them by what has been merged lately: the median over nodes, each
 * of which has one vote, the median of its last few. A clipped update
 * counts as what was left of it, so that a liar among two cannot raise the
 * measure at once, and one among more cannot raise it at all. Fragments of a
 * model differ: each has its own. */
#ifndef HUB_LENGTHS_H
#define HUB_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

enum { LENGTHS_KEPT = 8, LENGTHS_SLOTS = 65 /* the whole, 64 fragments */ };

struct hub;
struct member;
struct round;

/* Of one node, of one fragment. */
struct lengths {
    double recent[LENGTHS_KEPT];
    unsigned count; /* that there were, ever */
    double usual;   /* their median; 0: there are none */
};

/* 0: not known. */
double lengths_usual(const struct hub *hub, const struct round *round);
/* The round is over. */
void lengths_learn(struct hub *hub, const struct round *round);
void lengths_forget(struct member *member);
/* 0: there are none; slot 0 is of the whole model, slot 1 + i of fragment i. */
double lengths_in(const struct hub *hub, uint32_t slot);

#endif
