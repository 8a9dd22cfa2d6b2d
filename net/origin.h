/* Where a connection comes from: the address of its other end.
 *
 * Who has no key is known by it: by the address itself in IPv4, by the first
 * 64 bits in IPv6, as a host has all of the rest. What is said in logs is said
 * once per prefix, /24 or /64. */
#ifndef NET_ORIGIN_H
#define NET_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ORIGIN_TEXT_BYTES = 64 };

struct origin {
    uint8_t address[16]; /* IPv6, or IPv4 as ::ffff:a.b.c.d; zero: unknown */
    uint16_t port;
};

/* Of the other end of a connection, as the system writes it: IPv4 or IPv6. */
struct origin origin_from(const struct sockaddr_storage *address);

/* Whether it is this machine, or unknown. */
bool origin_is_local(const struct origin *origin);
/* Numbers that are the same for the same host, and for the same prefix. */
uint64_t origin_host(const struct origin *origin);
uint64_t origin_prefix(const struct origin *origin);

/* address:port, or "somebody"; the address alone. */
void origin_print(const struct origin *origin, char text[ORIGIN_TEXT_BYTES]);
void origin_print_host(const struct origin *origin,
                       char text[ORIGIN_TEXT_BYTES]);

#endif
