/* Where a program listens or connects, as people write it. */
#ifndef CORE_ENDPOINT_H
#define CORE_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "core/text.h"

enum {
    ENDPOINT_HOST_BYTES = 256,
    DEFAULT_PORT = 7541,
    ENDPOINTS_MAX = 8,
    ENDPOINTS_TEXT_BYTES = ENDPOINTS_MAX * (ENDPOINT_HOST_BYTES + 9)
};

struct endpoint {
    char host[ENDPOINT_HOST_BYTES]; /* name or address; IPv6 unbracketed */
    uint16_t port;                  /* control; the bulk socket has port + 1 */
};

/* Several, in the order in which they are tried. */
struct endpoints {
    struct endpoint list[ENDPOINTS_MAX];
    unsigned count;
};

/* Reads host, host:port, [IPv6] or [IPv6]:port. USAGE with what was expected
 * in `why`; then `out` is unchanged. Nothing is resolved. */
enum status endpoint_parse(const char *text, struct endpoint *out,
                           struct why *why) MUST_CHECK;

/* What stands before and behind a host that a port follows: IPv6 is in
 * brackets. */
const char *endpoint_opens(const char *host);
const char *endpoint_closes(const char *host);

/* Adds host:port as endpoint_parse reads it. */
void endpoint_print(const struct endpoint *endpoint, struct text *out);

/* The same of 1 to ENDPOINTS_MAX, with commas between them. */
enum status endpoints_parse(const char *text, struct endpoints *out,
                            struct why *why) MUST_CHECK;
void endpoints_print(const struct endpoints *endpoints, struct text *out);

/* Whether only this machine can reach the endpoint, judged by its text. */
bool endpoint_is_loopback(const struct endpoint *endpoint);

#endif
