/* How long the run will take yet: an estimate and its spread, from how it has
 * gone so far. Pure, and honest: what is not known yet is not said.
 *
 * A count (iterations, tasks) is taken for a random walk with a drift: its rate
 * r and the variance s2 of that per second come from the later half of what was
 * noted. To go R further takes R/r, and that varies by s2 R / r^3 (the first
 * passage time of such a walk is inverse Gaussian) and by how well r is known,
 * s2 / T over the time T that it was seen for.
 *
 * A score (loss, or error = 1 - accuracy) is taken for a power of the time,
 * ln y = a - b ln t, again of the later half, fitted by least squares; where it
 * meets the goal has the error of such a fit. Farther than ten times the time
 * so far nothing is said, nor while b is not clearly above 0. */
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

/* Values are to come with a time that grows; a count that falls begins anew. */
void eta_note_count(struct eta_track *track, nanos now, double value);
void eta_note_score(struct eta_track *track, nanos now, double value);

/* Until the count, which is `value` now, is the target. */
struct eta_left eta_of_count(const struct eta_track *track, double value,
                             double target);
/* Until the score is as low as the target; time counts from `begun`. */
struct eta_left eta_of_score(const struct eta_track *track, nanos begun,
                             nanos now, double target);

const char *eta_end_words(enum eta_end end);

#endif
