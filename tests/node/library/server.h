/* A real hub on a thread of this process, and loops that attach to it.
 *
 *     struct server *server = server_new();
 *     server->config.delay = 0;              change what matters
 *     server_start(server);
 *     server_attach(server->address, "a", w, &link);
 *     server_destroy(&server);
 *
 * By default: preset mean, k = 2, d = 2, chunks of 4, 4 and 2 elements. */
#ifndef TESTS_NODE_LIBRARY_SERVER_H
#define TESTS_NODE_LIBRARY_SERVER_H

#include <starswitch.h>

#include "hub/hub.h"
#include "tests/net/fake_machine.h"

enum { SERVER_ELEMENTS = 10 };

struct server {
    struct hub_config config;
    struct pool *pool;
    struct hub *hub;
    struct net *net;
    pthread_t thread;
    pthread_mutex_t lock;
    unsigned notes[NOTE_KINDS];
    char address[32];
};

/* For star_options.change: of a program whose parameters stay as they are. */
void move_nothing(void *context, double keep, double scale, const float *values,
                  size_t first, size_t count);

struct server *server_new(void);
void server_start(struct server *server);
/* What the hub has stays to be looked at. */
void server_stop(struct server *server);
void server_destroy(struct server **server);
unsigned server_notes(struct server *server, enum note_kind kind);
/* A vector `w` of SERVER_ELEMENTS, its gradient 0; nothing goes to stderr. */
enum star_status server_attach(const char *hub, const char *name, float *w,
                               struct star_link **link);

#endif
