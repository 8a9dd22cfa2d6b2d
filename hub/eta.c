#include "hub/eta.h"

#include <math.h>
#include <stddef.h>

#define FIRST_STEP (250 * MILLISECOND)

enum { INTERVALS_LEAST = 8, SCORES_LEAST = 8 };

#define FURTHEST 10.0 /* times the time so far */
#define CLEARLY 3.0   /* standard errors that a slope is above 0 */

static double in_seconds(nanos time)
{
    return (double)time / (double)SECOND;
}

/* Every second point is left out, and from now on they are half as dense. */
static void thin(struct eta_track *track)
{
    for (size_t i = 0; i < ETA_POINTS / 2; i++)
        track->points[i] = track->points[2 * i];
    track->count = ETA_POINTS / 2;
    track->step *= 2;
}

static void note(struct eta_track *track, nanos now, double value)
{
    if (!track->step)
        track->step = FIRST_STEP;
    if (track->count && now - track->points[track->count - 1].at < track->step)
        return;
    if (track->count == ETA_POINTS)
        thin(track);
    if (track->count && now - track->points[track->count - 1].at < track->step)
        return;
    track->points[track->count].at = now;
    track->points[track->count++].value = value;
}

void eta_note_count(struct eta_track *track, nanos now, double value)
{
    if (track->count && value < track->points[track->count - 1].value)
        *track = (struct eta_track){0};
    note(track, now, value);
}

void eta_note_score(struct eta_track *track, nanos now, double value)
{
    if (isfinite(value) && value > 0 &&
        (!track->count || value != track->points[track->count - 1].value))
        note(track, now, value);
}

/* ---- counts ---- */

/* Variance of the count per second around its drift. */
static double variance(const struct eta_track *track, unsigned first,
                       double rate)
{
    double sum = 0;

    for (unsigned i = first; i + 1 < track->count; i++) {
        double span = in_seconds(track->points[i + 1].at - track->points[i].at);
        double off =
            track->points[i + 1].value - track->points[i].value - rate * span;

        sum += off * off / span;
    }
    return sum / (track->count - first - 2);
}

struct eta_left eta_of_count(const struct eta_track *track, double value,
                             double target)
{
    unsigned first = track->count / 2, last = track->count - 1;
    double span, rate, left = target - value, noise;
    struct eta_left out = {.known = left <= 0};

    if (out.known || track->count < 2 * INTERVALS_LEAST)
        return out;
    span = in_seconds(track->points[last].at - track->points[first].at);
    rate = (track->points[last].value - track->points[first].value) / span;
    if (!(rate > 0))
        return out;
    noise = variance(track, first, rate);
    out.known = true;
    out.seconds = left / rate;
    out.spread = sqrt(noise * left / (rate * rate * rate) +
                      out.seconds * out.seconds * noise / (span * rate * rate));
    return out;
}

/* ---- scores ---- */

/* y = a - b x by least squares, and what its error is made of. */
struct fit {
    double count, x, y; /* means */
    double across;      /* sum of (x - mean)^2 */
    double a, b, noise; /* noise: variance of y around it */
};

static struct fit fit_scores(const struct eta_track *track, nanos begun)
{
    struct fit fit = {0};
    double both = 0, off = 0;
    unsigned first = track->count / 2;

    fit.count = track->count - first;
    for (unsigned i = first; i < track->count; i++) {
        fit.x += log(in_seconds(track->points[i].at - begun)) / fit.count;
        fit.y += log(track->points[i].value) / fit.count;
    }
    for (unsigned i = first; i < track->count; i++) {
        double x = log(in_seconds(track->points[i].at - begun)) - fit.x;

        fit.across += x * x;
        both += x * (log(track->points[i].value) - fit.y);
    }
    fit.b = fit.across > 0 ? -both / fit.across : 0;
    fit.a = fit.y + fit.b * fit.x;
    for (unsigned i = first; i < track->count; i++) {
        double x = log(in_seconds(track->points[i].at - begun));
        double d = log(track->points[i].value) - fit.a + fit.b * x;

        off += d * d;
    }
    fit.noise = off / (fit.count - 2);
    return fit;
}

struct eta_left eta_of_score(const struct eta_track *track, nanos begun,
                             nanos now, double target)
{
    struct eta_left out = {.known = false};
    struct fit fit;
    double age = in_seconds(now - begun), when, meets, error;

    if (track->count < 2 * SCORES_LEAST || !(target > 0) || age <= 0 ||
        track->points[track->count / 2].at <= begun)
        return out;
    fit = fit_scores(track, begun);
    if (fit.across <= 0 || !(fit.b > CLEARLY * sqrt(fit.noise / fit.across)))
        return out;
    meets = (fit.a - log(target)) / fit.b;
    if (meets > log(age * FURTHEST))
        return out;
    /* Where a fitted line meets a value; and the first score that is there may
     * be a lucky one. */
    error = sqrt(fit.noise * (1 + 1 / fit.count +
                              (meets - fit.x) * (meets - fit.x) / fit.across)) /
            fit.b;
    when = exp(meets);
    out.known = true;
    out.seconds = when > age ? when - age : 0;
    out.spread = when * error;
    return out;
}

const char *eta_end_words(enum eta_end end)
{
    static const char *const words[] = {"", "goal", "iterations", "epochs",
                                        "time"};

    return words[end];
}
