/* When a run is good enough to stop. */
#ifndef CORE_GOAL_H
#define CORE_GOAL_H

enum goal_kind { GOAL_NONE, GOAL_LOSS, GOAL_ACCURACY };

struct goal {
    enum goal_kind kind;
    double value; /* loss at most; or accuracy at least, 0..1 */
};

#endif
