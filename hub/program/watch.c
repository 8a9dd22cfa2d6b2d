#include "hub/program/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "net/net.h"

#define FIRST_PAUSE (10 * MILLISECOND)
#define LONGEST_PAUSE SECOND
#define HEALTHY (10 * SECOND) /* who lives so long does not crash at once */

enum { SIGNAL_EXIT = 128 };

static const int passed_on[] = {SIGTERM, SIGINT,  SIGQUIT,
                                SIGHUP,  SIGUSR1, SIGUSR2};

/* Who wants a hub to end asks it, or kills who watches it: SIGKILL is what the
 * system does that is short of memory. */
static bool is_crash(int status)
{
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS,  SIGILL,
                                  SIGFPE,  SIGSYS,  SIGTRAP, SIGKILL};

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (WIFSIGNALED(status) && WTERMSIG(status) == crashes[i])
            return true;
    return false;
}

static sigset_t watched(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        (void)sigaddset(&set, passed_on[i]);
    return set;
}

/* Until the child has ended. What a terminal sends it has got itself. */
static int wait_for(pid_t child, const sigset_t *set)
{
    int status = 0;

    while (waitpid(child, &status, WNOHANG) != child) {
        siginfo_t info;
        int number = sigwaitinfo(set, &info);

        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            (void)kill(child, number);
    }
    return status;
}

static void rest(nanos span)
{
    struct timespec left = {.tv_sec = span / SECOND, .tv_nsec = span % SECOND};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* The child dies with who watches it, also if that has just died. */
static void begin_child(pid_t parent, const sigset_t *before)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(SIGNAL_EXIT + SIGKILL);
    (void)sigprocmask(SIG_SETMASK, before, NULL);
}

static _Noreturn void end_as(int status)
{
    exit(WIFSIGNALED(status) ? SIGNAL_EXIT + WTERMSIG(status)
                             : WEXITSTATUS(status));
}

void watch_over(void)
{
    sigset_t set = watched(), before;
    nanos pause = FIRST_PAUSE;
    pid_t self = getpid();

    (void)sigprocmask(SIG_BLOCK, &set, &before);
    for (;;) {
        nanos begun = net_now();
        pid_t child = fork();
        int status;

        if (child == 0) {
            begin_child(self, &before);
            return;
        }
        if (child < 0) {
            (void)fprintf(stderr,
                          "starswitch-hub: cannot watch itself (%s); "
                          "it runs without --supervise\n",
                          strerror(errno));
            (void)sigprocmask(SIG_SETMASK, &before, NULL);
            return;
        }
        status = wait_for(child, &set);
        if (!is_crash(status))
            end_as(status);
        if (net_now() - begun > HEALTHY)
            pause = FIRST_PAUSE;
        (void)fprintf(stderr,
                      "starswitch-hub: crashed (%s); it starts again "
                      "from what was saved; %s\n",
                      strsignal(WTERMSIG(status)),
                      WTERMSIG(status) == SIGKILL ? "was this PC out of memory?"
                                                  : "please report this");
        rest(pause);
        pause = 2 * pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE;
    }
}
