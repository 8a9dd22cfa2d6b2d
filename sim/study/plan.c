#include "sim/study/plan.h"

#include <assert.h>
#include <math.h>

#include "codec/codec.h"

const struct plan_policy_info plan_policies[PLAN_POLICIES] = {
    [PLAN_AUTO] = {"auto", true, true, 1},
    [PLAN_MEAN] = {"mean", true, false, 1},
    [PLAN_DILOCO] = {"diloco", true, false, 1},
    [PLAN_DELAYED] = {"delayed", false, false, 1.7},
    [PLAN_ASYNC] = {"async", false, false, 1.2},
};

double plan_payload(const struct plan_star *star, enum codec_id codec)
{
    return star->params * codecs[codec].bits / 8;
}

/* The integral of 1 - F(x)^n above 0 and of -F(x)^n below, up to 8. */
double plan_expected_max(unsigned n)
{
    const double width = 1.0 / 64;
    double sum = 0;

    for (unsigned i = 0; i < 8 * 64; i++) {
        double x = (i + 0.5) * width;
        double above = pow(0.5 * erfc(-x * M_SQRT1_2), n);
        double below = pow(0.5 * erfc(x * M_SQRT1_2), n);

        sum += 1 - above - below;
    }
    return sum * width;
}

/* ---- transfer ---- */

/* The time of `bytes` per node: the hub's port, or a node's own link. */
static double carry(const struct plan_star *star, double bytes)
{
    return fmax(star->nodes * bytes / star->port, bytes / star->link);
}

double plan_pipelined(const struct plan_star *star, double up, double down,
                      double chunk)
{
    return 2 * star->latency + carry(star, fmax(up, down)) +
           carry(star, chunk) + star->hub;
}

double plan_serial(const struct plan_star *star, double up, double down)
{
    return carry(star, up + down);
}

double plan_staggered(const struct plan_star *star, double up, double down,
                      double every)
{
    double size = fmax(up, down);
    double rate = fmin(star->port, star->link);
    double load = star->nodes * size / (star->port * every * star->step);
    double queue =
        load < 1 ? load * size / (2 * star->port * (1 - load)) : INFINITY;

    /* Whoever waits, waits for the others at most. */
    queue = fmin(queue, (star->nodes - 1) * size / star->port);
    return 2 * star->latency + (up + down) / rate + queue + star->hub;
}

double plan_lag(const struct plan_star *star, double every, bool dylu)
{
    double slower = dylu ? fmax(0, star->slowest - every * star->step)
                         : every * (star->slowest - star->step);

    return slower +
           star->cv * star->step * sqrt(every) * plan_expected_max(star->nodes);
}

double plan_stall(double exchange, double lag, double delayed)
{
    return fmax(0, exchange + lag - delayed);
}

double plan_used(double training, double stall)
{
    return training / (training + stall);
}

double plan_floor(const struct plan_star *star, double up, double down)
{
    return carry(star, fmax(up, down)) / star->step;
}

double plan_best_every(double k_half, double exchange, double step, bool hidden)
{
    return sqrt((hidden ? PLAN_PSI_WHOLE : 1) * k_half * exchange / step);
}

double plan_overhead(double k_half, double exchange, double step, bool hidden)
{
    double root =
        1 + sqrt((hidden ? PLAN_PSI_WHOLE : 1) * exchange / (k_half * step));

    return root * root - 1;
}

uint64_t plan_least_every(unsigned nodes, double params, double bytes,
                          double rate, double step)
{
    double every = ceil(nodes * params * bytes / (rate * step) - 1e-9);

    return every < 1 ? 1 : (uint64_t)every;
}

/* ---- learning ---- */

double plan_codec_factor(enum codec_id codec)
{
    switch ((int)codec) {
    case CODEC_RAW:
    case CODEC_F16:
    case CODEC_BF16:
        return 1;
    case CODEC_INT8:
        return 1.01;
    case CODEC_INT4:
    case CODEC_E3M0:
        return 1.04;
    case CODEC_TOP10:
        return 1.5;
    case CODEC_SIGN:
        return 1.7;
    default:
        return INFINITY;
    }
}

unsigned plan_fragments(double exchange, double step, unsigned every)
{
    double left = every * step - exchange;
    double count = left > 0 ? ceil(exchange / left - 1e-9) : 64;

    return (unsigned)fmax(1, fmin(count, fmin(64, every)));
}

