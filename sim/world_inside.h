/* The world's inside, each file on those after it: process.c (starting and
 * failing), world.c (time, steps and effects), star.c (how connections come and
 * break), links.c (what links are now), wire.c (messages on their way), items.c
 * (what will happen), connection.c (the list of connections). Beside these:
 * memory.c (what the hub saves). */
#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

#include "core/prng.h"
#include "seam/history.h"
#include "seam/transcript.h"
#include "sim/port.h"
#include "sim/queue.h"
#include "sim/world.h"

/* Places for machines: the hub, then each node and its trainer. */
enum { PLACE_HUB };

/* More steps than this at one moment, and for each node than this: a machine
 * does not let time go on. */
enum { STEPS_AT_ONCE = 100000, STEPS_OF_NODE_AT_ONCE = 100 };

enum end { END_HUB, END_NODE, ENDS };

/* One connection, kept until both ends are closed and nothing is under way; its
 * peer number at the hub tells its place in the list. */
struct connection {
    peer_id id;
    size_t held;             /* items that refer to it */
    struct connection *next; /* of its node, by id */
    unsigned node;
    uint64_t incarnation;
    enum channel channel;
    bool open[ENDS];
    bool reset[ENDS]; /* this end died: what it had not sent is lost */
    nanos reset_at[ENDS];
    struct stream *stream[ENDS]; /* what this end has yet to send */
    bool looking;                /* at what takes long */
    const void *seen[ENDS];      /* what was being sent at the last look */
    nanos arrives_at[ENDS]; /* when the last message from this end arrives */
    nanos joins_at[ENDS];   /* when this end learns of it */
};

enum item_kind {
    ITEM_EVENT,   /* for a machine */
    ITEM_CONNECT, /* a node tries to reach the hub */
    ITEM_TRACE,   /* the trace may say something else */
    ITEM_SCRIPTED /* what a scenario does */
};

/* Something that will happen. */
struct item {
    enum item_kind kind;
    unsigned place;
    uint32_t life;                 /* of the machine it is for */
    struct connection *connection; /* held; NULL: local */
    nanos sent;                    /* when it was on the wire */
    bool arrived;                  /* the link's failing no longer matters */
    struct world_fate fate;
    size_t bytes;           /* on the wire */
    enum quantity quantity; /* of a trace */
    enum event_kind event;
    peer_id peer;
    enum channel channel;
    struct blob *payload;
    struct job *job;
    void (*act)(void *context, struct world *world);
    void *context;
    struct item *next;
    struct msg msg; /* of a MESSAGE; else not set */
};

struct waiting {
    struct item *first, **end;
};

struct place {
    struct machine machine; /* self NULL: it does not run */
    uint32_t life;
    bool frozen;
    nanos wake;          /* deadline that is in the queue */
    struct waiting held; /* while it is frozen */
};

struct star_node {
    struct world_node description;
    char name[NODE_NAME_BYTES];
    char trainer_name[NODE_NAME_BYTES + 8];
    uint64_t incarnation;
    struct node *node;
    struct trainer *trainer;
    struct connection *up[2];        /* by channel; NULL: not connected */
    struct connection *connections;  /* all of it */
    const struct trace_track *track; /* NULL: the trace does not name it */
    struct world_link link;          /* as it is now */
    nanos step;                      /* of its trainer, now */
    bool cut, silent;                /* its link is down; and nobody was told */
    bool dead;           /* the trace says that it carries nothing */
    struct waiting held; /* while the link is down silently */
};

struct world {
    struct world_config config;
    struct pool *pool;
    struct prng prng;
    nanos now, moment; /* moment: since when steps_now is counted */
    uint64_t steps_now;
    struct queue queue;
    struct item *spare;
    struct hub *hub;
    struct place *places; /* they move when a node is added */
    struct star_node *nodes;
    unsigned count, room;
    struct connection **connections; /* NULL: it is gone */
    size_t connection_count, connection_room;
    struct port *ports[ENDS];         /* of the hub, by who sends */
    struct queue_entry through[ENDS]; /* when a port's next message is: kept
                                         out of the queue, as most change */
    struct effects effects;
    struct history history;
    struct world_saved saved;
    uint64_t runs; /* that hubs without anything saved have begun */
    char broken[320];
};

static inline unsigned place_of_node(unsigned node)
{
    return 1 + 2 * node;
}

static inline unsigned place_of_trainer(unsigned node)
{
    return 2 + 2 * node;
}

