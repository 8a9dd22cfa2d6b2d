/* When a run is good enough to stop. */
#ifndef CORE_GOAL_H
#define CORE_GOAL_H

#include "core/status.h"
#include "core/text.h"

enum goal_kind { GOAL_NONE, GOAL_LOSS, GOAL_ACCURACY };

struct goal {
    enum goal_kind kind;
    double value; /* loss at most; or accuracy at least, 0..1 */
};

/* Reads 87% or 0.35; 87 is neither. USAGE with what was expected; then `out` is
 * unchanged. */
enum status goal_parse(const char *text, struct goal *out,
                       struct why *why) MUST_CHECK;
/* Adds it as goal_parse reads it. */
void goal_print(const struct goal *goal, struct text *out);

#endif
