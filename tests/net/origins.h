/* Origins by the addresses that people write. */
#ifndef TESTS_NET_ORIGINS_H
#define TESTS_NET_ORIGINS_H

#include <arpa/inet.h>

#include "net/origin.h"

/* Of port 0; what is no address: unknown. */
static inline struct origin origin_of(const char *text)
{
    union {
        struct sockaddr_in four;
        struct sockaddr_in6 six;
        struct sockaddr_storage any;
    } to = {.any.ss_family = AF_UNSPEC};

    if (inet_pton(AF_INET, text, &to.four.sin_addr) == 1)
        to.any.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &to.six.sin6_addr) == 1)
        to.any.ss_family = AF_INET6;
    return origin_from(&to.any);
}

#endif
