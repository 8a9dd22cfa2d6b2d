/* The tasks that a node holds, from TASK to REPORT.
 *
 * One is in hand while the trainer works on another. A task that the trainer
 * has finished is reported as done when an exchange offered after that, and
 * all before it, have been merged as a whole: only then is its progress in the
 * centre. What was not merged stays with the node and is in its next offer; of
 * gradients it is lost, and so the task must be done again. A session that
 * ends takes all tasks with it: the hub gives them to others. */
#ifndef NODE_TASKS_H
#define NODE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

enum { NODE_MAX_TASKS = 64 }; /* held at once: finished ones wait for a merge */

struct held_task {
    uint64_t id;
    bool finished;
    bool spoiled;   /* a gradient that was its is lost */
    uint64_t after; /* all of it is offered once one behind this one is */
};

struct node_tasks {
    bool wanted; /* the trainer has room for one */
    bool asked;  /* the hub knows it */
    unsigned count;
    struct held_task list[NODE_MAX_TASKS];
};

#endif
