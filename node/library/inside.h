/* A link's inside: what the training thread and the network's thread share.
 *
 * The training thread owns the tensors and trains by node/training.h; the
 * network's thread owns the machine and drops its messages here. Neither waits
 * for the other longer than it takes to apply a result or to copy the tensors.
 */
#ifndef NODE_LIBRARY_INSIDE_H
#define NODE_LIBRARY_INSIDE_H

#include <starswitch.h>

#include "core/schema.h"
#include "node/library/shell.h"
#include "node/library/sized.h"
#include "node/node.h"
#include "node/training.h"
#include "record/record.h"

/* The run's centre as this node knows it: references to chunks. */
struct centre {
    uint64_t number;       /* of struct node_chunk */
    uint32_t chunks, here; /* those that are not NULL */
    struct centre_chunk {
        struct blob *values; /* float32 */
        uint64_t version;
    } * chunk;
};

struct star_link {
    struct shell shell;
    struct star_options options;
    struct schema *schema;
    size_t count;
    struct span *values, *gradients; /* count each, or gradients NULL */
    struct node *node;
    struct record *record; /* or NULL; the network's thread writes it */

    /* Behind shell.lock. */
    struct training training;
    struct msg_local_bye ended; /* text empty: not ended */
    bool stopping;              /* the hub asks for the last offer */
    bool over;                  /* nothing more will come */
    bool lost;                  /* the last offer is in no centre */
    struct net_trouble trouble; /* what keeps the link from its hub */
    struct star_task task;      /* in hand; parts 0: none */
    bool task_wanted;           /* the machine knows that the hand is empty */
    uint64_t given[STAR_TASKS_MAX]; /* what the program trains on: ids */
    unsigned given_count;
    uint64_t examined;       /* number of what is to be evaluated */
    struct blob *to_examine; /* NULL: nothing */
    struct centre centre;

    /* Only the training thread's. */
    bool starving;           /* memory was missing at the last step */
    bool idled;              /* the last call was star_idle */
    uint64_t left_out;       /* offers, when it was told last */
    nanos inside, examining; /* time spent in star_step, and evaluating */

    _Atomic uint64_t bytes_up, bytes_down; /* the network's thread counts */
    _Atomic uint64_t samples, version, members; /* of the run, as last told */
    _Atomic bool gives;  /* what is offered is on its way to the hub, */
    _Atomic nanos taken; /* which last said something of it then */
};

/* step.c */
/* No hub has it any more, and the program goes on. With the lock held. */
void link_alone(struct star_link *link);
struct training_owner link_owner(struct star_link *link);
/* With the lock held: blocks until something comes, or for a moment; false: it
 * is `until`. */
bool link_wait_a_moment(struct star_link *link, nanos until);
/* Whether the program is to wait no longer. */
bool link_is_hurried(const struct star_link *link);

/* star_offer, from these values. */
enum star_status link_give(struct star_link *link, uint64_t iteration,
                           const struct span *values);

/* tensors.c */
/* Schema and spans of the tensors. USAGE: they cannot be right. */
enum status link_describe(struct star_link *link,
                          const struct star_tensor *tensors,
                          struct why *why) MUST_CHECK;

/* record.c */
/* Begins the recording, if one is wanted. IO. */
enum status link_record(struct star_link *link, struct why *why) MUST_CHECK;
/* Adds a step to it, and counts what travels; on the network's thread. */
void link_watch(void *self, const struct event *event,
                const struct effects *effects);

/* tasks.c */
/* A task has come, for the hand; on the network's thread, under the lock. */
void link_assign_task(struct star_link *link,
                      const struct msg_local_task *assign);

/* centre.c */
/* The machine may have been sent some of it; on the network's thread. */
void link_note_centre(struct star_link *link);
void link_free_centre(struct star_link *link);

/* review.c */
/* Parameters have come to be evaluated; on the network's thread, under the
 * lock. */
void link_start_review(struct star_link *link, uint64_t number,
                       struct blob *values);
/* Evaluates them, if there are any, without the lock: what it guards may be
 * other then; returns whether. On the training thread. */
bool link_review(struct star_link *link);

#endif
