/* A star of real processes on this machine, and the one that measures it.
 *
 * The measuring process forks a hub and its nodes and gives the nodes orders
 * through sockets; a node answers each when it is done. Two stars may be alive
 * at the same time and take turns, so that what a machine does meanwhile falls
 * on both alike.
 *
 * Nothing is left behind: a process dies with the one that started it, and a
 * star that does not answer in time ends the program with a sentence.
 *
 * Networks: with a `network` NAME the hub lives in the network namespace
 * NAME-hub, at 10.98.0.1, and node i of n in NAME-i, which bench/kit/network
 * makes; without, all are on the loopback device. */
#ifndef BENCH_KIT_PROCESS_STAR_H
#define BENCH_KIT_PROCESS_STAR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PROCESS_STAR_NODES = 64,
    PROCESS_STAR_PATIENCE = 120 /* seconds for one order */
};

enum order_kind {
    ORDER_DRIFT, /* change the parameters */
    ORDER_ROUND, /* send them all, get the mean of all nodes back */
    ORDER_PACED, /* train for order.seconds, one iteration per order.step */
    ORDER_SHOW   /* say what three of the parameters are */
};

struct order {
    enum order_kind kind;
    double seconds, step;
    unsigned parts; /* of the parameters, one moves in a step; 0: all do */
};

struct answer {
    double begin, end; /* of the work, by seconds() */
    float values[3];   /* ORDER_SHOW: the first, the middle and the last */
    /* Since the node began; what a raw node does not count is 0. */
    uint64_t iterations, applied, bytes;
    double inside, waited; /* of star_state */
};

/* What a process is told. */
struct post {
    const char *address; /* the hub's */
    unsigned port;       /* and the one behind it */
    unsigned node, nodes;
    size_t elements;
    int scores;             /* whether nodes say how well they do: a hub that is
                               told keeps the best centre, which takes memory */
    int orders;             /* where a node reads orders and writes answers */
    char *const *extra;     /* more options of a hub, NULL at the end */
    struct star_keys *keys; /* NULL: nothing is encrypted */
};

struct process_star {
    const char *network;
    struct post post;
    void (*clean)(const struct process_star *); /* when its hub is gone, or
                                                   NULL; `started`: it ended by
                                                   itself */
    unsigned started;
    pid_t hub, nodes[PROCESS_STAR_NODES];
    int orders[PROCESS_STAR_NODES];
};

/* Forks a hub and the nodes, which run these functions. They return when they
 * are done; a hub never is. The star must stay in place: it is stopped when
 * the program ends in whatever way. */
void process_star_start(struct process_star *star,
                        void (*hub)(const struct post *),
                        void (*node)(const struct post *));

/* Forks one more process, in the network of this node, for an order or two. */
pid_t process_star_fork(const struct process_star *star, unsigned node,
                        int *orders, void (*work)(const struct post *));

/* Gives all nodes the same order and waits for all answers. Returns how long
 * it took from the first that began to the last that was done. */
double process_star_order(struct process_star *star, const struct order *order,
                          struct answer *answers);
/* In two halves. */
void process_star_tell(struct process_star *star, const struct order *order);
double process_star_hear(struct process_star *star, double patience,
                         struct answer *answers);

/* The most memory that the hub has had so far, in MiB. */
double process_star_hub_memory(const struct process_star *star);

/* Processor seconds so far, of the hub and of all nodes together. */
struct processor_time {
    double hub, nodes;
};

struct processor_time process_star_time(const struct process_star *star);

/* Once more does no harm. */
void process_star_stop(struct process_star *star);

/* For a node: the next order; 0 when there will be none. */
int next_order(const struct post *post, struct order *order);
void answer_order(const struct post *post, const struct answer *answer);

#endif
