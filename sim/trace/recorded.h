/* What an importer of recordings knows of each node: of a hub's recording of
 * all of them, of a node's of that one. Inside of trace/. */
#ifndef SIM_TRACE_RECORDED_H
#define SIM_TRACE_RECORDED_H

#include "sim/trace/fields.h"
#include "sim/trace/trace.h"

enum { RECORDED_NODES = 4096, RECORDED_PEERS = 4 * RECORDED_NODES };

/* Chunks of one exchange that follow each other in one direction. */
struct batch {
    bool open;
    uint64_t exchange, version;
    uint64_t chunks, bytes;
    uint64_t first_bytes;  /* of the first chunk */
    nanos first, last;     /* when chunks were seen */
    uint64_t credited;     /* sent: bytes that the other side says it has */
    uint64_t first_credit; /* how many of them at first */
    nanos credit, credit_last;
};

struct recorded_node {
    char name[TRACE_NAME_BYTES];
    struct trace_track *track; /* NULL until it has joined */
    uint64_t session;
    uint64_t control; /* the connection that it was taken in by */
    bool here;
    struct batch received, sent; /* by the machine that has recorded */
    /* Of the last PING since it has joined; in its own recording, of the last
     * word of its trainer. */
    bool pinged;
    nanos at;
    int64_t waited;
    nanos wait_end; /* of the last wait */
    /* Of its own recording. */
    uint64_t iteration;
    bool blocked;             /* since `at` */
    uint64_t exchange, parts; /* of an answer that is given to the trainer,
                                 and how many parts of it */
    uint64_t version;
};

/* A connection of the hub's. */
struct recorded_peer {
    uint64_t id;
    unsigned node;
};

struct recorded;

/* What is taken of a kind of messages that the machine has received or sent;
 * a table ends with a name of NULL. */
struct recorded_message {
    const char *name;
    bool received;
    enum status (*take)(struct recorded *of, const struct fields *fields,
                        struct why *why);
};

extern const struct recorded_message recorded_hub_messages[];
extern const struct recorded_message recorded_node_messages[];

struct recorded {
    const struct recorded_message *messages;
    bool of_node; /* it is a node's, which is nodes[0] */
    struct trace *trace;
    struct recorded_node *nodes; /* room for RECORDED_NODES */
    unsigned node_count;
    struct recorded_peer *peers; /* by id; room for RECORDED_PEERS */
    unsigned peer_count;
    bool begun;
    nanos first, now; /* of the file; and relative to the first */
};

/* The peer of this id, or NULL. */
struct recorded_peer *recorded_peer(const struct recorded *of, uint64_t id);
/* Makes it known, or another's. CONFIG: too many. */
enum status recorded_add_peer(struct recorded *of, uint64_t id, unsigned node,
                              struct why *why) MUST_CHECK;
void recorded_forget_peer(struct recorded *of, uint64_t id);

/* The node of this name, made if need be. */
enum status recorded_node(struct recorded *of, const char *name, unsigned *out,
                          struct why *why) MUST_CHECK;

/* The node that a message from or to this peer is of, or NULL: it has not been
 * taken in. */
struct recorded_node *recorded_node_of(const struct recorded *of,
                                       uint64_t peer);
/* Begins the recording of a node; its title has the name. MALFORMED. */
enum status recorded_begin_node(struct recorded *of, const struct fields *title,
                                struct why *why) MUST_CHECK;

/* The hub takes it in by this connection, or tells it anew. */
enum status recorded_join(struct recorded *of, struct recorded_node *node,
                          uint64_t session, uint64_t control,
                          struct why *why) MUST_CHECK;
/* It is gone, if it was there. */
enum status recorded_leave(struct recorded *of, struct recorded_node *node,
                           struct why *why) MUST_CHECK;

/* What happened to it now; of a node that has joined, as all that follows. */
enum status recorded_happens(struct recorded *of, struct recorded_node *node,
                             enum traced_kind kind, uint64_t first,
                             uint64_t second, struct why *why) MUST_CHECK;
/* That a quantity has this value from `time` on, unless it holds already,
 * the series is beyond that time, or no step is as short. */
enum status recorded_value(struct recorded *of, struct trace_track *track,
                           enum quantity quantity, nanos time, int64_t value,
                           struct why *why) MUST_CHECK;
/* A chunk. `version`: of what a hub sends. */
enum status recorded_receive(struct recorded *of, struct recorded_node *node,
                             uint64_t exchange, uint64_t bytes,
                             struct why *why) MUST_CHECK;
enum status recorded_send(struct recorded *of, struct recorded_node *node,
                          uint64_t exchange, uint64_t version, uint64_t bytes,
                          struct why *why) MUST_CHECK;
/* The other side has so many more bytes of what was sent. */
void recorded_credit(struct recorded *of, struct recorded_node *node,
                     uint64_t exchange, uint64_t bytes);

/* What it has offered says of its score. */
enum status recorded_score(struct recorded *of, struct recorded_node *node,
                           const struct fields *fields,
                           struct why *why) MUST_CHECK;
/* Its trainer was blocked for so long, and is not any more. */
enum status recorded_wait(struct recorded *of, struct recorded_node *node,
                          int64_t waited, struct why *why) MUST_CHECK;

/* A PING, times in nanoseconds. */
struct recorded_ping {
    int64_t round_trip, waited;
    int64_t rate; /* iterations in 10^9 seconds, waiting not counted */
    uint64_t iteration;
};
enum status recorded_ping(struct recorded *of, struct recorded_node *node,
                          const struct recorded_ping *ping,
                          struct why *why) MUST_CHECK;

/* Ends the batches that are open; of any node. */
enum status recorded_close(struct recorded *of, struct recorded_node *node,
                           struct why *why) MUST_CHECK;

#endif
