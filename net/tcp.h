/* TCP sockets as the driver wants them: never waiting, never inherited, with
 * small writes sent at once, and an idle half-open connection noticed after
 * 35 s, one that is being sent on after 20 s. */
#ifndef NET_TCP_H
#define NET_TCP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/status.h"
#include "net/address.h"
#include "net/origin.h"

/* A place to connect to, as the system wants it. */
struct tcp_place {
    struct sockaddr_storage address;
    socklen_t size;
};

enum { TCP_PLACES_MOST = 16 };

struct tcp_places {
    struct tcp_place list[TCP_PLACES_MOST];
    unsigned count;
};

/* A descriptor that listens. UNAVAILABLE, with a sentence. */
enum status tcp_listen(const struct address *address, int *fd,
                       struct why *why) MUST_CHECK;
/* The next connection, or -1 with errno. */
int tcp_accept(int listener, struct origin *from);
/* Looks a name up, which may take as long as the resolver does: at least one
 * place, IPv4 first, and 0; or its error. */
int tcp_look_up(const struct address *address, struct tcp_places *out);
/* Its address as a number, without the port. */
void tcp_print_place(const struct tcp_place *place,
                     char text[ENDPOINT_HOST_BYTES]);
/* A descriptor that connects, or -1 with errno. Segments are at most so long,
 * both ways; 0: as the system has it. */
int tcp_connect(const struct tcp_place *place, unsigned segment);
/* How connecting went: 0 or an errno. A socket that has met itself, as may
 * happen where nobody listens, has not connected. */
int tcp_outcome(int fd);
/* It sends so many bytes a second at most, and lets only so many be on their
 * way here: no more than that waits in a queue. What it has allowed before
 * still may come. */
void tcp_calm(int fd, uint64_t rate, unsigned window);
/* Whether all that was sent has arrived. */
bool tcp_is_flushed(int fd);

#endif
