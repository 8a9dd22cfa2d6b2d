/* How long the run will take yet: an estimate and its spread, from how it has
 * gone so far. Pure, and honest: what is not known yet is not said.
 *
 * A count (iterations, tasks) is taken for a random walk with a drift: its rate
 * r and the variance s2 of that per second come from the later half of what was
 * noted. To go R further takes R/r, and that varies by s2 R / r^3 (the first
 * passage time of such a walk is inverse Gaussian) and by how well r is known,
 * s2 / T over the time T that it was seen for.
 *
 * A score (loss, or error = 1 - accuracy) falls along a curve whose form nobody
 * knows. Many are tried, y = c + a (t + o)^-p: powers of the time with and
 * without an asymptote c, and with large o what comes close to exponentials;
 * each is fitted by weighted least squares to all that was noted. Those that
 * are not clearly worse than the best one may be the curve, in which residuals
 * that hang together count as so much less. The interval that is said holds all
 * of them, with the error of each fit, and the luck of one score; two spreads
 * are half of it. If one of them never meets the goal, or not within twenty
 * times the time so far, nothing is said.
 *
 * So that an answer does not come and go, it changes between known and not
 * known only when several new ones in a row want it to (struct eta_answer).
 * What no curve so far can tell, as a learning rate that is cut later, is in no
 * spread. */
#ifndef HUB_ETA_H
#define HUB_ETA_H

#include <stdbool.h>

#include "core/time.h"

/* Points of a track: half of them are left out when there are so many. */
enum { ETA_POINTS = 64 };

/* What ends a run, as far as can be foreseen. */
enum eta_end { ETA_NOTHING, ETA_GOAL, ETA_ITERATIONS, ETA_EPOCHS, ETA_TIME };

struct eta_left {
    bool known;
    double seconds, spread; /* one standard deviation */
};

/* A value over time, from the first to the last noted, evenly. */
struct eta_track {
    nanos step; /* between two points, at least */
    unsigned count;
    struct {
        nanos at;
        double value;
    } points[ETA_POINTS];
};

/* So many estimates in a row make an answer known, or not known any more. */
enum { ETA_SURE = 8, ETA_UNSURE = 4 };

/* What is said; all zero: nothing yet. */
struct eta_answer {
    struct eta_left left; /* as it was estimated */
    nanos at;             /* then */
    unsigned unlike;      /* estimates since that are not of its kind */
};

/* Values are to come with a time that grows; a count that falls begins anew. */
void eta_note_count(struct eta_track *track, nanos now, double value);
/* True: it was noted, and there may be another estimate. */
bool eta_note_score(struct eta_track *track, nanos now, double value);

/* Until the count, which is `value` now, is the target. */
struct eta_left eta_of_count(const struct eta_track *track, double value,
                             double target);
/* Until the score is as low as the target; time counts from `begun`. */
struct eta_left eta_of_score(const struct eta_track *track, nanos begun,
                             nanos now, double target);

/* There is a new estimate. */
void eta_settle(struct eta_answer *answer, nanos now, struct eta_left fresh);
struct eta_left eta_answer_now(const struct eta_answer *answer, nanos now);

const char *eta_end_words(enum eta_end end);

#endif
