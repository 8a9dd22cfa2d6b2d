/* The tasks that a node holds, from TASK to REPORT.
 *
 * One is in hand while the trainer works on another. A task that the trainer
 * has finished is reported as done when each chunk was merged in an exchange
 * offered after that, and all before it were merged as a whole: only then is
 * its progress in the centre. What was not merged stays with the node and is in
 * its next offer; of gradients it is lost, and so the task must be done again.
 *
 * What a session ends with is not lost: in the next one of the run the node
 * says what it has, before it asks for more. A hub that was killed may have
 * forgotten what was reported, too: so that is remembered, and said again as
 * far as the centre that the hub goes on from holds it. What that lacks is
 * given again (node/promise.h) and reported when that is merged. Where
 * parameters are replaced, all of it is forgotten, and what the trainer has is
 * given back when it is through with it. */
#ifndef NODE_TASKS_H
#define NODE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NODE_MAX_TASKS = 64,   /* held at once: finished ones wait for a merge */
    NODE_DONE_TASKS = 4096 /* remembered, the newest */
};

struct held_task {
    uint64_t id;
    bool finished;
    bool spoiled;   /* something that was its is lost */
    uint64_t after; /* exchanges behind this one hold all of it */
};

/* One that was reported as done. */
struct done_task {
    uint64_t id;
    uint64_t exchange; /* all of it is in the centre since that was merged; 0:
                          it is held again, and the place is empty */
};

struct node_tasks {
    bool wanted;  /* the trainer has room for one */
    bool asked;   /* the hub knows it */
    bool told;    /* the hub of this session knows what the node has */
    uint64_t run; /* of which they are */
    unsigned count;
    struct held_task list[NODE_MAX_TASKS];
    struct done_task *done; /* a ring of NODE_DONE_TASKS; NULL: none yet */
    uint64_t done_count;    /* ever put into it */
};

#endif
