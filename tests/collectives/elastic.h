/* Test fixture: an elastic virtual group, and what its members often do. */
#ifndef TESTS_COLLECTIVES_ELASTIC_H
#define TESTS_COLLECTIVES_ELASTIC_H

#include "tests/collectives/virtual_group.h"

/* `count` members that have started, and that have built their group. */
struct virtual_group *elastic_started(unsigned count, bool active);
struct virtual_group *elastic_built(unsigned count, bool active);
/* The member averages vectors of its place plus one; all do, and settle. */
void elastic_average(struct virtual_group *group, unsigned place);
void elastic_average_all(struct virtual_group *group);
/* All that live were told this. */
void elastic_check_all(const struct virtual_group *group, enum ending outcome);
/* INITIALIZED or SKIP. */
bool elastic_asks(struct virtual_group *group, unsigned place, enum ask ask);

#endif
