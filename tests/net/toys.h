/* Machines to play with, each on a driver and a thread of its own.
 *
 * A toy counts its events, keeps a log of them, and lets `react` answer. The
 * test's thread waits for what it wants to see, with a generous deadline, and
 * alone calls CHECK. */
#ifndef TESTS_NET_TOYS_H
#define TESTS_NET_TOYS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"

enum { TOY_LOG = 8192, TOY_CHUNK = 1 << 20 };

struct toy_entry {
    enum event_kind kind;
    peer_id peer;
    enum channel channel;
    enum msg_kind msg;
    uint64_t number; /* of a CHUNK or PING, or the key of a JOIN */
};

struct toy {
    /* Set by the test before toy_start. */
    void (*react)(struct toy *toy, const struct event *event,
                  struct effects *out);
    bool binds;
    nanos wake_every; /* 0: never */
    struct net_config config;
    struct key allowed[4]; /* by a hub with keys, from its start */
    unsigned allowed_count;
    struct key enrolment; /* likewise, if `enrols` */
    bool enrols;
    /* For the test's use in react, under the lock. */
    struct blob *payload;
    uint64_t sent, received, wanted, window, wrong;
    peer_id last_peer;
    bool flag;
    /* The toy's own; read by the test with toy_count and toy_find. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct net *net;
    struct pool *pool;
    struct machine machine;
    nanos wake_at;
    struct toy_entry log[TOY_LOG]; /* the first events but WAKEs */
    unsigned logged;
    unsigned counts[EVENT_KINDS];
    unsigned notes, locals, signals, watched;
    char note[NOTE_BYTES], address[ADDRESS_BYTES]; /* the last one's */
    void (*at_tick)(struct toy *toy);
};

/* A toy that only counts; chunks of 1 MiB, a window of 8, two workers. */
struct toy *toy_new(bool binds);
/* What the toy's loop is to do at its next tick, in place of what is set. */
void toy_at_tick(struct toy *toy, void (*act)(struct toy *toy));

/* Opens the driver and runs it. A hub takes the next pair of ports that is
 * free; a node needs config.port. Exits when that does not work. */
void toy_start(struct toy *toy);
/* Ends the loop and closes the driver, but keeps the toy. */
void toy_stop(struct toy *toy);
void toy_destroy(struct toy **toy);

/* A node of that hub. */
struct toy *toy_node(const struct toy *hub);

/* Waits until a counter has come so far; false after 60 s. */
bool toy_wait(struct toy *toy, const unsigned *counter, unsigned at_least);
bool toy_wait_number(struct toy *toy, const uint64_t *number,
                     uint64_t at_least);
/* Waits for the nth event of this kind (from 1) with this channel. */
bool toy_wait_event(struct toy *toy, enum event_kind kind, enum channel channel,
                    unsigned nth);
unsigned toy_count(struct toy *toy, enum event_kind kind, enum channel channel);

/* A reaction: every message goes back to whom it came from. */
void toy_echo(struct toy *toy, const struct event *event, struct effects *out);

struct msg toy_ping(uint64_t number);
struct msg toy_chunk(uint64_t number);

/* The first of two ports of 127.0.0.1 that are likely to be free. */
uint16_t toy_next_port(void);
/* A port of 127.0.0.1 where nobody is, nor will be while this process lives. */
uint16_t port_of_nobody(void);

#endif
