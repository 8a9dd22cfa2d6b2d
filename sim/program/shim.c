/* starswitch-sim shim: stands between a real node and its hub, and is as slow
 * as a trace says. */
#include "sim/program/program.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/signals.h"
#include "program/settings.h"
#include "sim/shim/loop.h"
#include "sim/study/files.h"

/* All that a shim needs, beside itself. */
struct setting {
    struct options options;
    struct trace *trace; /* NULL: none */
    struct signals signals;
};

static enum status catch_signals(struct setting *setting, struct why *why)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signals_open(&setting->signals, &set, why);
}

static enum status check_options(const struct options *options, struct why *why)
{
    if (endpoint_is_loopback(&options->shim_listen) || options->insecure)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--listen %.100s opens the hub to the network and there "
                   "are no keys yet: listen on 127.0.0.1, or say --insecure "
                   "if everybody on that network may join",
                   options->shim_listen.host);
}

static struct shim_faults faults_of(const struct options *options)
{
    return (struct shim_faults){.flip = options->shim_flip,
                                .cut = options->shim_cut,
                                .duplicate = options->shim_duplicate,
                                .swap = options->shim_swap,
                                .stall = options->shim_stall};
}

static enum status open_shim(struct setting *setting, struct shim **out,
                             struct why *why)
{
    const struct options *options = &setting->options;
    struct shim_config config = {.listen = options->shim_listen,
                                 .hub = options->hub,
                                 .link = {.bytes_per_second = options->rate,
                                          .latency = options->latency,
                                          .jitter = options->jitter,
                                          .loss = options->packet_loss,
                                          .message = options->chunk},
                                 .faults = faults_of(options),
                                 .seed = options->seed};
    enum status status = check_options(options, why);

    if (status == STATUS_OK)
        status = trace_load(setting->options.trace, &setting->trace, why);
    if (status == STATUS_OK)
        status = catch_signals(setting, why);
    if (status != STATUS_OK)
        return status;
    config.stop = setting->signals.fd;
    config.link.trace = setting->trace;
    if (setting->trace)
        config.link.track = trace_find(setting->trace, options->shim_name);
    return shim_open(&config, out, why);
}

/* It sleeps most of the time and must be punctual: before all else on its PC,
 * where the system allows that. */
static void take_precedence(void)
{
    const struct sched_param first = {.sched_priority = 1};

    (void)sched_setscheduler(0, SCHED_RR, &first);
}

static void say_ready(const struct options *options)
{
    char bytes[2 * ENDPOINT_HOST_BYTES + 200];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "listening on ");
    endpoint_print(&options->shim_listen, &line);
    text_add(&line, " for %.63s, hub ", options->shim_name);
    endpoint_print(&options->hub, &line);
    (void)fprintf(stderr, "%s\n", bytes);
}

static void say_faults(const struct shim_fault_figures *faults)
{
    (void)fprintf(
        stderr,
        "%llu bits flipped, %llu connections cut, %llu messages "
        "twice, %llu swapped, %llu stalled\n",
        (unsigned long long)faults->flips, (unsigned long long)faults->cuts,
        (unsigned long long)faults->duplicates,
        (unsigned long long)faults->swaps, (unsigned long long)faults->stalls);
}

static void say_figures(const struct shim *shim, const struct options *options)
{
    struct shim_figures figures = shim_figures(shim);
    const struct shim_faults faults = faults_of(options);

    if (shim_faults_any(&faults))
        say_faults(&figures.faults);
    if (figures.blind)
        (void)fprintf(stderr,
                      "%u connection%s encrypted: only bits were flipped, "
                      "as messages cannot be told apart\n",
                      figures.blind, figures.blind == 1 ? " is" : "s are");

    (void)fprintf(stderr,
                  "%llu connection%s, %llu bytes up, %llu down, at most %.3f "
                  "ms late\n",
                  (unsigned long long)figures.connections,
                  plural(figures.connections), (unsigned long long)figures.up,
                  (unsigned long long)figures.down,
                  (double)figures.late / (double)MILLISECOND);
}

int sim_shim(int count, char **words)
{
    static struct setting setting;
    struct shim *shim = NULL;
    struct why why = {""};
    enum status status =
        settings_read(&setting.options, PROGRAM_SIM, count, words, &why);

    setting.signals.fd = -1;
    if (status == STATUS_OK && setting.options.help)
        return 0;
    if (status == STATUS_OK)
        status = open_shim(&setting, &shim, &why);
    if (status == STATUS_OK) {
        take_precedence();
        say_ready(&setting.options);
        shim_run(shim);
        /* Taken, or it would end us when its action is the system's again. */
        (void)signals_next(&setting.signals);
        say_figures(shim, &setting.options);
    } else {
        (void)fprintf(stderr, "starswitch-sim: %s\n", why.text);
    }
    shim_close(&shim);
    signals_close(&setting.signals);
    trace_destroy(&setting.trace);
    return status_exit_code(status);
}
