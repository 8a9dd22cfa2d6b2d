/* The inside of a scenario: scenario.c reads it, scenario_run.c runs it. */
#ifndef SIM_STUDY_SCENARIO_INSIDE_H
#define SIM_STUDY_SCENARIO_INSIDE_H

#include "hub/hub.h"
#include "sim/study/scenario.h"

enum { SCENARIO_SPEEDS = 256 };
/* Where the options do not say. */
#define USUAL_STEP (100 * MILLISECOND)
#define USUAL_RUN (600 * SECOND)

struct trace;
struct script;

struct scenario {
    struct options options;
    struct hub_config hub; /* without what a run adds */
    struct trace *trace;   /* NULL: none */
    struct script *script; /* NULL: none */
    double speeds[SCENARIO_SPEEDS];
    unsigned speed_count;
};

#endif
