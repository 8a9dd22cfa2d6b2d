/* A virtual star: one hub and any number of nodes with simulated trainers,
 * driven on a virtual clock.
 *
 * It is a driver as net/ is: it knows machines by their seam, owns time and
 * the network, and runs the same hub and node that production runs. Messages
 * go through their wire format; each connection delivers in order, with
 * latency, jitter and bandwidth, and all of them share the hub's port
 * (sim/port.h); processes and links can fail in every way that PCs and cables
 * do. A run depends on nothing but its configuration and seed. One thread; no
 * clock, no global state.
 *
 * It can follow a trace, whose time 0 is the world's. What the trace says of a
 * node, by its name, or of all nodes, takes the place of what its link and its
 * trainer's `step` have, while it says something; what it says of the hub that
 * of the port, each way by itself. Where it says that a rate is 0 or that all
 * packets are lost, the link carries nothing and nobody is told, as
 * with world_cut; when that ends, all goes on.
 *
 *     struct world *world = world_new(seed, &config);
 *     unsigned node = world_add_node(world, &description);
 *     world_start(world, WORLD_HUB);
 *     world_start(world, node);
 *     world_run(world, 10 * SECOND);
 *     world_destroy(&world); */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/schema.h"
#include "core/time.h"
#include "hub/hub.h"
#include "node/node.h"
#include "sim/trace/trace.h"
#include "sim/trainer.h"

/* Stands for the hub where a process is asked for. */
#define WORLD_HUB UINT32_MAX

/* One-way trips from a node's connecting to its first message at the hub: SYN
 * and its answer; ZMTP 3's signature, version, greeting and READY, each of
 * which an end sends when it has the other's one before; and the message. */
enum { WORLD_GREETING_TRIPS = 7 };

/* A node's link; each of its connections has it to itself, each way. Zero: no
 * such thing.
 *
 * A lost packet is sent again, so loss is time, as under TCP. A message of n
 * packets of 1,448 bytes loses each with the probability `loss`, and each
 * repetition again:
 *
 * - What has at least three packets behind it is missed by the receiver at
 *   once, and all such are repeated together, a round trip later (fast
 *   retransmit, RFC 5681; selective acknowledgements, RFC 6675).
 * - What has fewer waits for the timeout: 200 ms (the least that Linux has)
 *   and a round trip, twice that each time that it is lost again (RFC 6298).
 *   What its connection sends next counts as behind it.
 * - No connection is faster than 1.22 MSS / (RTT sqrt(loss)), what congestion
 *   avoidance reaches on average (Mathis, Semke, Mahdavi and Ott, "The
 *   macroscopic behavior of the TCP congestion avoidance algorithm", 1997).
 *
 * The round trip is that of the link, 2 latency + jitter, without queues. */
struct world_link {
    nanos latency, jitter; /* a message takes latency + [0, jitter) */
    uint64_t up, down;     /* bytes per second, towards and from the hub */
    double loss;           /* in [0, 1) */
};

/* What a filter makes of a message; as it comes: one copy, no delay. */
struct world_fate {
    unsigned copies; /* 0: it is lost */
    nanos delay;     /* of all copies */
    nanos apart;     /* between two copies */
    bool in_order;   /* what comes later waits for it */
};

/* A message on its way, borrowed for the call. */
struct world_message {
    unsigned node;        /* at the other end from the hub */
    uint64_t incarnation; /* that this connection belongs to */
    bool to_hub;
    const struct msg *msg;
    struct blob *payload;
};

/* A machine has taken a step; all borrowed for the call. */
struct world_step {
    unsigned process; /* a node, or WORLD_HUB */
    bool trainer;     /* of the node */
    const struct event *event;
    const struct effects *effects;
};

struct world_hooks {
    void *context;
    void (*after_step)(void *context, const struct world_step *step);
    void (*filter)(void *context, const struct world_message *message,
                   struct world_fate *fate);
    /* A line of the transcript; `now` is part of it. */
    void (*line)(void *context, const char *line);
    /* Scores the centre; its data are in context. */
    void (*evaluate)(void *context, const float *theta, size_t elements,
                     double *loss, double *accuracy);
};

