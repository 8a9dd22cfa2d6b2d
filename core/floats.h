/* Loops over vectors of floats, at the speed of memory.
 *
 * Sums are in double. Each loop is written once and compiled for each level of
 * core/cpu.h. All give the same result to the last bit: element by element
 * there is one order of operations, and what is added up over a vector is added
 * up in lanes, as many at each level. A float may be at any address, as it
 * comes from the network. */
#ifndef CORE_FLOATS_H
#define CORE_FLOATS_H

#include <stddef.h>

/* Elements of a tile: what loops that follow each other go through at a time,
 * so that what one writes the next finds in the fastest cache. */
enum { FLOATS_TILE = 1024 };

/* into[i] += weight * values[i]. */
void floats_add(const void *values, size_t count, double weight, double *into);
/* to[i] = values[i], rounded. */
void floats_round(const double *values, size_t count, float *to);

/* A vector and what it weighs. */
struct weighed {
    const void *values;
    double weight;
};

/* floats_add of one, then of the other, in one pass. */
void floats_add_two(struct weighed first, struct weighed second, size_t count,
                    double *into);
/* to[i] = the sum of both, rounded: floats_add from zero, one after the other,
 * and floats_round, without a vector of sums in between. */
void floats_mix(struct weighed first, struct weighed second, size_t count,
                float *to);
/* values[i] /= by. */
void floats_divide(double *values, size_t count, double by);
/* to[i] += weight * by[i], rounded. */
void floats_move(const double *by, size_t count, double weight, float *to);

/* A sum of squares that grows: element i goes to lane i modulo FLOATS_LANES.
 * Zeroed at first; every piece but the last is a multiple of that long. */
enum { FLOATS_LANES = 16 };

struct squares {
    double lane[FLOATS_LANES];
};

void squares_add(struct squares *squares, const void *values, size_t count);
void squares_add_doubles(struct squares *squares, const double *values,
                         size_t count);
/* Not finite when one of the values was not. */
double squares_sum(const struct squares *squares);

#endif
