/* The shim's TCP sockets: none of them blocks or waits to fill packets, and all
 * have small buffers. */
#ifndef SIM_SHIM_SOCKET_H
#define SIM_SHIM_SOCKET_H

#include <sys/socket.h>

#include "core/endpoint.h"
#include "core/status.h"

/* A host's address, and the port that people named. */
struct shim_address {
    struct sockaddr_storage place;
    socklen_t size;
    struct endpoint endpoint;
};

/* Looks up what endpoint_parse has read; IPv4 where there are both.
 * UNAVAILABLE: the host is not known. */
enum status shim_resolve(const struct endpoint *endpoint,
                         struct shim_address *out, struct why *why) MUST_CHECK;

/* Listens `behind` ports behind the address's. UNAVAILABLE. */
enum status shim_listen(const struct shim_address *address, unsigned behind,
                        int *out, struct why *why) MUST_CHECK;
/* The next who has come, or -1 and errno. */
int shim_accept(int listener);
/* Begins to connect, or -1. */
int shim_connect(const struct shim_address *address, unsigned behind);
/* Closes the socket; the other side sees a reset. */
void shim_reset(int fd);

#endif
