/* How long contributions usually are.
 *
 * Where fewer than three come together nothing can be compared, so rules that
 * clip measure them by what has been merged lately: the median over nodes, each
 * of which has one vote, the median of its last few. A clipped contribution
 * counts as what was left of it, so that a liar among two cannot raise the
 * measure at once, and one among more cannot raise it at all. Fragments of a
 * model differ: each has its own. */
#ifndef HUB_LENGTHS_H
#define HUB_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>

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
/* As a line of what is saved: of each slot, as bits. */
size_t lengths_print(const struct hub *hub, char *text, size_t size);
/* Of the run's former life: one more vote, so that the first who comes is
 * measured. False: the line makes no sense. */
bool lengths_read(struct hub *hub, const char *text);

#endif
