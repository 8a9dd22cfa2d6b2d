#include "net/beacon/cast.h"

#ifndef STAR_PORTABLE
#include <czmq.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct announcer {
    zactor_t *actors[CAST_NETWORKS]; /* one per network */
    unsigned count;
};

/* Before its first use: it would read variables ZSYS_*, take SIGINT and
 * SIGTERM, and print what goes wrong. */
static void tame(void)
{
    char name[64];
    size_t length;

    for (char **each = environ; *each;) {
        length = strcspn(*each, "=");
        if (strncmp(*each, "ZSYS_", 5) != 0 || length >= sizeof name) {
            each++;
            continue;
        }
        memcpy(name, *each, length);
        name[length] = '\0';
        (void)unsetenv(name); /* what stood behind it stands here now */
    }
    zsys_handler_set(NULL);
    (void)zsys_init();
    zsys_set_logstream(NULL);
}

/* On one network, by the name of its interface; `*`: heard from all. Its
 * own address, "" or `*` comes back from CONFIGURE. */
static zactor_t *actor_open(const char *interface)
{
    zactor_t *actor;
    char *host;
    bool works;

    zsys_set_interface(interface);
    actor = zactor_new(zbeacon, NULL);
    if (!actor)
        return NULL;
    (void)zsock_send(actor, "si", "CONFIGURE", (int)BEACON_PORT);
    host = zstr_recv(actor);
    works = host && host[0];
    zstr_free(&host);
    if (!works)
        zactor_destroy(&actor);
    return actor;
}

static void hush(void *of)
{
    struct announcer *announcer = of;

    for (unsigned i = 0; i < announcer->count; i++)
        zactor_destroy(&announcer->actors[i]);
    free(announcer);
}

static void *announce(const char *host)
{
    struct announcer *announcer = calloc(1, sizeof *announcer);
    bool everywhere = strcmp(host, "0.0.0.0") == 0;
    ziflist_t *networks;
    const char *name;

    if (!announcer)
        return NULL;
    tame();
    networks = ziflist_new();
    for (name = ziflist_first(networks);
         name && announcer->count < CAST_NETWORKS;
         name = ziflist_next(networks)) {
        if (!everywhere && strcmp(ziflist_address(networks), host) != 0)
            continue;
        announcer->actors[announcer->count] = actor_open(name);
        announcer->count += announcer->actors[announcer->count] != NULL;
    }
    ziflist_destroy(&networks);
    if (announcer->count)
        return announcer;
    free(announcer);
    return NULL;
}

static void say(void *of, const uint8_t bytes[BEACON_BYTES])
{
    const struct announcer *announcer = of;

    for (unsigned i = 0; i < announcer->count; i++)
        (void)zsock_send(announcer->actors[i], "sbi", "PUBLISH", bytes,
                         (size_t)BEACON_BYTES, (int)CAST_INTERVAL);
}

static void *listen_to_all(const char mark[MARK_BYTES])
{
    zactor_t *actor;

    tame();
    actor = actor_open("*");
    if (actor)
        (void)zsock_send(actor, "sb", "SUBSCRIBE", mark, (size_t)MARK_BYTES);
    return actor;
}

static size_t hear(void *listener, int left, uint8_t out[BEACON_BYTES],
                   char host[ENDPOINT_HOST_BYTES])
{
    size_t size = 0;
    zmsg_t *message;
    zframe_t *frame;
    char *from;

    zsock_set_rcvtimeo(listener, left);
    message = zmsg_recv(listener);
    from = message ? zmsg_popstr(message) : NULL;
    frame = message ? zmsg_pop(message) : NULL;
    if (from && frame && strlen(from) < ENDPOINT_HOST_BYTES &&
        zframe_size(frame) <= BEACON_BYTES) {
        size = zframe_size(frame);
        memcpy(out, zframe_data(frame), size);
        memcpy(host, from, strlen(from) + 1);
    }
    zstr_free(&from);
    zframe_destroy(&frame);
    zmsg_destroy(&message);
    return size;
}

static void leave(void *listener)
{
    zactor_t *actor = listener;

    zactor_destroy(&actor);
}

const struct cast cast_zbeacon = {announce,      say,  hush,
                                  listen_to_all, hear, leave};
#endif
