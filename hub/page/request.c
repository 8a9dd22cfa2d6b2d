#include "hub/page/request.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum access { ACCESS_OPEN, ACCESS_TOKEN };

static const struct {
    const char *method, *path;
    enum access access;
} routes[] = {
#define ROUTE(NAME, METHOD, path, ACCESS, doc) {#METHOD, path, ACCESS_##ACCESS},
#include "hub/page/routes.def"
#undef ROUTE
};

const char *route_method(enum route route)
{
    return strcmp(routes[route].method, "GET") == 0 ? "GET, HEAD"
                                                    : routes[route].method;
}

static void refuse(struct ruling *out, unsigned status, const char *words)
{
    out->status = status;
    out->words = words;
}

/* ---- whose name it is ---- */

/* The host of `host`, `host:port` or `[v6]:port`, whose port is a number. */
static bool split_host(const char *text, char host[REQUEST_HOST_BYTES])
{
    bool bracketed = *text == '[';
    const char *begin = text + bracketed;
    size_t length = strcspn(begin, bracketed ? "]" : ":");
    const char *rest = begin + length;

    if (!length || length >= REQUEST_HOST_BYTES || (bracketed && *rest != ']'))
        return false;
    memcpy(host, begin, length);
    host[length] = '\0';
    rest += bracketed;
    if (*rest == '\0')
        return true;
    length = strspn(rest + 1, "0123456789");
    return *rest == ':' && length >= 1 && length <= 5 && !rest[1 + length];
}

/* An address needs no name that somebody else could give it. */
static bool is_address(const char *host, bool local)
{
    struct in6_addr six;
    struct in_addr four;

    if (inet_pton(AF_INET, host, &four) == 1)
        return !local || ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
    if (inet_pton(AF_INET6, host, &six) == 1)
        return !local || IN6_IS_ADDR_LOOPBACK(&six);
    return false;
}

static bool host_is_ours(const struct guard *guard, const char *text)
{
    char host[REQUEST_HOST_BYTES];

    if (!split_host(text, host))
        return false;
    return strcasecmp(host, "localhost") == 0 ||
           is_address(host, guard->local) ||
           (!guard->local && guard->name[0] &&
            strcasecmp(host, guard->name) == 0);
}

/* Such as http://127.0.0.1:7540, whose host is the one that was asked. */
static bool origin_is_ours(const char *origin, const char *host)
{
    static const char plain[] = "http://", secure[] = "https://";

    if (strncmp(origin, plain, sizeof plain - 1) == 0)
        origin += sizeof plain - 1;
    else if (strncmp(origin, secure, sizeof secure - 1) == 0)
        origin += sizeof secure - 1;
    else
        return false;
    return strcasecmp(origin, host) == 0;
}

/* ---- what it asks for ---- */

static bool is_method(const char *method, const char *wanted)
{
    return strcmp(method, wanted) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(wanted, "GET") == 0);
}

/* Of the two a path may have; a path with another method is told so. */
static void find_route(const struct request *request, struct ruling *out)
{
    refuse(out, 404, "there is no such page");
    for (unsigned i = 0; i < ROUTES; i++) {
        if (strcmp(request->path, routes[i].path) != 0)
            continue;
        out->route = (enum route)i;
        if (is_method(request->method, routes[i].method)) {
            refuse(out, 200, NULL);
            return;
        }
        refuse(out, 405, "this path has another method");
    }
}

static bool read_number(const char **at, uint64_t most, uint64_t *out)
{
    const char *begin = *at;
    uint64_t value = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        value = 10 * value + (uint64_t)(**at - '0');
        if (value > most)
            return false;
    }
    *out = value;
    return *at > begin;
}

static void read_body(const struct request *request, struct ruling *out)
{
    const char *at = request->length;

    if (request->encoding)
        refuse(out, 411, "say the body's length: no Transfer-Encoding");
    else if (request->type && strncasecmp(request->type, "text/plain", 10) != 0)
        refuse(out, 415, "the body is text/plain");
    else if (strcmp(request->method, "POST") != 0) {
        if (at && strcmp(at, "0") != 0)
            refuse(out, 413, "this method has no body");
    } else if (!at)
        refuse(out, 411, "say the body's length: Content-Length");
    else if (!read_number(&at, REQUEST_BODY_BYTES, &out->body) || *at)
        refuse(out, 413, "the body is no more than 4096 bytes");
}

/* Another site's page may show a link to ours, and nothing else. */
static bool another_asks(const struct request *request, enum route route,
                         bool changes)
{
    if (request->site && strcmp(request->site, "same-origin") != 0 &&
        strcmp(request->site, "none") != 0 && (changes || route != ROUTE_PAGE))
        return true;
    return request->origin && !origin_is_ours(request->origin, request->host);
}

static void look_at_origin(const struct request *request, struct ruling *out)
{
    bool changes = strcmp(request->method, "POST") == 0;

    if (another_asks(request, out->route, changes))
        refuse(out, 403, "another site asks");
    else if (changes && (!request->asks || strcmp(request->asks, "1") != 0))
        refuse(out, 403, "say X-Starswitch: 1, which no other site can");
}

/* BOOT-NUMBER, of an event of this server; anything else is no offence. */
static void read_last(const char *at, struct ruling *out)
{
    uint64_t boot, seen;

    if (!at || !read_number(&at, UINT64_MAX / 20, &boot) || *at++ != '-' ||
        !read_number(&at, UINT64_MAX / 20, &seen) || *at)
        return;
    out->boot = boot;
    out->seen = seen;
}

/* The weight among these parameters of a media type: 1 where none is said. */
static double weight_in(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at != ';')
            continue;
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, "q=", 2) == 0)
            return strtod(at + 2, NULL);
        at--;
    }
    return 1;
}

/* How much a media type is wanted, by an Accept; 0: it is not named. */
static double weight_of(const char *type, const char *accept)
{
    size_t length = strlen(type);

    while (*(accept += strspn(accept, " \t,"))) {
        const char *end = accept + strcspn(accept, ",");

        if (strcspn(accept, ",; \t") == length &&
            strncasecmp(accept, type, length) == 0)
            return weight_in(accept + length, end);
        accept = end;
    }
    return 0;
}

static bool wants_open_metrics(const char *accept)
{
    double weight = weight_of("application/openmetrics-text", accept);

    return weight > 0 && weight >= weight_of("text/plain", accept);
}

void request_rule(const struct guard *guard, const struct request *request,
                  struct ruling *out)
{
    *out = (struct ruling){.status = 200, .route = ROUTES};
    if (request->header_bytes > REQUEST_HEADER_BYTES)
        refuse(out, 431, "the header is no more than 8192 bytes");
    else if (request->twice)
        refuse(out, 400, "a header came twice");
    else if (!request->host || !host_is_ours(guard, request->host))
        refuse(out, 421, "this is not that host: ask it by its address");
    if (out->status == 200)
        find_route(request, out);
    if (out->status == 200)
        look_at_origin(request, out);
    if (out->status == 200 && routes[out->route].access == ACCESS_TOKEN &&
        !token_admits(guard->token, request->authorization, request->cookie))
        refuse(out, 401, "say the token: Authorization: Bearer TOKEN");
    if (out->status == 200)
        read_body(request, out);
    if (request->accept)
        out->open_metrics = wants_open_metrics(request->accept);
    read_last(request->last, out);
}
