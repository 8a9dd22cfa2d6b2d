/* The world's inside: world.c (time, steps and effects), star.c (connections),
 * process.c (starting and failing), memory.c (what the hub saves). */
#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

#include "core/prng.h"
#include "seam/trace.h"
#include "sim/port.h"
#include "sim/queue.h"
#include "sim/world.h"

/* Places for machines: the hub, then each node and its trainer. */
enum { PLACE_HUB };

/* More steps than this at one moment: a machine does not let time go on. */
enum { STEPS_AT_ONCE = 100000 };

enum end { END_HUB, END_NODE, ENDS };

/* One connection, kept until the world ends; its peer number at the hub tells
 * its place in the list. */
struct connection {
    peer_id id;
    unsigned node;
    uint64_t incarnation;
    enum channel channel;
    bool open[ENDS];
    bool reset[ENDS];       /* this end died: what it had not sent is lost */
    nanos reset_at[ENDS];
    struct stream *stream[ENDS]; /* what this end has yet to send */
    nanos arrives_at[ENDS]; /* when the last message from this end arrives */
    nanos joins_at[ENDS];   /* when this end learns of it */
};

enum item_kind {
    ITEM_EVENT,   /* for a machine */
    ITEM_CONNECT, /* a node tries to reach the hub */
    ITEM_PORT,    /* something is through the hub's port */
    ITEM_ACT      /* what a scenario does */
};

/* Something that will happen. */
struct item {
    enum item_kind kind;
    unsigned place;
    uint32_t life;                 /* of the machine it is for */
    struct connection *connection; /* NULL: local */
    nanos sent;                    /* when it was on the wire */
    bool arrived;                  /* the link's failing no longer matters */
    struct world_fate fate;
    enum end from; /* of a port */
    enum event_kind event;
    peer_id peer;
    enum channel channel;
    struct msg msg;
    struct blob *payload;
    struct job *job;
    void (*act)(void *context, struct world *world);
    void *context;
    struct item *next;
};

struct waiting {
    struct item *first, **end;
};

struct place {
    struct machine machine; /* self NULL: it does not run */
    uint32_t life;
    bool frozen;
    nanos wake;             /* deadline that is in the queue */
    struct waiting held;    /* while it is frozen */
};

struct star_node {
    struct world_node description;
    char name[NODE_NAME_BYTES];
    char trainer_name[NODE_NAME_BYTES + 8];
    uint64_t incarnation;
    struct node *node;
    struct trainer *trainer;
    struct connection *up[2]; /* by channel; NULL: not connected */
    bool cut, silent;         /* its link is down; and nobody was told */
    struct waiting held;      /* while the link is down silently */
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
    struct place *places;    /* they move when a node is added */
    struct star_node *nodes;
    unsigned count, room;
    struct connection **connections;
    size_t connection_count, connection_room;
    struct port *ports[ENDS]; /* of the hub, by who sends */
    nanos port_wake[ENDS];    /* that is in the queue */
    struct effects effects;
    struct history history;
    struct world_saved saved;
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

/* ---- world.c ---- */

/* An item for a machine, all else zero. */
struct item *item_new(struct world *world, enum item_kind kind,
                      unsigned place);
void item_free(struct world *world, struct item *item);
void world_put(struct world *world, nanos at, struct item *item);
/* A number in [0, bound), 0 if bound is 0. */
nanos world_random(struct world *world, nanos bound);
/* All that happens to the item's machine now. */
void world_happen(struct world *world, struct item *item);
/* Puts the machine's deadline into the queue. */
void world_set_wake(struct world *world, unsigned place);
/* Lets everything that waits happen, in order. */
void waiting_release(struct world *world, struct waiting *waiting);
void waiting_drop(struct world *world, struct waiting *waiting);

/* ---- star.c ---- */

/* The node tries to connect this channel at a time. */
void star_connect_at(struct world *world, unsigned node,
                     enum channel channel, nanos at);
void star_connect(struct world *world, struct item *item);
/* Sends from one end; the payload is referenced. */
void star_send(struct world *world, struct connection *connection,
               enum end from, const struct msg *msg, struct blob *payload);
/* Takes what is through the port. */
void star_port(struct world *world, const struct item *due);
void star_free(struct world *world);
/* This end closes the connection, after all that it has sent. */
void star_close(struct world *world, struct connection *connection,
                enum end end);
/* This end has died: what it had not sent is lost. Silent: nobody is told. */
void star_reset(struct world *world, struct connection *connection,
                enum end end, bool silent);
/* Both ends lose each other and all that is on its way. */
void star_break(struct world *world, struct connection *connection);
/* Whether this event really reaches its machine; notes what it changes. */
bool star_deliver(struct world *world, struct item *item);
struct connection *star_find(struct world *world, unsigned place,
                             peer_id peer);

/* ---- memory.c ---- */

/* The works that the hub is lent. Context: the world. */
extern const struct work work_remember, work_score;
/* Gives the new hub what was saved, if anything. */
void memory_restore(struct world *world);
void memory_free(struct world_saved *saved);

#endif
