#include "program/service.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "program/notify.h"

#define STATUS_INTERVAL (5 * SECOND)
/* To end: more is asked for in time. */
#define EXTENSION (30 * SECOND)

enum {
    MAPPED_BYTES = 32 << 20, /* what is larger comes from the system */
    KEPT_BYTES = 16 << 20    /* unused memory at the end of a heap */
};

static void secure_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        (void)close(fd);
}

void service_begin(struct service *service)
{
    secure_streams();
    (void)signal(SIGPIPE, SIG_IGN);
    *service = (struct service){.pulse = notify_watchdog() / 2};
}

void service_keep_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void service_hide(void)
{
    const struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void service_ready(void)
{
    notify("READY=1");
}

bool service_wants_status(struct service *service, nanos now)
{
    if (now < service->next_status)
        return false;
    service->next_status = now + STATUS_INTERVAL;
    return true;
}

void service_say(const char *line)
{
    notify("STATUS=%s", line);
}

void service_alive(struct service *service, nanos now)
{
    if (!service->pulse || now < service->next_pulse)
        return;
    service->next_pulse = now + service->pulse;
    notify("WATCHDOG=1");
}

void service_reloading(nanos now)
{
    notify("RELOADING=1\nMONOTONIC_USEC=%" PRId64, now / MICROSECOND);
}

void service_stopping(struct service *service, nanos now)
{
    if (now < service->next_wish)
        return;
    service->next_wish = now + EXTENSION / 3;
    notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRId64, EXTENSION / MICROSECOND);
}
