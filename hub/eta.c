#include "hub/eta.h"

#include <math.h>
#include <stddef.h>

#define FIRST_STEP (250 * MILLISECOND)

enum { INTERVALS_LEAST = 8, SCORES_LEAST = 8 };

#define FURTHEST 20.0 /* times the time so far */
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

static bool note(struct eta_track *track, nanos now, double value)
{
    if (!track->step)
        track->step = FIRST_STEP;
    if (track->count && now - track->points[track->count - 1].at < track->step)
        return false;
    if (track->count == ETA_POINTS)
        thin(track);
    if (track->count && now - track->points[track->count - 1].at < track->step)
        return false;
    track->points[track->count].at = now;
    track->points[track->count++].value = value;
    return true;
}

void eta_note_count(struct eta_track *track, nanos now, double value)
{
    if (track->count && value < track->points[track->count - 1].value)
        *track = (struct eta_track){0};
    (void)note(track, now, value);
}

bool eta_note_score(struct eta_track *track, nanos now, double value)
{
    return isfinite(value) && value > 0 &&
           (!track->count || value != track->points[track->count - 1].value) &&
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

/* Forms of a curve: y = c + a g(t), g(t) = ((t + o) / (age + o))^-p. */
enum { POWERS = 30, OFFSETS = 7, FORMS = POWERS * OFFSETS };

static const double offsets[OFFSETS] = {0, 0.03, 0.1, 0.3, 1, 3, 10}; /* ages */

#define LEAST_POWER 0.08
#define POWER_STEP 1.15
#define MISFIT 6.0  /* how much worse than the best form, in variances */
#define ERRORS 2.5  /* standard errors around where a curve meets the goal */
#define LUCK 2.5    /* as many above the curve a score may lie */
#define WIDER 0.4   /* no form is the curve's own */
#define NARROW 0.03 /* of the age: no interval is smaller */

/* What is fitted: relative to the time so far, and to the scores. */
struct curve {
    unsigned count;
    double at[ETA_POINTS], score[ETA_POINTS], weight[ETA_POINTS], weights;
    double logs[OFFSETS][ETA_POINTS]; /* of (t + o) / (age + o) */
};

/* One form, by weighted least squares. */
struct fit {
    double offset, power;
    double c, a;    /* c is not below 0 */
    double g;       /* mean */
    double across;  /* sum of (g - mean)^2 */
    double squares; /* what is left over */
};

/* Between two times, in ages. */
struct interval {
    double from, to;
};

static double form(const struct fit *fit, double at)
{
    return exp(-fit->power * log((at + fit->offset) / (1 + fit->offset)));
}

static double form_meets(const struct fit *fit, double g)
{
    return g < 1 ? (1 + fit->offset) * pow(g, -1 / fit->power) - fit->offset
                 : 1;
}

static void curve_of(struct curve *curve, const struct eta_track *track,
                     nanos begun, double age)
{
    curve->count = 0;
    curve->weights = 0;
    for (unsigned i = 0; i < track->count; i++) {
        double at = in_seconds(track->points[i].at - begun) / age;
        double score = track->points[i].value, weight = 1 / (score * score);

        if (at <= 0)
            continue;
        curve->at[curve->count] = at;
        for (unsigned j = 0; j < OFFSETS; j++)
            curve->logs[j][curve->count] =
                log((at + offsets[j]) / (1 + offsets[j]));
        curve->score[curve->count] = score;
        curve->weight[curve->count++] = weight;
        curve->weights += weight;
    }
}

/* The line through the points (g, score). */
static void fit_line(struct fit *fit, const struct curve *curve,
                     const double *g)
{
    double mean = 0, both = 0, square = 0, through = 0;

    for (unsigned i = 0; i < curve->count; i++) {
        fit->g += curve->weight[i] * g[i] / curve->weights;
        mean += curve->weight[i] * curve->score[i] / curve->weights;
        square += curve->weight[i] * g[i] * g[i];
        through += curve->weight[i] * g[i] * curve->score[i];
    }
    for (unsigned i = 0; i < curve->count; i++) {
        double x = g[i] - fit->g;

        fit->across += curve->weight[i] * x * x;
        both += curve->weight[i] * x * (curve->score[i] - mean);
    }
    fit->a = both / fit->across;
    fit->c = mean - fit->a * fit->g;
    if (fit->c >= 0)
        return;
    fit->c = 0;
    fit->a = through / square;
}

static double misses(const struct fit *fit, const struct curve *curve,
                     unsigned i)
{
    return (curve->score[i] - fit->c - fit->a * form(fit, curve->at[i])) /
           curve->score[i];
}

static struct fit fit_form(const struct curve *curve, unsigned number)
{
    struct fit fit = {.offset = offsets[number / POWERS]};
    double g[ETA_POINTS];

    fit.power =
        LEAST_POWER * pow(POWER_STEP, number % POWERS) * (1 + 2 * fit.offset);
    for (unsigned i = 0; i < curve->count; i++)
        g[i] = exp(-fit.power * curve->logs[number / POWERS][i]);
    fit_line(&fit, curve, g);
    for (unsigned i = 0; i < curve->count; i++) {
        double off = (curve->score[i] - fit.c - fit.a * g[i]) / curve->score[i];

        fit.squares += off * off;
    }
    return fit;
}

/* By how much the variance of a mean of such residuals exceeds that of
 * independent ones, as their first autocorrelation says. */
static double dependence(const struct fit *fit, const struct curve *curve)
{
    double both = 0, last = 0, r;

    for (unsigned i = 0; i < curve->count; i++) {
        double off = misses(fit, curve, i);

        both += off * last;
        last = off;
    }
    r = both / fit->squares + 1.0 / curve->count;
    r = r < 0 ? 0 : r > 0.9 ? 0.9 : r;
    return (1 + r) / (1 - r);
}

/* Standard error of the g at which the fit is so low. */
static double error_at(const struct fit *fit, const struct curve *curve,
                       double noise, double g)
{
    double x = g - fit->g;

    return sqrt(noise * (1 / curve->weights + x * x / fit->across)) / fit->a;
}

/* Widens the interval by when this form meets the target, give or take; false:
 * maybe never. `single`: variance of one score, relative. */
static bool add_form(struct interval *when, const struct fit *fit,
                     const struct curve *curve, double noise, double single,
                     double target)
{
    double lucky = target + LUCK * sqrt(single) * target;
    double first = (lucky - fit->c) / fit->a, last = (target - fit->c) / fit->a;
    double from, to;

    if (!(fit->a > CLEARLY * sqrt(noise / fit->across)))
        return false;
    first += ERRORS * error_at(fit, curve, noise, first);
    last -= ERRORS * error_at(fit, curve, noise, last);
    if (!(last > 0))
        return false;
    from = form_meets(fit, first);
    to = form_meets(fit, last);
    when->from = from < when->from ? from : when->from;
    when->to = to > when->to ? to : when->to;
    return true;
}

/* When the curve meets the target, by all forms that it may have; false: that
 * is not known. */
static bool foresee_curve(const struct curve *curve, double target,
                          struct interval *when)
{
    struct fit fits[FORMS];
    const struct fit *best = NULL;
    double single, noise;

    for (unsigned i = 0; i < FORMS; i++) {
        fits[i] = fit_form(curve, i);
        if (fits[i].a > 0 && (!best || fits[i].squares < best->squares))
            best = &fits[i];
    }
    if (!best)
        return false;
    single = best->squares / (curve->count - 3);
    noise = single * dependence(best, curve);
    *when = (struct interval){INFINITY, 0};
    for (unsigned i = 0; i < FORMS; i++)
        if (fits[i].squares - best->squares <= MISFIT * noise &&
            !add_form(when, &fits[i], curve, noise, single, target))
            return false;
    return when->to >= when->from;
}

struct eta_left eta_of_score(const struct eta_track *track, nanos begun,
                             nanos now, double target)
{
    struct eta_left out = {.known = false};
    double age = in_seconds(now - begun);
    struct interval when;
    struct curve curve;

    if (!(target > 0) || age <= 0)
        return out;
    curve_of(&curve, track, begun, age);
    if (curve.count < 2 * SCORES_LEAST || !foresee_curve(&curve, target, &when))
        return out;
    when.from = (when.from - 1) * (1 - WIDER);
    when.to = (when.to - 1) * (1 + WIDER) + NARROW;
    if (!(when.to < FURTHEST))
        return out;
    out.known = true;
    out.seconds = age * (when.from + when.to) / 2;
    out.spread = age * (when.to - when.from) / 4;
    return out;
}

/* ---- answers ---- */

void eta_settle(struct eta_answer *answer, nanos now, struct eta_left fresh)
{
    if (fresh.known == answer->left.known) {
        answer->unlike = 0;
        answer->left = fresh;
        answer->at = now;
    } else if (++answer->unlike >= (fresh.known ? ETA_SURE : ETA_UNSURE)) {
        *answer = (struct eta_answer){.left = fresh, .at = now};
    }
}

struct eta_left eta_answer_now(const struct eta_answer *answer, nanos now)
{
    struct eta_left left = answer->left;

    left.seconds -= in_seconds(now - answer->at);
    if (left.seconds < 0)
        left.seconds = 0;
    return left;
}

const char *eta_end_words(enum eta_end end)
{
    static const char *const words[] = {"", "goal", "iterations", "epochs",
                                        "time"};

    return words[end];
}
