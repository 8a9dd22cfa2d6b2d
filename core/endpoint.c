#include "core/endpoint.h"

#include <string.h>

/* The bulk socket needs the port behind it. */
enum { PORT_MAX = 65534, FREE_PORT = 1024 /* the first for everybody */ };

static bool read_port(const char *text, uint16_t *out)
{
    unsigned port = 0;

    for (; *text >= '0' && *text <= '9' && port <= PORT_MAX; text++)
        port = port * 10 + (unsigned)(*text - '0');
    if (*text || port < 1 || port > PORT_MAX)
        return false;
    *out = (uint16_t)port;
    return true;
}

static bool is_host(const char *text, size_t length)
{
    if (length == 0 || length >= ENDPOINT_HOST_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f ||
            strchr("/\\[]\"'#,;", text[i]))
            return false;
    return true;
}

enum status endpoint_parse(const char *text, struct endpoint *out,
                           struct why *why)
{
    bool bracket = *text == '[';
    const char *host = text + bracket;
    size_t length = strcspn(host, bracket ? "]" : ":");
    const char *rest = host + length;
    uint16_t port = DEFAULT_PORT, alone = 0;

    if (bracket && *rest)
        rest++;
    else if (bracket)
        length = 0; /* never closed */
    if (!is_host(host, length) || (*rest && *rest != ':') ||
        (*rest && strchr(rest + 1, ':')))
        return because(why, STATUS_USAGE,
                       "expected a host such as 192.168.1.10, pc0:7541 or "
                       "[fe80::1]:7541");
    if (!bracket && !*rest && read_port(text, &alone) && alone >= FREE_PORT)
        return because(why, STATUS_USAGE,
                       "%u is a port without its host: say 127.0.0.1:%u for "
                       "this PC alone, or its address on the network",
                       alone, alone);
    if (*rest && !read_port(rest + 1, &port))
        return because(why, STATUS_USAGE,
                       "expected a port from 1 to 65534 behind the colon");
    *out = (struct endpoint){.port = port};
    memcpy(out->host, host, length);
    return STATUS_OK;
}

const char *endpoint_opens(const char *host)
{
    return strchr(host, ':') ? "[" : "";
}

const char *endpoint_closes(const char *host)
{
    return strchr(host, ':') ? "]" : "";
}

void endpoint_print(const struct endpoint *endpoint, struct text *out)
{
    text_add(out, "%s%s%s:%u", endpoint_opens(endpoint->host), endpoint->host,
             endpoint_closes(endpoint->host), (unsigned)endpoint->port);
}

enum status endpoints_parse(const char *text, struct endpoints *out,
                            struct why *why)
{
    struct endpoints next = {.count = 0};
    enum status status = STATUS_OK;
    bool more = true;

    while (more && status == STATUS_OK) {
        char one[ENDPOINT_HOST_BYTES + 16];
        size_t length = strcspn(text, ",");

        if (next.count == ENDPOINTS_MAX || length >= sizeof one)
            return because(why, STATUS_USAGE,
                           "expected at most %d hosts with commas between them",
                           ENDPOINTS_MAX);
        memcpy(one, text, length);
        one[length] = '\0';
        status = endpoint_parse(one, &next.list[next.count++], why);
        more = text[length] == ',';
        text += length + more;
    }
    if (status == STATUS_OK)
        *out = next;
    return status;
}

void endpoints_print(const struct endpoints *endpoints, struct text *out)
{
    for (unsigned i = 0; i < endpoints->count; i++) {
        text_add(out, "%s", i ? "," : "");
        endpoint_print(&endpoints->list[i], out);
    }
}

bool endpoint_is_loopback(const struct endpoint *endpoint)
{
    const char *host = endpoint->host;
    bool is_number = host[strspn(host, "0123456789.")] == '\0';

    return (is_number && strncmp(host, "127.", 4) == 0) ||
           strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}