static inline unsigned node_of_place(unsigned place)
{
    return (place - 1) / 2;
}

static inline bool is_trainer(unsigned place)
{
    return place != PLACE_HUB && place % 2 == 0;
}

/* The machine at this end. */
static inline unsigned star_place(const struct connection *connection,
                                  enum end end)
{
    return end == END_HUB ? (unsigned)PLACE_HUB
                          : place_of_node(connection->node);
}

/* The connection's number for the machine at this end. */
static inline peer_id star_peer(const struct connection *connection,
                                enum end end)
{
    if (end == END_HUB)
        return connection->id;
    return connection->channel == CHANNEL_CONTROL ? PEER_CONTROL : PEER_BULK;
}

/* A number in [0, bound), 0 if bound is 0. */
static inline nanos world_random(struct world *world, nanos bound)
{
    return bound > 0 ? (nanos)prng_below(&world->prng, (uint64_t)bound) : 0;
}

/* ---- connection.c ---- */

struct connection *connection_new(struct world *world, unsigned node);
void connection_free(struct world *world, struct connection *connection);
struct connection *connection_hold(struct connection *connection);
/* NULL: nothing to do. */
void connection_release(struct world *world, struct connection *connection);
struct connection *connection_find(struct world *world, unsigned place,
                                   peer_id peer);

/* ---- items.c ---- */

/* An item for a machine, all else zero but for its message. */
struct item *item_new(struct world *world, enum item_kind kind, unsigned place);
void item_free(struct world *world, struct item *item);
/* It happens at a time that is not before now. */
void item_put(struct world *world, nanos at, struct item *item);
/* Keeps the item until later. */
void waiting_add(struct waiting *waiting, struct item *item);
void waiting_drop(struct world *world, struct waiting *waiting);

/* ---- wire.c ---- */

/* How long a message is on its way now. */
nanos wire_latency(struct world *world, unsigned node);
/* What this end of a connection may send, as a rate of sim/port.h. */
uint64_t wire_rate(const struct world *world, unsigned node, enum end from);
/* Sends from one end; the payload is referenced. */
void wire_send(struct world *world, struct connection *connection,
               enum end from, const struct msg *msg, struct blob *payload);
/* Puts it behind what this end has yet to send. */
void wire_put(struct world *world, enum end from, struct item *item);
/* What this end has not sent will never be. */
void wire_lose(struct world *world, struct connection *connection,
               enum end from);
/* The same, when the world ends. */
void wire_clear(struct world *world, struct connection *connection,
                enum end from);
/* The node's link has other rates now. */
void wire_limit(struct world *world, unsigned node);
/* Notes when the port's next message is through. */
void wire_note(struct world *world, enum end from);
/* Takes what is through the port now. */
void wire_deliver(struct world *world, enum end from);

/* ---- links.c ---- */

/* A node that was added; the hub's port. They follow the trace from now on. */
void links_begin(struct world *world, unsigned node);
void links_begin_port(struct world *world);
void links_change(struct world *world, const struct item *due);

/* ---- star.c ---- */

/* The node tries to connect this channel at a time. */
void star_connect_at(struct world *world, unsigned node, enum channel channel,
                     nanos at);
void star_connect(struct world *world, struct item *item);
void star_free(struct world *world);
/* This end closes the connection, after all that it has sent. */
void star_close(struct world *world, struct connection *connection,
                enum end end);
/* The hub, or a node, has died: what it had not sent is lost. Silent: nobody
 * is told. */
void star_reset_hub(struct world *world, bool silent);
void star_reset_node(struct world *world, unsigned node, bool silent);
/* Both ends lose each other and all that is on its way. */
void star_break(struct world *world, struct connection *connection);
/* Whether this event really reaches its machine; notes what it changes. */
bool star_deliver(struct world *world, struct item *item);

/* ---- world.c ---- */

/* Lets everything that waits happen, in order. */
void world_release(struct world *world, struct waiting *waiting);
/* The node's link may be up again: what has waited for that comes. */
void world_release_link(struct world *world, unsigned node);
/* Puts the machine's deadline into the queue. */
void world_set_wake(struct world *world, unsigned place);

/* ---- memory.c ---- */

/* The works that the hub is lent. Context: the world. */
extern const struct work work_remember, work_score;
/* Gives the new hub what was saved, if anything. */
void memory_restore(struct world *world);
void memory_free(struct world_saved *saved);

#endif
