/* What the system has counted of one TCP connection: net/station.h gives it
 * for a link (station_measure). */
#ifndef NET_FACTS_H
#define NET_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"

enum { FACTS_ADDRESS_BYTES = 48 };

struct tcp_facts {
    bool known;        /* the system said something */
    nanos at;          /* when */
    uint64_t acked;    /* bytes that the other end's system has taken, */
    uint64_t came;     /* and that have come, without a gap before them */
    uint64_t sent;     /* segments with data that went, those sent again too, */
    uint64_t resent;   /* and those alone */
    uint64_t received; /* segments with data that came, */
    uint64_t astray;   /* and those of them that came behind a gap */
    uint64_t unsent;   /* bytes that wait */
    unsigned packet;   /* bytes of the largest packet that goes this way */
    unsigned path;     /* the same, as the system knows the path's MTU */
    nanos round_trip;  /* smoothed */
    char local[FACTS_ADDRESS_BYTES]; /* this end's address, a number */
};

void tcp_facts_read(int fd, struct tcp_facts *out);

#endif
