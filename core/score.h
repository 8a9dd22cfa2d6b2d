/* Scores. Unless something else is said a score is a loss: lower is better. */
#ifndef CORE_SCORE_H
#define CORE_SCORE_H

#include <stdbool.h>

/* Stands for a score that there is not; a finite number, so that it can be
 * compared, printed and sent. */
#define NO_SCORE 1e300

/* False for NO_SCORE, infinity and NaN: these never lead. */
static inline bool score_known(double score)
{
    return score > -NO_SCORE && score < NO_SCORE;
}

#endif
