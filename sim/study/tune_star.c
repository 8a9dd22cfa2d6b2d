/* A star in numbers, of what options and a trace say of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "policies/order.h"
#include "sim/study/tune.h"
#include "sim/trace/trace.h"

enum { MOMENTS = 256, PACKET = 1448 };

static double limit_of(uint64_t rate)
{
    return rate ? (double)rate : INFINITY;
}

/* What a trace says of a node or, NULL, of all others; else `otherwise`. */
struct watch {
    const struct trace *trace;
    const struct trace_track *track;
    nanos now;
};

static double value_of(const struct watch *watch, enum quantity quantity,
                       double otherwise)
{
    int64_t value = SERIES_UNSET;

    if (watch->trace)
        value = trace_at(watch->trace, watch->track, quantity, watch->now);
    return value == SERIES_UNSET ? otherwise : (double)value;
}

/* Sums over all nodes and moments, and the slowest link of each moment. */
struct sums {
    double latency, loss, step;
    double slowest[MOMENTS];
};

static void look(const struct options *options, const struct watch *watch,
                 double step, unsigned moment, struct sums *sums)
{
    double rate = limit_of(options->rate);
    double jitter = value_of(watch, QUANTITY_JITTER, (double)options->jitter);

    sums->latency +=
        value_of(watch, QUANTITY_DELAY, (double)options->latency) + jitter / 2;
    sums->loss += value_of(watch, QUANTITY_LOSS,
                           options->packet_loss * (double)PART_WHOLE);
    sums->step += value_of(watch, QUANTITY_STEP, step);
    sums->slowest[moment] =
        fmin(sums->slowest[moment], fmin(value_of(watch, QUANTITY_UP, rate),
                                         value_of(watch, QUANTITY_DOWN, rate)));
}

static void watch_at(const struct trace *trace, unsigned moment,
                     struct watch *watch)
{
    watch->trace = trace;
    watch->now = trace ? trace->span / MOMENTS * (nanos)moment : 0;
}

/* What the hub's port carries, the mean of its narrower direction. */
static double port_of(const struct options *options, const struct trace *trace)
{
    double rate = limit_of(options->port), up = 0, down = 0;

    for (unsigned m = 0; m < MOMENTS; m++) {
        int64_t values[2] = {SERIES_UNSET, SERIES_UNSET};
        struct watch watch;

        watch_at(trace, m, &watch);
        if (trace) {
            values[0] = series_at(&trace->hub.series[QUANTITY_UP], watch.now);
            values[1] = series_at(&trace->hub.series[QUANTITY_DOWN], watch.now);
        }
        up += values[0] == SERIES_UNSET ? rate : (double)values[0];
        down += values[1] == SERIES_UNSET ? rate : (double)values[1];
    }
    return fmin(fmin(up, down) / MOMENTS,
                fmin(limit_of(options->hub_up), limit_of(options->hub_down)));
}

/* Adds what a node does to the star's speeds. */
static void add_speed(struct plan_star *star, double step)
{
    star->step += 1 / step;
    star->slowest = fmax(star->slowest, step);
    star->fastest = fmin(star->fastest, step);
}

static void settle_link(struct plan_star *star, struct sums *sums, double loss)
{
    unsigned half = MOMENTS / 2;

    values_sort(sums->slowest, MOMENTS);
    while (half < MOMENTS - 1 && sums->slowest[half] <= 0)
        half++;
    star->link = fmax(1, sums->slowest[half]);
    if (loss > 0)
        star->link =
            fmin(star->link, 1.22 * PACKET / (2 * star->latency * sqrt(loss)));
}

void tune_star(const struct options *options, const struct trace *trace,
               const double *speeds, unsigned speed_count,
               struct plan_star *out)
{
    struct sums sums = {0};
    double looks = (double)options->star_nodes * MOMENTS, latency = 0;

    *out = (struct plan_star){.nodes = (unsigned)options->star_nodes,
                              .params = (double)options->params,
                              .cv = options->step_cv,
                              .fastest = INFINITY,
                              .chunk = (double)options->chunk,
                              .port = port_of(options, trace),
                              .noise_scale = options->noise_scale,
                              .k_half = options->k_half};
    for (unsigned m = 0; m < MOMENTS; m++)
        sums.slowest[m] = INFINITY;
    for (unsigned i = 0; i < out->nodes; i++) {
        double speed = speed_count ? speeds[i % speed_count] : 1;
        double step = (double)options->step_time / speed;
        char name[TRACE_NAME_BYTES];
        struct watch watch = {NULL, NULL, 0};

        (void)snprintf(name, sizeof name, "n%u", i + 1);
        watch.track = trace ? trace_find(trace, name) : NULL;
        sums.step = 0;
        for (unsigned m = 0; m < MOMENTS; m++) {
            watch_at(trace, m, &watch);
            look(options, &watch, step, m, &sums);
        }
        add_speed(out, sums.step / MOMENTS / (double)SECOND);
    }
    latency = sums.latency / looks;
    out->latency = latency / (double)SECOND;
    out->step = out->nodes / out->step;
    settle_link(out, &sums, sums.loss / looks / (double)PART_WHOLE);
}
