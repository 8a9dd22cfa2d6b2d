/* Two nodes at a hub, of whom the first keeps offering and the second is what
 * a test makes of it. */
#ifndef TESTS_HUB_PAIR_H
#define TESTS_HUB_PAIR_H

#include "tests/hub/hub_fixture.h"

struct pair {
    struct hub_fixture *f;
    struct fake_node a, b;
    uint64_t next; /* exchange of a */
};

/* At this f, which is not open yet, with ten iterations an exchange. */
struct pair pair_of(struct hub_fixture *f);
void pair_pings(struct hub_fixture *f, struct fake_node *node, double rate);
/* So long passes, while both train ten iterations a second, or `b` so many. */
void pair_live(struct pair *pair, nanos span, double rate);
/* a gives what it has, and takes the result at once. */
void pair_gives(struct pair *pair);
uint64_t pair_rounds(struct pair *pair);
/* The node that the hub says it does not wait for, or NULL. */
const char *pair_held_up(struct pair *pair);

#endif
