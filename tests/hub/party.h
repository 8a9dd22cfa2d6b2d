/* A party of fake nodes that judge each other at a hub without held-out data.
 * The centre is 1 and honest ones find 3 best: their loss at x is |x - 3|. */
#ifndef TESTS_HUB_PARTY_H
#define TESTS_HUB_PARTY_H

#include "tests/hub/hub_fixture.h"

enum { FAKE_NODES = 5 };

struct party {
    struct hub_fixture *f;
    struct fake_node node[FAKE_NODES];
    unsigned count;
};

double honest(double x);
/* Praises what is bad, and blames what is good. */
double byzantine(double x);
extern double (*const all_honest[FAKE_NODES])(double x);

/* At a hub of this policy; on this f, which is not open yet. */
struct party party_of(const char *policy, unsigned count);
struct party party_at(struct hub_fixture *f, unsigned count);
/* All offer and deliver: node i what is in shift[i]. */
void all_give(struct party *party, uint64_t exchange, const double *shift);
/* Time passes, and all say PING. */
void all_live(struct party *party, nanos span);
/* All evaluate until nothing is left to do; loss[i]: how node i does, or
 * NULL. */
void all_evaluate(struct party *party, double (*const *loss)(double x));
/* What the node was sent last for evaluation, NULL: nothing. */
const struct hand_sent *shown(const struct party *party, unsigned i);
unsigned shown_count(const struct party *party, unsigned i);
/* Guest i says REVIEWED. */
void say_reviewed(struct party *party, unsigned i, uint64_t review, bool made,
                  double loss);
/* On exchange 1 of node i. */
enum verdict verdict_on(const struct party *party, unsigned i);

#endif
