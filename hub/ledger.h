/* The ledger of tasks: which part of the training data is whose turn.
 *
 * An epoch is the whole training set cut into equal parts; a task is one part
 * in one epoch. It is *todo*, then *doing* at a node, then *done*; from doing
 * it falls back to todo when the node fails, is lost or takes too long. When
 * every task is done, each of them exactly once, the next epoch begins. The
 * order is shuffled anew in each epoch, by the seed and by nothing else.
 * A hub that was killed knows of its tasks what was saved. Nodes tell it the
 * rest: they *claim* what they have had of it, also of epochs that it has not
 * come to again.
 * Source: the task queue of ElasticDL's master (docs/designs/overall_design).
 *
 * Pure bookkeeping: it knows no messages, and time is an argument. Nodes are
 * numbers that the caller gives, below HUB_MAX_NODES. */
#ifndef HUB_LEDGER_H
#define HUB_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

enum {
    LEDGER_MAX_TASKS = 4096,                  /* parts of an epoch */
    LEDGER_MAX_HELD = 64,                     /* tasks in doing of one node */
    LEDGER_MAX_CLAIMS = 4 * LEDGER_MAX_TASKS, /* of later epochs */
    /* Room for what ledger_print writes. */
    LEDGER_TEXT_BYTES = 64 + LEDGER_MAX_TASKS / 4
};

enum task_state { TASK_TODO, TASK_DOING, TASK_DONE, TASK_STATES };

struct ledger_task {
    uint32_t part;
    enum task_state state;
    unsigned node; /* that does it */
    nanos since;   /* when it was taken */
    bool doubted;  /* its node's session is over */
};

/* On a task of an epoch that is still to come. */
struct ledger_claim {
    uint64_t id;
    unsigned node;
    bool done, doubted;
    nanos since;
};

struct ledger {
    uint32_t parts;  /* tasks of an epoch; 0: nothing is given out */
    uint64_t epochs; /* to be done; 0: no bound */
    uint64_t seed;
    nanos limit;    /* longest time in doing; 0: no limit */
    uint64_t epoch; /* under way, from 0; as many as are done */
    uint32_t count[TASK_STATES];
    uint32_t next;             /* no task before this place is todo */
    struct ledger_task *tasks; /* `parts` of them, in this epoch's order */
    struct ledger_claim *claims;
    uint32_t claim_count, claim_room;
};

/* What a node is told. */
struct task {
    uint64_t id;    /* never 0, never used twice by one ledger */
    uint64_t epoch; /* from 0 */
    uint32_t part;  /* < the ledger's parts */
};

/* Begins with the first epoch; `parts` is at most LEDGER_MAX_TASKS. */
void ledger_init(struct ledger *ledger, uint32_t parts, uint64_t epochs,
                 uint64_t seed, nanos limit);
void ledger_free(struct ledger *ledger);

/* All epochs are done. */
bool ledger_over(const struct ledger *ledger);
/* Gives the node the next task. False: none is todo now, it holds
 * LEDGER_MAX_HELD of them, or all is over. */
bool ledger_assign(struct ledger *ledger, unsigned node, nanos now,
                   struct task *out);
/* The node says what became of a task: doing -> done, or back to todo. False,
 * and nothing changes, unless the node has it in doing: it may have been given
 * to another one meanwhile. The last task of an epoch begins the next one. */
bool ledger_report(struct ledger *ledger, unsigned node, uint64_t id,
                   bool done);
/* The node's session is over: what it is doing is doubted until it claims it.
 */
void ledger_doubt(struct ledger *ledger, unsigned node);
/* What is doubted still is todo again. How many. */
unsigned ledger_settle(struct ledger *ledger, unsigned node);
/* The node says that it has a task from a former session, or from a hub that
 * was killed since: it is doing it, and can report it. False, and nothing
 * changes, if another node has it, it is done, it can be none, or the node
 * holds LEDGER_MAX_HELD of them. */
bool ledger_claim(struct ledger *ledger, unsigned node, nanos now, uint64_t id);
/* The node is gone: all it has in doing is todo again. How many. */
unsigned ledger_lost(struct ledger *ledger, unsigned node);
/* What has been in doing for longer than the limit is todo again. How many. */
unsigned ledger_expire(struct ledger *ledger, nanos now);

/* Writes `tasks PARTS EPOCH BITS\n`: what is done, four parts to a hexadecimal
 * digit, part 0 first and in its highest bit. What is in doing is lost with
 * the process. Returns the length; `size` is at least LEDGER_TEXT_BYTES. */
size_t ledger_print(const struct ledger *ledger, char *text, size_t size);
/* Reads one such line; what the ledger held is lost. False, and nothing
 * changes, if it makes no sense or is of another number of parts. */
bool ledger_read(struct ledger *ledger, const char *line);

/* A broken invariant, as a sentence, or NULL. */
const char *ledger_check(const struct ledger *ledger);

#endif
