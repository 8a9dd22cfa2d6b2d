/* What a station tells the loop: a queue of notices, in the order in which
 * things happened.
 *
 * It has a bound in bytes, and each connection has one in it: a connection that
 * is at its own, or that meets the other, is not read from until the loop has
 * taken half. TCP then holds its sender. */
#ifndef NET_NOTICES_H
#define NET_NOTICES_H

#include <pthread.h>

#include "codec/msg.h"
#include "net/bell.h"
#include "net/facts.h"
#include "net/net.h"
#include "net/origin.h"

enum notice_kind {
    NOTICE_READY,    /* a connection that we have made can be used */
    NOTICE_MESSAGE,  /* a message, well-formed */
    NOTICE_NONSENSE, /* what was none, and has been left out */
    NOTICE_GONE,     /* it is gone; nothing of it comes any more */
    NOTICE_FAILED,   /* we have tried to connect */
    NOTICE_MEASURED  /* station_measure has been called */
};

/* What of a connection waits in the notices. */
struct meter {
    unsigned references; /* the connection's, and one each notice's */
    size_t bytes;
    bool paused, queued; /* it is not read from; it is to be again */
    void *link;          /* NULL once it is gone */
    struct meter *next;
};

struct notice {
    struct notice *next;
    enum notice_kind kind;
    uint64_t number; /* of the connection */
    bool first;      /* nothing of it came before */
    struct origin origin;
    uint64_t key;        /* whose it is, or 0 */
    struct meter *meter; /* or NULL */
    size_t bytes;        /* what it costs us */
    const char *words;   /* GONE, NONSENSE: what it has done, or NULL */
    bool scores;         /* and it is held against it */
    enum net_hindrance hindrance; /* FAILED: why */
    int error;                    /* the system's, or the resolver's, or 0 */
    struct msg msg;
    struct blob *payload;   /* a reference, or NULL */
    struct tcp_facts facts; /* MEASURED; GONE, where we have connected */
};

struct notices {
    pthread_mutex_t lock;
    struct notice *first, **end;
    size_t bytes, limit, each; /* there are; there may be; of a connection */
    struct meter *waiting, *resumed;
    const struct bell *reader, *writer; /* rung for them; borrowed; or NULL */
};

void notices_init(struct notices *notices, size_t limit, size_t each,
                  const struct bell *reader, const struct bell *writer);
/* Destroys what nobody took. */
void notices_free(struct notices *notices);

/* Aborts when there is no memory. */
struct notice *notice_new(enum notice_kind kind);
void notice_destroy(struct notice **notice);

/* Takes it over; true: read no more from this connection. */
bool notices_put(struct notices *notices, struct notice *notice);
/* The next, the caller's; or NULL. */
struct notice *notices_pop(struct notices *notices);

/* The station's: a meter for a link, and the end of it; the next link that may
 * be read from again, or NULL. */
struct meter *meter_new(void *link);
void meter_end(struct notices *notices, struct meter *meter);
void *notices_resumed(struct notices *notices);

#endif
