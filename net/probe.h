/* What a hub wants of those who come, asked for with the first bytes of
 * ZMTP 3 (its specification: RFC 23): whoever has said that it speaks version
 * 3 is sent the whole greeting, which names the mechanism.
 *
 * libzmq tells of a mismatch only when its greeting was read before the other
 * side hung up, which a slow machine may never see; who asks so says nothing
 * that anybody could hang up on. */
#ifndef NET_PROBE_H
#define NET_PROBE_H

#include "core/time.h"
#include "net/address.h"

struct probe {
    void *socket; /* NULL: it does not ask now */
    nanos until;  /* its patience; stays when it has ended */
    unsigned got; /* bytes of the greeting */
    unsigned char greeting[64];
};

enum answer {
    ANSWER_NOT_YET,
    ANSWER_NONE, /* in 5 s, or what came is no greeting */
    ANSWER_PLAIN,
    ANSWER_KEYS
};

/* Begins; the context is borrowed. Never waits. */
void probe_begin(struct probe *probe, void *context,
                 const struct address *address, nanos now);
/* Whether there is an answer; if so, nothing is asked any more. */
enum answer probe_look(struct probe *probe, nanos now);
/* Also for one that does not ask, or a zeroed one. */
void probe_end(struct probe *probe);

#endif
