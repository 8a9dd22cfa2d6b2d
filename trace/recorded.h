/* What an importer of recordings knows of each node. Inside of trace/. */
#ifndef TRACE_RECORDED_H
#define TRACE_RECORDED_H

#include "trace/trace.h"

enum { RECORDED_NODES = 4096, RECORDED_PEERS = 4 * RECORDED_NODES };

/* Chunks of one exchange that follow each other in one direction. */
struct batch {
    bool open;
    uint64_t exchange, version;
    uint64_t chunks, bytes;
    uint64_t first_bytes;  /* of the first chunk */
    nanos first, last;     /* when chunks were seen by the hub */
    uint64_t credited;     /* down: bytes that the node has said it has */
    uint64_t first_credit; /* how many of them at first */
    nanos credit, credit_last;
};

struct recorded_node {
    char name[TRACE_NAME_BYTES];
    struct trace_track *track; /* NULL until it has joined */
    uint64_t session;
    bool here;
    struct batch up, down;
    /* Of the last PING since it has joined. */
    bool pinged;
    nanos at;
    int64_t waited;
    nanos wait_end; /* of the last wait */
};

/* A connection of the hub's. */
struct recorded_peer {
    uint64_t id;
    unsigned node;
    bool control;
};

struct recorded {
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
                              bool control, struct why *why) MUST_CHECK;
void recorded_forget_peer(struct recorded *of, uint64_t id);

/* The node of this name, made if need be. */
enum status recorded_node(struct recorded *of, const char *name,
                          unsigned *out, struct why *why) MUST_CHECK;

/* The hub takes it in, or tells it anew. */
enum status recorded_join(struct recorded *of, struct recorded_node *node,
                          uint64_t session, struct why *why) MUST_CHECK;
/* It is gone, if it was there. */
enum status recorded_leave(struct recorded *of, struct recorded_node *node,
                           struct why *why) MUST_CHECK;

/* What happened to it now; of a node that has joined, as all that follows. */
enum status recorded_happens(struct recorded *of, struct recorded_node *node,
                             enum traced_kind kind, uint64_t first,
                             uint64_t second, struct why *why) MUST_CHECK;
enum status recorded_upload(struct recorded *of, struct recorded_node *node,
                            uint64_t exchange, uint64_t bytes,
                            struct why *why) MUST_CHECK;
enum status recorded_download(struct recorded *of, struct recorded_node *node,
                              uint64_t exchange, uint64_t version,
                              uint64_t bytes, struct why *why) MUST_CHECK;
/* The node has so many more bytes of the answer. */
void recorded_credit(struct recorded *of, struct recorded_node *node,
                     uint64_t exchange, uint64_t bytes);

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
