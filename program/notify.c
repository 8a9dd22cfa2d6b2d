#include "program/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024 };

/* A path, or behind an @ a name without a file. Returns 0 for neither. */
static socklen_t read_address(const char *from, struct sockaddr_un *out)
{
    size_t length = strlen(from);

    if ((from[0] != '/' && from[0] != '@') || !from[1] ||
        length >= sizeof out->sun_path)
        return 0;
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(out->sun_path, from, length);
    if (from[0] == '@')
        out->sun_path[0] = '\0';
    else
        length++; /* its zero */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void send_to(const struct sockaddr_un *address, socklen_t size,
                    const char *text)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return;
    (void)sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                 (const struct sockaddr *)address, size);
    (void)close(fd);
}

void notify(const char *format, ...)
{
    const char *where = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address;
    socklen_t size = where ? read_address(where, &address) : 0;
    char text[TEXT_BYTES];
    va_list arguments;

    if (!size)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_to(&address, size, text);
}

/* A whole number above 0, or 0. */
static uint64_t read_number(const char *name)
{
    const char *text = getenv(name);
    uint64_t number;
    char *end;

    if (!text || text[0] < '0' || text[0] > '9')
        return 0;
    errno = 0;
    number = strtoull(text, &end, 10);
    return *end || errno ? 0 : number;
}

nanos notify_watchdog(void)
{
    uint64_t usec = read_number("WATCHDOG_USEC");

    /* What the manager wants of another process was inherited. */
    if (getenv("WATCHDOG_PID") &&
        read_number("WATCHDOG_PID") != (uint64_t)getpid())
        return 0;
    if (usec > (uint64_t)(NEVER / MICROSECOND))
        return 0;
    return (nanos)usec * MICROSECOND;
}
