/* What the outcomes of all seeds say, arm by arm and claim by claim. */
#ifndef BENCH_CONVERGENCE_FINDINGS_H
#define BENCH_CONVERGENCE_FINDINGS_H

#include "bench/convergence/outcome.h"
#include "sim/study/statistics.h"

/* Of one arm; the same seeds, in the same order, for all arms of a workload. */
struct series {
    const struct outcome *outcomes; /* NULL: not asked for */
    unsigned seeds;
    char trouble[128]; /* why it was not run, or "" */
};

/* Of a measure other than SHOWN: losses, bytes, seconds, right answers. */
struct mean series_mean(const struct series *series, enum compared measure);

enum holding {
    HOLDS_CLEARLY, /* by two standard errors */
    HOLDS,
    FAILS,
    NOT_RUN,
    CONTEXTS
};

struct finding {
    enum holding holding;
    double value;        /* a ratio or a difference, of means over seeds */
    double error;        /* its standard error, paired by seed; NAN: one seed */
    const char *trouble; /* NOT_RUN: why */
};

/* series[] is by arm. A loss that is no number, or infinite, makes the ratio
 * infinite. The error of a ratio is that of the ratio estimator: Cochran,
 * "Sampling Techniques" (1977), equation 6.13. */
struct finding claim_judge(const struct claim *claim,
                           const struct series *series);

#endif