/* One PC's iterations to a target over those of N. */
static double together(const struct plan_star *star, double noise_scale)
{
    return (1 + noise_scale) / (1 + noise_scale / star->nodes);
}

double plan_speed_up(const struct plan_star *star, double rate, double phi)
{
    return together(star, star->noise_scale) * rate * star->fastest / phi;
}

double plan_with_noise(const struct plan_star *star, double speed_up,
                       double noise_scale)
{
    return speed_up * together(star, noise_scale) /
           together(star, star->noise_scale);
}

/* ---- all of it ---- */

/* T_c of a fragment. A node sends it over k/F iterations, but at most d/2. */
static double exchange_time(const struct plan_star *star,
                            const struct plan_setting *setting, double every,
                            double delay)
{
    double parts = setting->fragments;
    double up = plan_payload(star, setting->up) / parts;
    double down = plan_payload(star, setting->down) / parts;
    double spread = fmin(every / parts, delay / 2) * star->step;
    double chunk = fmin(
        star->chunk *
            fmax(codecs[setting->up].bits, codecs[setting->down].bits) / 32,
        fmax(up, down));
    double time = plan_policies[setting->policy].barrier
                      ? plan_pipelined(star, up, down, chunk)
                      : plan_staggered(star, up, down, every / parts);

    return setting->fragments > 1 ? fmax(time, spread) : time;
}

/* What is late is applied late, and turns that come meanwhile are left out. */
static void apply_late(const struct plan_star *star, struct plan *out)
{
    double took = (out->exchange + out->lag) / star->step;

    if (took <= out->delay)
        return;
    out->delay = took;
    out->every *= fmax(1, ceil(took / out->every - 1e-9));
    out->stall = 0;
}

void plan_learn(const struct plan_star *star,
                const struct plan_setting *setting, double every, double delay,
                struct plan *out)
{
    const struct plan_policy_info *policy = &plan_policies[setting->policy];

    out->every = every;
    out->delay = delay;
    out->phi_k = 1 + every / star->k_half;
    out->phi_d = policy->soft ? 1 + PLAN_PSI * delay / (every + delay)
                              : 1 + PLAN_PSI_WHOLE * delay / every;
    out->phi_codec =
        plan_codec_factor(setting->up) * plan_codec_factor(setting->down);
    out->phi_policy = policy->factor;
    out->phi = out->phi_k * out->phi_d * out->phi_codec * out->phi_policy;
}

void plan_predict(const struct plan_star *star,
                  const struct plan_setting *setting, struct plan *out)
{
    double up = plan_payload(star, setting->up);
    double down = plan_payload(star, setting->down);
    bool barrier = plan_policies[setting->policy].barrier;
    double share = setting->dylu ? star->fastest / star->step : 1;
    double parts = setting->fragments, delayed;

    assert(setting->every >= 1 && setting->fragments >= 1);
    *out = (struct plan){.every = fmax(1, setting->every * share),
                         .delay = setting->delay * share};
    delayed = out->delay * star->step;
    out->exchange = exchange_time(star, setting, out->every, out->delay);
    out->lag = barrier ? plan_lag(star, out->every / parts, setting->dylu) : 0;
    out->floor = plan_floor(star, up, down);
    out->stall = parts * plan_stall(out->exchange, out->lag, delayed);
    out->hidden = out->stall <= 0 && out->every >= out->floor;
    if (!setting->waits && setting->delay)
        apply_late(star, out);
    out->used = plan_used(out->every * star->step, out->stall);
    out->rate = out->used / star->step;
    out->up = up * out->rate / out->every;
    out->down = down * out->rate / out->every;
    plan_learn(star, setting, out->every, out->delay, out);
    out->speed_up = plan_speed_up(star, out->rate, out->phi);
}

void plan_ring(const struct plan_star *star, struct plan *out)
{
    const struct plan_setting setting = {
        .policy = PLAN_AUTO, .waits = true, .every = 1, .fragments = 1};
    double others = star->nodes - 1.0;

    *out = (struct plan){.every = 1};
    out->up = out->down =
        2 * others / star->nodes * plan_payload(star, CODEC_RAW);
    out->exchange = out->up / star->link + 2 * others * star->latency;
    out->lag = plan_lag(star, 1, false);
    out->stall = out->exchange + out->lag;
    out->used = plan_used(star->step, out->stall);
    out->rate = out->used / star->step;
    plan_learn(star, &setting, 1, 0, out);
    out->speed_up = plan_speed_up(star, out->rate, out->phi);
}
