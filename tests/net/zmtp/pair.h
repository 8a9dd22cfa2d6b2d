/* Two engines, one at each end of a wire that is an array. */
#ifndef TESTS_NET_ZMTP_PAIR_H
#define TESTS_NET_ZMTP_PAIR_H

#include "net/zmtp/zmtp.h"

enum { WIRE_PAYLOAD = 100000 };

struct wire {
    struct zmtp server, client;
    struct zmtp_keys server_keys, client_keys;
    struct pool *pool;
    enum zmtp_fault verdict; /* of the server, about the client's key */
    bool keyed;
    unsigned shaken; /* ends that are */
    size_t grain;    /* bytes that are moved at a time; 0: all */
};

void wire_open(struct wire *wire, bool keyed);
void wire_close(struct wire *wire);

/* Moves what the one has to say to the other, and back, until nobody has
 * anything to say; the last event that was not WANTS, of either end. */
enum zmtp_event wire_run(struct wire *wire);
/* Gives an end bytes, and blobs when it asks; up to its next other event. */
enum zmtp_event wire_give(struct wire *wire, struct zmtp *end,
                          const unsigned char *bytes, size_t size);
/* A message as it goes over the wire; returns its length. */
size_t wire_message(struct wire *wire, struct zmtp *from, const char *header,
                    const void *payload, size_t size, unsigned char *out);

#endif
