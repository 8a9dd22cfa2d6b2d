#include "net/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <ucontext.h>
#include <unistd.h>

/* Runs on a thread that does not block the signal; from now on it does. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    ucontext_t *thread = context;
    int before = errno;

    (void)info;
    (void)sigaddset(&thread->uc_sigmask, number);
    (void)kill(getpid(), number);
    errno = before;
}

enum status signals_open(struct signals *signals, const sigset_t *set,
                         struct why *why)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};

    signals->fd = -1;
    signals->set = *set;
    if (sigisemptyset(set))
        return STATUS_OK;
    signals->fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd < 0)
        return because(why, STATUS_UNAVAILABLE,
                       "the system gives no signal descriptor: %s",
                       strerror(errno));
    action.sa_sigaction = pass_on;
    action.sa_mask = *set;
    for (int i = 1; i < NSIG; i++)
        if (sigismember(set, i) == 1)
            (void)sigaction(i, &action, &signals->before[i]);
    return STATUS_OK;
}

void signals_close(struct signals *signals)
{
    if (signals->fd < 0)
        return;
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&signals->set, i) == 1)
            (void)sigaction(i, &signals->before[i], NULL);
    (void)close(signals->fd);
    signals->fd = -1;
}

int signals_next(const struct signals *signals)
{
    struct signalfd_siginfo info;

    if (signals->fd < 0 ||
        read(signals->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return (int)info.ssi_signo;
}
