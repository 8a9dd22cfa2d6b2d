#include "net/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "net/name.h"

/* So long a program that starts waits for its resolver. */
#define PATIENCE (2 * SECOND)

/* Looks `host` up; 0 and a numeric address, or the resolver's error. */
static int look_up(const char *host, char numeric[NI_MAXHOST])
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL, *chosen;
    int error = getaddrinfo(host, NULL, &hints, &found);

    if (error || !found)
        return error ? error : EAI_NONAME;
    chosen = found;
    for (struct addrinfo *each = found; each; each = each->ai_next)
        if (each->ai_family == AF_INET && chosen->ai_family != AF_INET)
            chosen = each;
    error = getnameinfo(chosen->ai_addr, chosen->ai_addrlen, numeric,
                        NI_MAXHOST, NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(found);
    return error;
}

static void write_address(const char *host, const char *place, unsigned port,
                          struct address *out)
{
    (void)snprintf(out->host, sizeof out->host, "%.255s", host);
    (void)snprintf(out->place, sizeof out->place, "%.255s", place);
    out->port = port;
    out->unanswered = false;
}

static enum status check_port(unsigned port, struct why *why)
{
    if (port >= 1 && port < 65535)
        return STATUS_OK;
    return because(why, STATUS_USAGE,
                   "%u is no port; take one from 1 to 65534, as the next one "
                   "is needed too",
                   port);
}

static enum status unknown(const char *host, int error, struct why *why)
{
    return because(why, STATUS_UNAVAILABLE,
                   "the host \"%.100s\" is not known (%s); check its spelling, "
                   "or give its address",
                   host, gai_strerror(error));
}

struct address address_behind(const struct address *address)
{
    struct address behind = *address;

    behind.port++;
    return behind;
}

enum status address_to_bind(const char *host, unsigned port,
                            struct address *out, struct why *why)
{
    char numeric[NI_MAXHOST] = "0.0.0.0";
    int error = 0;

    if (check_port(port, why) != STATUS_OK)
        return STATUS_USAGE;
    if (*host && strcmp(host, "*") != 0)
        error = look_up(host, numeric);
    if (error)
        return unknown(host, error, why);
    write_address(host, numeric, port, out);
    return STATUS_OK;
}

enum status address_to_reach(const char *host, unsigned port,
                             struct address *out, struct why *why)
{
    int error;

    if (check_port(port, why) != STATUS_OK)
        return STATUS_USAGE;
    error = name_ask(host, PATIENCE);
    if (error && error != EAI_AGAIN && error != EAI_SYSTEM &&
        error != EAI_INPROGRESS)
        return unknown(host, error, why);
    write_address(host, host, port, out);
    out->unanswered = error == EAI_INPROGRESS;
    return STATUS_OK;
}
