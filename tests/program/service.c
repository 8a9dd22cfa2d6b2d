#include "program/service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/check.h"

/* What a service manager hears, at an address without a file. */
static int manager(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    char name[60];
    int length = snprintf(name, sizeof name, "@star-service-%d", (int)getpid());

    memcpy(address.sun_path + 1, name + 1, (size_t)length - 1);
    CHECK(fd >= 0);
    CHECK_EQUAL(0, bind(fd, (struct sockaddr *)&address,
                        (socklen_t)(sizeof(sa_family_t) + (size_t)length)));
    (void)setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

/* The next message, or "". */
static const char *heard(int fd)
{
    static char bytes[500];
    ssize_t size = recv(fd, bytes, sizeof bytes - 1, 0);

    bytes[size > 0 ? size : 0] = '\0';
    return bytes;
}

static void without_a_manager_nothing_happens(void)
{
    struct service service;

    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
    service_begin(&service);
    CHECK_EQUAL(0, service.pulse);
    service_ready();
    service_alive(&service, SECOND);
    service_stopping(&service, SECOND);
}

static void a_manager_hears_how_it_is(void)
{
    struct service service;
    int fd = manager();

    (void)unsetenv("WATCHDOG_USEC");
    service_begin(&service);
    service_ready();
    CHECK_TEXT("READY=1", heard(fd));
    service_say("3 nodes");
    CHECK_TEXT("STATUS=3 nodes", heard(fd));
    service_reloading(5 * SECOND);
    CHECK_TEXT("RELOADING=1\nMONOTONIC_USEC=5000000", heard(fd));
    service_alive(&service, SECOND);
    CHECK_TEXT("", heard(fd));
    (void)close(fd);
    (void)unsetenv("NOTIFY_SOCKET");
}

static void signs_of_life_come_twice_per_deadline(void)
{
    struct service service;
    int fd = manager();

    (void)setenv("WATCHDOG_USEC", "2000000", 1);
    service_begin(&service);
    CHECK_EQUAL(SECOND, service.pulse);
    service_alive(&service, 10 * SECOND);
    CHECK_TEXT("WATCHDOG=1", heard(fd));
    service_alive(&service, 11 * SECOND - 1);
    CHECK_TEXT("", heard(fd));
    service_alive(&service, 11 * SECOND);
    CHECK_TEXT("WATCHDOG=1", heard(fd));
    (void)close(fd);
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("NOTIFY_SOCKET");
}

static void what_another_process_is_to_do_is_not_ours(void)
{
    struct service service;
    char pid[30];

    (void)setenv("WATCHDOG_USEC", "2000000", 1);
    (void)setenv("WATCHDOG_PID", "1", 1);
    service_begin(&service);
    CHECK_EQUAL(0, service.pulse);
    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)setenv("WATCHDOG_PID", pid, 1);
    service_begin(&service);
    CHECK_EQUAL(SECOND, service.pulse);
    (void)setenv("WATCHDOG_USEC", "2 s", 1);
    service_begin(&service);
    CHECK_EQUAL(0, service.pulse);
    (void)unsetenv("WATCHDOG_PID");
    (void)unsetenv("WATCHDOG_USEC");
}

static void a_manager_that_is_no_socket_hears_nothing(void)
{
    char name[200];

    memset(name, '/', sizeof name);
    name[sizeof name - 1] = '\0';
    for (const char **each = (const char *[]){"", "/", "@", "tcp://a", name,
                                              "/nowhere/at/all", NULL};
         *each; each++) {
        (void)setenv("NOTIFY_SOCKET", *each, 1);
        service_ready();
    }
    (void)unsetenv("NOTIFY_SOCKET");
}

static void more_time_to_end_is_asked_for_before_it_is_over(void)
{
    struct service service;
    int fd = manager();

    service_begin(&service);
    service_stopping(&service, SECOND);
    CHECK_TEXT("STOPPING=1\nEXTEND_TIMEOUT_USEC=30000000", heard(fd));
    service_stopping(&service, 2 * SECOND);
    CHECK_TEXT("", heard(fd));
    service_stopping(&service, 20 * SECOND);
    CHECK_CONTAINS("EXTEND_TIMEOUT_USEC", heard(fd));
    (void)close(fd);
    (void)unsetenv("NOTIFY_SOCKET");
}

static void a_pipe_without_a_reader_is_an_error_and_no_end(void)
{
    struct service service;
    int ends[2];

    service_begin(&service);
    if (!CHECK(pipe(ends) == 0))
        return;
    (void)close(ends[0]);
    CHECK_EQUAL(-1, write(ends[1], "x", 1));
    CHECK_EQUAL(EPIPE, errno);
    (void)close(ends[1]);
}

/* Leak detectors look at the process as a debugger does. */
static void who_has_keys_leaves_no_core(void)
{
    struct rlimit before, limit;

    (void)getrlimit(RLIMIT_CORE, &before);
    CHECK_EQUAL(1, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
    service_hide();
    CHECK_EQUAL(0, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
    CHECK_EQUAL(0, getrlimit(RLIMIT_CORE, &limit));
    CHECK_EQUAL(0, limit.rlim_cur);
    CHECK_EQUAL(0, limit.rlim_max);
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    (void)setrlimit(RLIMIT_CORE, &before);
}

void add_program_service_tests(CU_pSuite suite)
{
    TEST(without_a_manager_nothing_happens);
    TEST(a_manager_hears_how_it_is);
    TEST(signs_of_life_come_twice_per_deadline);
    TEST(what_another_process_is_to_do_is_not_ours);
    TEST(a_manager_that_is_no_socket_hears_nothing);
    TEST(more_time_to_end_is_asked_for_before_it_is_over);
    TEST(a_pipe_without_a_reader_is_an_error_and_no_end);
    TEST(who_has_keys_leaves_no_core);
}
