/* One connection to the page's server, from its coming to its end, and what the
 * server's files share. Inside of hub/page. */
#ifndef HUB_PAGE_VISIT_H
#define HUB_PAGE_VISIT_H

#include <microhttpd.h>
#include <pthread.h>

#include "hub/page/request.h"
#include "hub/page/status.h"
#include "hub/page/stream.h"
#include "hub/page/timeline.h"
#include "hub/page/web.h"

enum visit_state {
    VISIT_FREE,    /* this place is nobody's */
    VISIT_READS,   /* its request has not come */
    VISIT_WAITS,   /* its order is being done */
    VISIT_ANSWERS, /* an answer is on its way to it */
    VISIT_FOLLOWS, /* it takes events as they come */
    VISIT_CUT      /* it was cut off, which the library has yet to see */
};

struct web;

struct visitor {
    enum visit_state state;
    struct web *web;
    struct MHD_Connection *connection;
    int socket;
    nanos since;    /* it is in this state, or it last took an event */
    bool suspended; /* the library leaves it alone */
    bool begun;     /* the header of its request is here */
    struct ruling ruling;
    char body[REQUEST_BODY_BYTES + 1];
    size_t length;     /* of what is here of the body */
    uint64_t ticket;   /* of its order */
    unsigned answered; /* status of the order's answer; 0: none yet */
    struct msg_answer answer;
    struct frame *frame; /* the event that it is sent; NULL: none just now */
    size_t sent;         /* bytes of that */
    int waiting;         /* bytes of its events that are on their way */
    uint64_t next;       /* the number of the one after */
};

struct web {
    struct web_config config;
    struct feed feed;
    struct guard guard;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool started;
    atomic_bool ends;
    int socket; /* that it listens on; the daemon's, once that has started */
    uint64_t next_ticket;
    nanos heard; /* when the newest snapshot came, of our clock */
    struct stream stream;
    struct timeline timeline;
    bool closes;                /* no event will come any more */
    bool awaited;               /* somebody waits for the status */
    nanos told;                 /* when it was last sent to those who follow, */
    nanos said;                 /* and when anything was */
    const struct snapshot *now; /* NULL: none yet */
    struct visitor visitors[WEB_PLACES];
};

/* What /status is made of, once there is a snapshot. */
static inline struct status_source web_status(const struct web *web)
{
    return (struct status_source){web->now, web->config.head, web->config.goal,
                                  web->stream.boot};
}

static inline void visit_resume(struct visitor *visitor)
{
    if (!visitor->suspended)
        return;
    visitor->suspended = false;
    MHD_resume_connection(visitor->connection);
}

/* What libmicrohttpd calls: a connection comes or goes; a request comes, piece
 * by piece; it is over. */
void visit_connection(void *web, struct MHD_Connection *connection,
                      void **context, enum MHD_ConnectionNotificationCode code);
enum MHD_Result visit_request(void *web, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *bytes,
                              size_t *size, void **context);
void visit_completed(void *web, struct MHD_Connection *connection,
                     void **context, enum MHD_RequestTerminationCode code);

/* An order has its answer. */
void visit_answer(struct web *web, const struct msg_answer *answer);
/* Cuts off who takes too long. */
void visits_tick(struct web *web, nanos now);
/* All go on, before the daemon ends. */
void visits_end(struct web *web);

#endif