struct world_config {
    struct hub_config hub;          /* save, evaluate, context are the world's;
                                       with a scale, the model is a surrogate of
                                       one that is so much larger */
    const struct schema *schema;    /* of the run; must outlive the world */
    struct world_link link;         /* of nodes that do not have their own */
    uint64_t port_bytes_per_second; /* of the hub, each way; 0: no limit */
    const struct trace *trace;      /* NULL: none; must outlive the world */
    nanos reconnect;                /* until a lost connection is tried again */
    nanos job, job_jitter;          /* a job takes job + [0, jitter) */
    bool saves;                     /* the hub may save, to memory */
    bool unencoded;                 /* messages skip their wire format */
    bool unjudged;                  /* do not ask machines for invariants */
    struct world_hooks hooks;
};

struct world_node {
    const char *name;              /* copied */
    const struct schema *schema;   /* NULL: that of the run */
    uint64_t uuid;                 /* 0: the place of the node, from 1 */
    struct world_link link;        /* all zero: that of the world */
    uint64_t up, down, promised;   /* of its node_config */
    struct trainer_config trainer; /* start and context must outlive it */
};

/* What the hub has saved, in memory that survives its crashes. */
struct world_saved {
    unsigned count; /* saves so far */
    bool last;      /* the final one */
    uint64_t version, best_version;
    size_t elements;
    float *theta, *best;       /* NULL until there is one */
    float *slot[POLICY_SLOTS]; /* of the merge rule; the same */
    char *state;
    uint64_t lives; /* of hubs that had this disk */
};

struct world;

struct world *world_new(uint64_t seed, const struct world_config *config);
void world_destroy(struct world **world);
/* Describes a node; it does not run yet. Returns its number, from 0. */
unsigned world_add_node(struct world *world, const struct world_node *node);

/* Starts a process that is not running. A hub goes on from what was saved; a
 * node has its former uuid, a higher incarnation and its first parameters. */
void world_start(struct world *world, unsigned process);
/* kill -9. Silent: the machine lost its power, so nobody is told. */
void world_crash(struct world *world, unsigned process, bool silent);
/* kill -9, and what it has saved is lost: a hub begins another run, unless its
 * nodes know better. */
void world_wipe(struct world *world, unsigned process);
/* SIGTERM of a node: its last offer, then it is gone. For a hub: the end of
 * the run. */
void world_leave(struct world *world, unsigned process);
/* SIGSTOP and SIGCONT: what comes meanwhile waits. */
void world_freeze(struct world *world, unsigned process);
void world_thaw(struct world *world, unsigned process);
/* Takes a node's link down. Silent: messages wait as under TCP, nobody is
 * told; else both ends see their connections break. */
void world_cut(struct world *world, unsigned node, bool silent);
void world_repair(struct world *world, unsigned node);

/* Sends the hub a message as if the node had, on the connection for its kind;
 * if there is none, nothing happens. The payload is referenced. For nodes that
 * lie; the filter sees it, too. */
void world_say(struct world *world, unsigned node, const struct msg *msg,
               struct blob *payload);

/* Calls `act` at a time not before now. */
void world_at(struct world *world, nanos at,
              void (*act)(void *context, struct world *world), void *context);

/* Runs until the time is `until`, or an invariant is broken: then false. */
bool world_run(struct world *world, nanos until);
/* The same, but ends, with true, as soon as `enough` says so; false when the
 * time is over before. */
bool world_run_until(struct world *world, nanos until,
                     bool (*enough)(void *context, struct world *world),
                     void *context);

nanos world_now(const struct world *world);
/* NULL while it does not run. */
struct hub *world_hub(const struct world *world);
struct node *world_node(const struct world *world, unsigned node);
struct trainer *world_trainer(const struct world *world, unsigned node);
/* A node's link as it is now. */
const struct world_link *world_link_now(const struct world *world,
                                        unsigned node);
const struct world_saved *world_saved(const struct world *world);
/* The first broken invariant, as a sentence, or NULL. */
const char *world_broken(const struct world *world);
/* A hash of all that has happened so far. */
uint64_t world_history(const struct world *world);

#endif
