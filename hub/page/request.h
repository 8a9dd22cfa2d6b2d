/* Whom the page's server answers: the rules for a request, before anything is
 * done for it.
 *
 * A browser sends what any site tells it to, to this machine too. So a name
 * that is not this machine's is refused (a site may let its name mean
 * 127.0.0.1), and whoever asks for a change must show that it is our page, or
 * no browser: by a header that a browser lets no other site set, and by its
 * origin. Bodies are short, their length is said before, and of one kind.
 * Nothing is decoded, and what is not a row of routes.def is not there.
 *
 * Only texts are looked at: it is pure, and fuzzed. */
#ifndef HUB_PAGE_REQUEST_H
#define HUB_PAGE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hub/page/token.h"

enum {
    REQUEST_HEADER_BYTES = 8 * 1024,
    REQUEST_BODY_BYTES = 4 * 1024,
    REQUEST_HOST_BYTES = 256
};

enum route {
#define ROUTE(NAME, METHOD, path, ACCESS, doc) ROUTE_##NAME,
#include "hub/page/routes.def"
#undef ROUTE
    ROUTES
};

/* The headers that are looked at: HEADER(member, name). */
#define REQUEST_HEADERS(HEADER)                                                \
    HEADER(host, "Host")                                                       \
    HEADER(origin, "Origin")                                                   \
    HEADER(site, "Sec-Fetch-Site")                                             \
    HEADER(asks, "X-Starswitch")                                               \
    HEADER(authorization, "Authorization")                                     \
    HEADER(cookie, "Cookie")                                                   \
    HEADER(length, "Content-Length")                                           \
    HEADER(encoding, "Transfer-Encoding")                                      \
    HEADER(type, "Content-Type")                                               \
    HEADER(accept, "Accept")                                                   \
    HEADER(last, "Last-Event-ID")

/* As it came; what is not there is NULL. Borrowed for the call. */
struct request {
    const char *method, *path;
#define HEADER(member, name) const char *member;
    REQUEST_HEADERS(HEADER)
#undef HEADER
    size_t header_bytes; /* of all headers */
    bool twice;          /* one of these came more than once */
};

/* Whom the server lets in. */
struct guard {
    bool local;                    /* it listens on loopback only */
    char name[REQUEST_HOST_BYTES]; /* of this machine; may be empty */
    const struct token *token;
};

struct ruling {
    unsigned status;   /* 200: it is to be answered; else the answer's */
    const char *words; /* why not, for people; NULL where it is */
    enum route route;
    uint64_t body;       /* bytes to come */
    bool open_metrics;   /* the form of metrics that is wanted */
    uint64_t boot, seen; /* of Last-Event-ID; 0: none */
};

void request_rule(const struct guard *guard, const struct request *request,
                  struct ruling *out);

/* The methods that the path of a 405 has, for its header Allow. */
const char *route_method(enum route route);

#endif
