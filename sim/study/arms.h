/* Arms: the settings of a grid, each played with the same seeds, and what comes
 * of comparing them.
 *
 *     status = arms_new(&grid, &options, &arms, &why);
 *     whole = arms_play(arms, "runs");
 *     ... arms->order, arms_run, arm->... ...
 *     arms_destroy(&arms);
 *
 * What is compared is the virtual time to the goal or, where none is given, the
 * loss of the centre at the end; less is better. A run that did not get there
 * counts as INFINITY, so that it is in medians and quartiles as what it is.
 * Seed by seed the nodes have the same data, first parameters and luck, so an
 * arm is set beside the best one in pairs. */
#ifndef SIM_STUDY_ARMS_H
#define SIM_STUDY_ARMS_H

#include <stdbool.h>

#include "sim/study/grid.h"
#include "sim/study/outcome.h"
#include "sim/study/statistics.h"

enum { ARMS_RUNS = 100000, ARM_POINTS = 128 };

/* An arm with a seed. Zeros: it was not begun, or its process died. */
struct arm_run {
    struct outcome outcome;
    bool refused; /* settings that do not go together, says outcome.trouble */
    /* The centre over time, if curves are wanted. */
    unsigned count;
    struct arm_point {
        float time, loss;
    } points[ARM_POINTS];
};

enum arm_figure {
    ARM_TIME, /* seconds from the start to the end */
    ARM_LOSS,
    ARM_ITERATIONS, /* of a node */
    ARM_BYTES,      /* of all nodes, both ways */
    ARM_IDLE,
    ARM_STALENESS,
    ARM_FIGURES
};

struct arm {
    unsigned done;               /* runs that ended as they should */
    unsigned reached;            /* of these, runs that came to a result */
    bool refused;                /* by one run, and so by all */
    struct quartiles result;     /* of all runs; INFINITY: did not get there */
    double medians[ARM_FIGURES]; /* of runs that were done; NAN: of none */
    unsigned wins;               /* seeds in which no arm was better */
    struct pairs best; /* its results beside those of the best, as ratios */
};

struct arms {
    const struct grid *grid; /* borrowed */
    struct options options;
    bool curves; /* to be set before playing: runs have points */
    unsigned count, seeds;
    unsigned played;  /* arms that were not refused */
    struct arm *list; /* by place in the grid */
    unsigned *order;  /* places, best first, and the refused behind */
    struct arm_run *runs;
};

/* `options` are copied; their --seed, --seeds and --workers say how to run.
 * USAGE: more than ARMS_RUNS runs. */
enum status arms_new(const struct grid *grid, const struct options *options,
                     struct arms **out, struct why *why) MUST_CHECK;
void arms_destroy(struct arms **arms);

/* The options of a place, seed aside. */
void arms_options(const struct arms *arms, unsigned place, struct options *out);
/* Plays all, in processes of their own, and ranks them. False: interrupted;
 * `seeds` are then those that all arms were played with. */
bool arms_play(struct arms *arms, const char *noun);

/* Says anew what the runs come to; playing ends with this. */
void arms_rank(struct arms *arms);

const struct arm_run *arms_run(const struct arms *arms, unsigned place,
                               unsigned seed);
/* The measure of the run; INFINITY: it did not get there. */
double arms_result(const struct arms *arms, const struct arm_run *run);
/* Whether results are times to a goal, else they are losses. */
bool arms_have_goal(const struct arms *arms);

/* The median of the runs' losses `time` seconds after the start, each
 * the last one until then; NAN: there was none. Needs curves. */
double arms_loss_at(const struct arms *arms, unsigned place, double time);

/* The worth of one of the grid's options, all else being equal. */
struct worth {
    unsigned axis;
    /* How many times the result of the best value each value's is: the median
     * over all values of the other options. INFINITY: it does not get there;
     * NAN: no arm of that value was played beside one that did. */
    double times[GRID_VALUES];
    double factor; /* from the least of these to the greatest */
};

/* Sets one for each of the grid's options, that which matters most first. */
void arms_weigh(const struct arms *arms, struct worth worths[GRID_AXES]);

#endif
