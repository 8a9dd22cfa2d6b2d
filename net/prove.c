#include "net/prove.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "net/sockets.h"

enum { PATIENCE_MS = 5000, ENDPOINT_BYTES = 64 };

struct trial {
    void *door, *stranger, *monitor;
};

static enum status no_trial(struct why *why)
{
    return because(why, STATUS_CONFIG,
                   "it cannot be tried whether strangers are refused (%s): "
                   "look at this machine's loopback interface",
                   zmq_strerror(errno));
}

static bool set_no_linger(void *socket)
{
    int none = 0;

    return socket &&
           zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none) == 0;
}

/* Opens all of it and begins to knock. */
static bool begin(struct trial *trial, void *context,
                  const struct net_keys *keys, const struct net_keys *strange)
{
    char endpoint[ENDPOINT_BYTES], place[ENDPOINT_BYTES];
    size_t size = sizeof endpoint;

    trial->door = zmq_socket(context, ZMQ_ROUTER);
    trial->stranger = zmq_socket(context, ZMQ_DEALER);
    trial->monitor = zmq_socket(context, ZMQ_PAIR);
    (void)snprintf(place, sizeof place, "inproc://trial-%p",
                   (void *)trial->stranger);
    return set_no_linger(trial->door) && set_no_linger(trial->stranger) &&
           set_no_linger(trial->monitor) &&
           socket_use_keys(trial->door, keys, true) &&
           socket_use_keys(trial->stranger, strange, false) &&
           zmq_socket_monitor(trial->stranger, place,
                              ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                                  ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                                  ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) ==
               0 &&
           zmq_connect(trial->monitor, place) == 0 &&
           zmq_bind(trial->door, "tcp://127.0.0.1:*") == 0 &&
           zmq_getsockopt(trial->door, ZMQ_LAST_ENDPOINT, endpoint, &size) ==
               0 &&
           zmq_connect(trial->stranger, endpoint) == 0;
}

static enum status judge(void *monitor, struct why *why)
{
    zmq_pollitem_t item = {monitor, 0, ZMQ_POLLIN, 0};
    enum sight sight = SIGHT_NONE;
    int fd;

    if (zmq_poll(&item, 1, PATIENCE_MS) > 0)
        sight = monitor_look(monitor, &fd);
    if (sight == SIGHT_REFUSED)
        return STATUS_OK;
    if (sight == SIGHT_READY)
        return because(why, STATUS_CONFIG,
                       "a key that nobody knows was let in: this system's "
                       "libzmq does not ask who may; install another");
    return because(why, STATUS_CONFIG,
                   "nobody answers whether a key is known: this system's "
                   "libzmq lacks ZAP, or the machine is overloaded; try again");
}

static void end(struct trial *trial)
{
    void *const all[] = {trial->monitor, trial->stranger, trial->door};

    if (trial->stranger)
        (void)zmq_socket_monitor(trial->stranger, NULL, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            (void)zmq_close(all[i]);
}

enum status prove_refusal(void *context, const struct net_keys *keys,
                          struct why *why)
{
    struct net_keys strange = {.on = true, .hub = keys->own.shown};
    struct trial trial = {NULL, NULL, NULL};
    enum status status = key_pair_make(&strange.own, why);

    if (status == STATUS_OK && !begin(&trial, context, keys, &strange))
        status = no_trial(why);
    if (status == STATUS_OK)
        status = judge(trial.monitor, why);
    end(&trial);
    key_pair_wipe(&strange.own);
    return status;
}
