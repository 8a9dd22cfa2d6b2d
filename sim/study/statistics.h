/* What a few numbers say, and how sure of it one may be.
 *
 * For results of runs with the same seeds: seed by seed the luck is the same,
 * so that differences are taken in pairs. What never came is INFINITY: it sorts
 * behind all else, and is in no mean. Pure. */
#ifndef SIM_STUDY_STATISTICS_H
#define SIM_STUDY_STATISTICS_H

#include <stddef.h>

/* Sorts count >= 1 values and gives the one below which `share` of them are,
 * between two by their distances (Hyndman and Fan 1996, type 7). 0.5: the
 * median. */
double statistics_quantile(double *values, size_t count, double share);

/* The middle half: its ends differ by the interquartile range. */
struct quartiles {
    double low, median, high;
};

/* Sorts the values, at least one. */
struct quartiles statistics_quartiles(double *values, size_t count);

struct mean {
    double value;     /* NAN of nothing */
    double deviation; /* of a value, by count - 1; NAN of one */
    double error;     /* the standard error of the mean: deviation / sqrt(n) */
};

struct mean statistics_mean(const double *values, size_t count);

/* a beside b, pair by pair. */
struct pairs {
    struct mean mean;    /* of a - b, or a geometric one of a / b, where that is
                            a number */
    size_t count;        /* pairs in the mean */
    size_t below, above; /* pairs in which a is less than b, or more */
};

struct pairs statistics_differences(const double *a, const double *b,
                                    size_t count);
/* The same of ratios of what is above 0: the mean of the logarithms, its error
 * carried over to first order. */
struct pairs statistics_ratios(const double *a, const double *b, size_t count);

/* Kendall's tau-b: 1 when a and b rank alike, -1 when the other way round;
 * ties make it smaller (Kendall 1945). NAN where one of them is all ties. */
double statistics_kendall(const double *a, const double *b, size_t count);

#endif
