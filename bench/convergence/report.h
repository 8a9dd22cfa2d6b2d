/* docs/convergence.md, from what was found. */
#ifndef BENCH_CONVERGENCE_REPORT_H
#define BENCH_CONVERGENCE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/convergence/findings.h"

struct report {
    FILE *file;
    const struct series *series; /* by arm */
    const bool *wanted;          /* by row */
    bool quick;                  /* with a quarter of the iterations */
    unsigned workers;
    double seconds; /* that it all took */
};

void report_write(const struct report *report);

#endif
