/* From a host as people write it to where a socket goes.
 *
 * Both look names up when a program starts, and who listens waits as long as
 * the system's resolver takes. IPv4 is taken where a name has both. */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include "core/endpoint.h"
#include "core/status.h"

struct address {
    char host[ENDPOINT_HOST_BYTES];  /* as people wrote it */
    char place[ENDPOINT_HOST_BYTES]; /* the same, or a numeric address */
    unsigned port;
    bool unanswered; /* the resolver had not answered when it was asked first */
};

/* The numeric address of a host; `*` and an empty host are all addresses.
 * UNAVAILABLE when the name is not known; USAGE when the port is none. */
enum status address_to_bind(const char *host, unsigned port,
                            struct address *out, struct why *why) MUST_CHECK;
/* Keeps the name, so that it is looked up anew for each connection. A resolver
 * that does not answer now, within two seconds, is no error. */
enum status address_to_reach(const char *host, unsigned port,
                             struct address *out, struct why *why) MUST_CHECK;
/* The port behind it, on the same host. */
struct address address_behind(const struct address *address);

#endif
