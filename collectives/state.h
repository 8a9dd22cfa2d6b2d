/* The coordinator's inside. Each noun has a header, its part of struct
 * coordinator is written by its file only:
 *
 *     group.h       members, their ranks, epochs
 *     call.h        calls, their participants, members' requests
 *     segment.h     input segments up, result segments down, credit
 *     checkpoint.h  a patient group's model
 *     matching.h    which members meet in which call
 *     mail.h        messages from one member to another
 *
 * A handler, the end of a job and a tick record facts in their noun, and mark
 * what has to be looked at again (enum dirty). What follows from the facts is
 * the settle pass's, in coordinator.c, and nobody else's. */
#ifndef COLLECTIVES_STATE_H
#define COLLECTIVES_STATE_H

#include "collectives/call.h"
#include "collectives/checkpoint.h"
#include "collectives/coordinator.h"
#include "collectives/group.h"
#include "collectives/mail.h"

/* The stages of the settle pass that have something to do. */
enum dirty {
    DIRTY_MEMBERS = 1,    /* a member is lost, or one wants to come in */
    DIRTY_REQUESTS = 2,   /* a CALL has come, or what one waits for */
    DIRTY_CALLS = 4,      /* a participant or a segment has come or gone */
    DIRTY_CHECKPOINT = 8, /* a model is missing, or its holder */
    DIRTY_MAIL = 16,      /* a message is taken or received, or an end lost */
    DIRTY_DELIVERY = 32   /* there is something to tell or to send */
};

struct coordinator {
    struct coordinator_config config;
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now;
    unsigned dirty; /* enum dirty; 0 between steps */

    struct group group;
    struct calls calls;
    struct checkpoint checkpoint;
    struct mails mails;
};

#endif
