#include "net/origin.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "core/endpoint.h"

enum { MAPPED_BYTES = 12, NETWORK_BYTES = 8, FOUR_BYTES = 4 };

static const uint8_t mapped[MAPPED_BYTES] = {[10] = 0xff, [11] = 0xff};

static bool is_four(const struct origin *origin)
{
    return memcmp(origin->address, mapped, sizeof mapped) == 0;
}

static bool is_known(const struct origin *origin)
{
    static const uint8_t nothing[sizeof origin->address];

    return memcmp(origin->address, nothing, sizeof nothing) != 0;
}

static void set_four(struct origin *origin, const void *four)
{
    memcpy(origin->address, mapped, sizeof mapped);
    memcpy(origin->address + MAPPED_BYTES, four, FOUR_BYTES);
}

struct origin origin_from(const struct sockaddr_storage *address)
{
    struct origin origin = {.port = 0};

    if (address->ss_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, address, sizeof in);
        set_four(&origin, &in.sin_addr);
        origin.port = ntohs(in.sin_port);
    } else if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 in;

        memcpy(&in, address, sizeof in);
        memcpy(origin.address, &in.sin6_addr, sizeof origin.address);
        origin.port = ntohs(in.sin6_port);
    }
    return origin;
}

bool origin_is_local(const struct origin *origin)
{
    static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;

    if (is_four(origin))
        return origin->address[MAPPED_BYTES] == 127;
    return !is_known(origin) ||
           memcmp(origin->address, &loopback, sizeof loopback) == 0;
}

static uint64_t hash(const struct origin *origin, size_t bytes)
{
    return XXH3_64bits(origin->address, bytes);
}

uint64_t origin_host(const struct origin *origin)
{
    return hash(origin, is_four(origin) ? sizeof origin->address
                                        : (size_t)NETWORK_BYTES);
}

uint64_t origin_prefix(const struct origin *origin)
{
    return hash(origin, is_four(origin) ? sizeof origin->address - 1
                                        : (size_t)NETWORK_BYTES);
}

static void print_address(const uint8_t address[16], bool four, char *text,
                          socklen_t size)
{
    if (!inet_ntop(four ? AF_INET : AF_INET6,
                   four ? address + MAPPED_BYTES : address, text, size))
        text[0] = '\0';
}

void origin_print(const struct origin *origin, char text[ORIGIN_TEXT_BYTES])
{
    char address[INET6_ADDRSTRLEN];

    print_address(origin->address, is_four(origin), address, sizeof address);
    if (is_known(origin))
        (void)snprintf(text, ORIGIN_TEXT_BYTES, "%s%s%s:%u",
                       endpoint_opens(address), address,
                       endpoint_closes(address), (unsigned)origin->port);
    else
        (void)snprintf(text, ORIGIN_TEXT_BYTES, "somebody");
}

void origin_print_host(const struct origin *origin,
                       char text[ORIGIN_TEXT_BYTES])
{
    if (is_known(origin))
        print_address(origin->address, is_four(origin), text,
                      ORIGIN_TEXT_BYTES);
    else
        (void)snprintf(text, ORIGIN_TEXT_BYTES, "somebody");
}
