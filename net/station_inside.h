/* What the files of a station have in common, and what its links ask of it; on
 * the station's thread. */
#ifndef NET_STATION_INSIDE_H
#define NET_STATION_INSIDE_H

#include "core/index.h"
#include "net/hosts.h"
#include "net/link.h"
#include "net/station.h"
#include "net/tcp.h"

enum { SCRATCH_BYTES = 16 * 1024 };

/* Of the processor's time that strangers may take at once: a hub that starts
 * has to shake hands with all of its nodes. */
#define STRANGERS_BURST SECOND

enum order_kind {
    ORDER_SEND,
    ORDER_CUT,
    ORDER_GO,
    ORDER_LIMIT,
    ORDER_MEASURE,
    ORDER_CALM,
    ORDER_SWEEP,
    ORDER_STOP
};

struct order {
    struct order *next;
    enum order_kind kind;
    uint64_t number;
    bool gently;
    size_t bytes;              /* LIMIT; CALM: each second */
    unsigned window;           /* CALM: bytes */
    struct queue_entry *entry; /* SEND */
    struct address *address;   /* GO */
};

struct station {
    struct channel_plan plan;
    struct pool *pool;
    struct admission *admission;
    struct bell bell; /* rung with orders, and when the notices has room */
    struct notices notices;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock;
    struct order *last; /* made in advance, so that it can always be ended */
    struct order *orders, **orders_end;
    /* The thread's own. */
    struct zmtp_keys keys;
    struct zmtp_plan zmtp; /* of each link that comes */
    int set, strangers;    /* epoll: all, and of these one that has strangers */
    int listener;
    nanos now;
    nanos next_guard, next_tidy;
    nanos stop_at; /* NEVER: it goes on */
    struct link *oldest, *newest;
    struct link *dead, *waiting, **waiting_end;
    bool room_freed;
    unsigned count, silent, ending;
    struct index numbers;
    uint64_t next_number;
    struct hosts hosts;
    size_t stranger_room, known_room; /* held for messages that come */
    bool short_of_room;
    nanos stranger_time; /* of the processor, that strangers may take now */
    nanos refilled_at;
    bool strangers_rest; /* they have used theirs up */
    bool listening;      /* the listener is in the set */
    /* Where it connects. */
    bool held;
    nanos dial_at;   /* when it connects next; NEVER: it has ended just now */
    nanos pause;     /* after the next failure */
    unsigned turn;   /* which of the hub's addresses */
    uint64_t spread; /* state of a small generator */
    struct link *dialled;
    unsigned char scratch[SCRATCH_BYTES];
};

/* ---- station_orders.c ---- */

void orders_obey(struct station *station);
void orders_discard(struct station *station);

/* ---- station_links.c ---- */

struct link *station_add(struct station *station, int fd,
                         enum link_stage stage);
/* In which set it is, and for what. */
void station_watch(struct link *link);
/* Ends it: gently, when what was sent may still get out. Safe at any time. */
void station_end(struct link *link, bool gently);
/* Puts a notice of it into the notices. */
void station_tell(struct link *link, struct notice *notice);
/* The same, and it ends: for this offence, or NULL. */
void station_gone(struct link *link, const char *offence);
/* A blob for a payload that comes, or NULL: it has to wait. */
struct blob *station_room(struct link *link, size_t bytes);
/* It does not hold it any more. */
void station_release(struct link *link);

/* ---- gate.c: where it binds ---- */

void gate_accept(struct station *station);
/* Hands are shaken; it has said something. */
void gate_shaken(struct link *link);
void gate_known(struct link *link);
/* A handshake that failed, or a stranger that has gone. */
void gate_refuse(struct link *link, enum zmtp_fault fault);
/* Every 100 ms. */
void gate_guard(struct station *station);
void gate_sweep(struct station *station);
/* Strangers have been served since `before` of this thread's time. */
void gate_charge(struct station *station, nanos before);
nanos gate_clock(void);
enum zmtp_fault gate_admit(void *self, const unsigned char *key);

/* ---- dial.c: where it connects ---- */

/* Connects, when it is time. */
void dial(struct station *station);
void dial_go(struct station *station, const struct address *address);
/* The connection is there; hands are shaken. */
void dial_connected(struct link *link);
void dial_shaken(struct link *link);
void dial_failed(struct link *link, enum zmtp_fault fault);
/* It may have taken too long. */
void dial_guard(struct station *station);

#endif
