/* A connection as its station has it: descriptor, engine, and what waits to be
 * sent. On the station's thread. */
#ifndef NET_LINK_H
#define NET_LINK_H

#include "net/notices.h"
#include "net/origin.h"
#include "net/zmtp/zmtp.h"

struct station;
struct host;

/* A message to be sent. */
struct queue_entry {
    struct queue_entry *next;
    uint64_t number;      /* whose it is */
    struct blob *payload; /* a reference, or NULL */
    struct blob *sealed;  /* both frames, encrypted, when its turn has come */
    size_t lead_bytes;    /* heads and header, as they are on the wire */
    size_t header_at, header_bytes; /* in lead */
    unsigned char lead[];
};

enum link_stage {
    LINK_CONNECTING,
    LINK_SHAKING,
    LINK_SILENT, /* hands are shaken; it has said nothing */
    LINK_KNOWN,
    LINK_ENDING, /* it is not heard; what was sent may get out */
    LINK_DEAD    /* closed; freed at the end of the turn */
};

struct link {
    uint64_t number;
    struct station *station;
    struct link *previous, *next; /* of all, in the order they came */
    struct link *next_dead, *next_waiting;
    int fd;
    enum link_stage stage;
    struct origin origin;
    struct host *host; /* where there is a admission */
    uint64_t key;
    nanos since;     /* it came, or begins to connect */
    nanos ends_at;   /* if ENDING: closed at the latest */
    bool stranger;   /* in the strangers' set */
    bool watched;    /* it is in a set */
    uint32_t events; /* for which */
    bool paused;     /* by the notices */
    bool waits;      /* for room for a payload */
    bool broken;     /* nothing can be sent any more */
    bool announced;  /* the loop knows of it */
    bool gave;       /* a whole payload */
    struct meter *meter;
    size_t room;      /* bytes that are held for the message that comes */
    nanos room_since; /* it is looked at how fast that comes, from here on */
    size_t room_seen; /* what had come then */
    nanos told;       /* the loop, how much of it is here */
    size_t told_bytes;
    unsigned char *stash; /* read, and not taken yet */
    size_t stash_bytes;
    struct queue_entry *first, **end; /* what waits */
    unsigned waiting;
    size_t sent; /* of the first */
    struct zmtp zmtp;
};

struct queue_entry *queue_entry_new(uint64_t number,
                                    const unsigned char *header, size_t size,
                                    struct blob *payload);
void queue_entry_destroy(struct queue_entry **entry);

/* Takes it over; false: more waits than may. */
bool link_queue(struct link *link, struct queue_entry *entry, unsigned limit);
/* Sends what it can; false when nothing can be sent any more. */
bool link_flush(struct link *link, struct pool *pool);
bool link_has_to_send(const struct link *link);
/* Forgets what waits. */
void link_discard(struct link *link);

/* Reads and takes what there is, up to a bound. */
void link_read(struct link *link);
/* There is room now, or it may go on: takes what was left. */
void link_go_on(struct link *link);

#endif
