#include "tests/node/library/server.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/check.h"

static void count_note(void *self, nanos now, const struct note *note)
{
    struct server *server = self;

    (void)now;
    (void)pthread_mutex_lock(&server->lock);
    server->notes[note->kind]++;
    (void)pthread_mutex_unlock(&server->lock);
}

unsigned server_notes(struct server *server, enum note_kind kind)
{
    unsigned count;

    (void)pthread_mutex_lock(&server->lock);
    count = server->notes[kind];
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

static void *serve(void *self)
{
    struct server *server = self;

    net_run(server->net);
    return NULL;
}

void move_nothing(void *context, double keep, double scale, const float *values,
                  size_t first, size_t count)
{
    (void)context;
    (void)keep;
    (void)scale;
    (void)values;
    (void)first;
    (void)count;
}

struct server *server_new(void)
{
    struct server *server = calloc(1, sizeof *server);
    const struct preset *mean = preset_find("mean");

    if (!server || !mean)
        abort();
    server->config = (struct hub_config){.policy = mean->policy,
                                         .run = 7,
                                         .every = 2,
                                         .delay = 2,
                                         .wait = 20 * SECOND,
                                         .nodes = 1,
                                         .chunk_elements = 4,
                                         .window = 8,
                                         .staleness = 1000,
                                         .save_interval = SECOND,
                                         .evaluate_interval = SECOND};
    (void)pthread_mutex_init(&server->lock, NULL);
    return server;
}

void server_start(struct server *server)
{
    struct net_owner owner = {.self = server, .note = count_note};
    struct net_config config = {.chunk_bytes = 1 << 20, .workers = 1};
    enum status status = STATUS_UNAVAILABLE;
    struct why why;

    (void)sigemptyset(&config.signals);
    (void)snprintf(config.host, sizeof config.host, "127.0.0.1");
    server->pool = pool_new();
    server->hub = hub_new(&server->config, server->pool);
    for (int tries = 0; status != STATUS_OK && tries < 200; tries++) {
        config.port = fake_next_port();
        status = net_open_hub(&config, hub_machine(server->hub), server->pool,
                              &owner, &server->net, &why);
    }
    if (status != STATUS_OK ||
        pthread_create(&server->thread, NULL, serve, server) != 0)
        abort();
    (void)snprintf(server->address, sizeof server->address, "127.0.0.1:%u",
                   config.port);
}

void server_stop(struct server *server)
{
    if (!server->net)
        return;
    net_stop(server->net);
    (void)pthread_join(server->thread, NULL);
    net_close(&server->net);
}

void server_destroy(struct server **reference)
{
    struct server *server = *reference;

    *reference = NULL;
    server_stop(server);
    hub_destroy(&server->hub);
    pool_destroy(&server->pool);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

enum star_status server_attach(const char *hub, const char *name, float *w,
                               struct star_link **link)
{
    static float gradient[SERVER_ELEMENTS]; /* 0, for hubs that ask for one */
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, w, gradient, SERVER_ELEMENTS);
    const struct star_options options = {
        .size = sizeof options, .hub = hub, .name = name, .quiet = 1};
    char error[256];

    return star_attach(&options, &tensor, 1, link, error, sizeof error);
}
