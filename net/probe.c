#include "net/probe.h"

#include <string.h>
#include <zmq.h>

#define PROBE_PATIENCE (5 * SECOND)

enum {
    VERSION_BYTES = 11, /* a signature of 10 and the major version */
    MAJOR = 3,
    MECHANISM_AT = 12,
    MECHANISM_BYTES = 20,
    GREETING_BYTES = MECHANISM_AT + MECHANISM_BYTES, /* that count here */
    ROUTING_BYTES = 255
};

static const unsigned char version[VERSION_BYTES] = {0xff, [8] = 1, 0x7f,
                                                     MAJOR};

void probe_begin(struct probe *probe, void *context,
                 const struct address *address, nanos now)
{
    int none = 0, ipv6 = address->ipv6;

    memset(probe, 0, sizeof *probe);
    probe->until = now + PROBE_PATIENCE;
    probe->socket = zmq_socket(context, ZMQ_STREAM);
    if (!probe->socket)
        return;
    if (zmq_setsockopt(probe->socket, ZMQ_LINGER, &none, sizeof none) != 0 ||
        zmq_setsockopt(probe->socket, ZMQ_IPV6, &ipv6, sizeof ipv6) != 0 ||
        zmq_connect(probe->socket, address->text) != 0)
        probe_end(probe);
}

static bool is_whole(const struct probe *probe)
{
    return probe->got >= GREETING_BYTES;
}

/* On a new connection; on one that is gone, nothing is sent. */
static void begin_anew(struct probe *probe, const void *routing, size_t size)
{
    if (is_whole(probe))
        return;
    probe->got = 0;
    if (zmq_send(probe->socket, routing, size, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0)
        (void)zmq_send(probe->socket, version, sizeof version, ZMQ_DONTWAIT);
}

/* Reads on until nothing has come. A message that is empty is a connection
 * that has come or gone. */
static void read_on(struct probe *probe)
{
    unsigned char routing[ROUTING_BYTES];
    int size, length;

    while ((size = zmq_recv(probe->socket, routing, sizeof routing,
                            ZMQ_DONTWAIT)) >= 0) {
        unsigned char *place = probe->greeting + probe->got;
        size_t room = sizeof probe->greeting - probe->got;

        length = zmq_recv(probe->socket, place, room, ZMQ_DONTWAIT);
        if (length > 0)
            probe->got += (size_t)length < room ? (unsigned)length
                                              : (unsigned)room;
        else if (length == 0)
            begin_anew(probe, routing, (size_t)size);
    }
}

static enum answer judge(const unsigned char *greeting)
{
    static const char keys[MECHANISM_BYTES] = "CURVE";

    if (greeting[0] != version[0] || greeting[VERSION_BYTES - 1] < MAJOR)
        return ANSWER_NONE;
    return memcmp(greeting + MECHANISM_AT, keys, sizeof keys) == 0
               ? ANSWER_KEYS
               : ANSWER_PLAIN;
}

enum answer probe_look(struct probe *probe, nanos now)
{
    enum answer answer = ANSWER_NONE;

    if (probe->socket)
        read_on(probe);
    if (probe->socket && !is_whole(probe) && now < probe->until)
        return ANSWER_NOT_YET;
    if (is_whole(probe))
        answer = judge(probe->greeting);
    probe_end(probe);
    return answer;
}

void probe_end(struct probe *probe)
{
    if (probe->socket)
        (void)zmq_close(probe->socket);
    probe->socket = NULL;
}
