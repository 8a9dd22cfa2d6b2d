/* Short words for what the members of an elastic circle do in tests. */
#ifndef TESTS_COLLECTIVES_ELASTIC_H
#define TESTS_COLLECTIVES_ELASTIC_H

#include "tests/collectives/circle.h"

/* The answer to the member's last request. */
const struct msg_told *elastic_told(const struct circle *circle,
                                    unsigned place);
/* `count` members that have started, and that have built their group. */
struct circle *elastic_started(unsigned count, bool active);
struct circle *elastic_built(unsigned count, bool active);
/* The member averages vectors of its place plus one; all do, and settle. */
void elastic_average(struct circle *circle, unsigned place);
void elastic_average_all(struct circle *circle);
/* All that live were told this. */
void elastic_check_all(const struct circle *circle, enum ending outcome);
/* INITIALIZED or SKIP. */
bool elastic_asks(struct circle *circle, unsigned place, enum ask ask);

#endif
