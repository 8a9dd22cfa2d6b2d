/* Peers that are no driver of ours, and a hub with a good node to try them on.
 */
#ifndef TESTS_NET_STRANGERS_H
#define TESTS_NET_STRANGERS_H

#include "keys/key.h"
#include "tests/net/fake_machine.h"

/* A plain DEALER that reads nothing, with a monitor. */
struct stranger {
    void *context, *socket, *monitor;
};

/* Begins to connect; `name` is a routing id, or NULL. */
void meet(struct stranger *stranger, const struct fake_machine *hub,
          enum channel channel, const char *name);
/* The same with the hub's keys, as whoever has this pair. */
void meet_as(struct stranger *stranger, const struct fake_machine *hub,
             enum channel channel, const struct key_pair *own);
/* In two steps: between them its socket may be given settings. */
void meet_later(struct stranger *stranger);
void meet_now(struct stranger *stranger, const struct fake_machine *hub,
              enum channel channel);
void part(struct stranger *stranger);
/* Waits until the hub has cut it; false after 20 s. */
bool is_cut(struct stranger *stranger);

/* A TCP connection to this machine, or -1. */
int plain_connection(unsigned port);
/* Over it: what a "DEALER" or a "ROUTER" says first, without keys. */
void shake_hands_as(int fd, const char *type);
void shake_hands(int fd); /* as a DEALER */
/* False when not all could be sent. */
bool send_all(int fd, const unsigned char *bytes, size_t size);

/* A hub that echoes, and a good node of it that pings. */
struct pair {
    struct fake_machine *hub, *node;
};

void open_pair(struct pair *pair);
/* The same with keys: those of the hub, and of the node, which it knows. */
void open_keyed_pair(struct pair *pair);
/* CHECKs that the good node has noticed nothing. */
void close_pair(struct pair *pair);

/* The good node's reaction: pings at each WAKE, counts the answers. */
void ping_on(struct fake_machine *fake, const struct event *event,
             struct effects *out);

#endif
