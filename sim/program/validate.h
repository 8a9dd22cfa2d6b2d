/* A recorded run and its simulation, for validate.c and what it prints. */
#ifndef SIM_PROGRAM_VALIDATE_H
#define SIM_PROGRAM_VALIDATE_H

#include "core/options.h"
#include "record/record.h"
#include "sim/study/measures.h"
#include "sim/study/scenario.h"
#include "sim/trace/trace.h"

struct validation {
    const char *path;
    struct options options;
    struct goal goal;
    struct trace *recorded;
    unsigned *numbers; /* of each node of the trace, in the simulation */
    struct measures real, simulated;
    struct record *record; /* of the simulation, NULL: none */
};

/* On standard output, as the options want it: a table, or a line of JSON. */
void validation_print(const struct validation *of,
                      const struct scenario *scenario);

#endif
