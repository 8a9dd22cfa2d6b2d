/* Fake machines for tests, each on a driver and a thread of its own.
 *
 * A fake machine counts its events, keeps a log of them, and lets `react`
 * answer. The test's thread waits for what it wants to see, with a generous
 * deadline, and alone calls CHECK. */
#ifndef TESTS_NET_FAKE_MACHINE_H
#define TESTS_NET_FAKE_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"

enum { FAKE_LOG = 8192, FAKE_CHUNK = 1 << 20 };
/* How long a test waits for what must come. */
#define FAKE_PATIENCE (30 * SECOND)

struct fake_entry {
    enum event_kind kind;
    peer_id peer;
    enum channel channel;
    enum msg_kind msg;
    uint64_t number; /* of a CHUNK or PING, or the key of a JOIN */
};

struct fake_machine {
    /* Set by the test before fake_start. */
    void (*react)(struct fake_machine *fake, const struct event *event,
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
    /* The fake machine's own; read by the test with fake_count and fake_find.
     */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct net *net;
    struct pool *pool;
    struct machine machine;
    nanos wake_at;
    struct fake_entry log[FAKE_LOG]; /* the first events but WAKEs */
    unsigned logged;
    unsigned counts[EVENT_KINDS];
    unsigned notes, locals, signals, watched;
    char note[NOTE_BYTES], address[ADDRESS_BYTES]; /* the last one's */
    void (*at_tick)(struct fake_machine *fake);
};

/* A fake machine that only counts; chunks of 1 MiB, a window of 8, two workers.
 */
struct fake_machine *fake_new(bool binds);
/* What the machine's loop is to do at its next tick, in place of what is set.
 */
void fake_at_tick(struct fake_machine *fake,
                  void (*act)(struct fake_machine *fake));

/* Opens the driver and runs it. A hub takes the next pair of ports that is
 * free; a node needs config.port. Exits when that does not work. */
void fake_start(struct fake_machine *fake);
/* Ends the loop and closes the driver, but keeps the machine. */
void fake_stop(struct fake_machine *fake);
void fake_destroy(struct fake_machine **fake);

/* A node of that hub. */
struct fake_machine *fake_node(const struct fake_machine *hub);

/* A millisecond. */
void fake_rest(void);
/* Waits until a counter has come so far; false after 60 s. */
bool fake_wait(struct fake_machine *fake, const unsigned *counter,
               unsigned at_least);
bool fake_wait_number(struct fake_machine *fake, const uint64_t *number,
                      uint64_t at_least);
/* Waits for the nth event of this kind (from 1) with this channel. */
bool fake_wait_event(struct fake_machine *fake, enum event_kind kind,
                     enum channel channel, unsigned nth);
unsigned fake_count(struct fake_machine *fake, enum event_kind kind,
                    enum channel channel);

/* A reaction: every message goes back to whom it came from. */
void fake_echo(struct fake_machine *fake, const struct event *event,
               struct effects *out);

struct msg fake_ping(uint64_t number);
struct msg fake_chunk(uint64_t number);

/* The first of two ports of 127.0.0.1 that are likely to be free. */
uint16_t fake_next_port(void);
/* A port of 127.0.0.1 where nobody is, nor will be while this process lives. */
uint16_t port_of_nobody(void);

#endif
