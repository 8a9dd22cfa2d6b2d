/* A node in a fixture that is given tasks. */
#ifndef TESTS_NODE_TASKER_H
#define TESTS_NODE_TASKER_H

#include "tests/node/node_fixture.h"

/* A member whose trainer works on task 5 and wants another one. */
struct node_fixture *tasker_new(void);

/* Its trainer wants a task; has finished one, or given it up. */
void tasker_wants(struct node_fixture *f);
void tasker_finishes(struct node_fixture *f, uint64_t task, bool done);
void tasker_is_given(struct node_fixture *f, uint64_t task);
/* It comes back after a break; the hub has merged its exchanges up to `merged`.
 */
void tasker_comes_back(struct node_fixture *f, uint64_t run, uint64_t life,
                       uint64_t merged);

/* What it has reported: how often, and the last one. */
unsigned tasker_reports(const struct node_fixture *f);
const struct msg_report *tasker_report(const struct node_fixture *f);

#endif
