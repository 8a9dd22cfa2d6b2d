/* A vector that is a sum of weighted blobs, not yet added up.
 *
 * References move at every result, and most of these moves cancel; keeping
 * terms instead of values makes them free. A job adds them up when the value
 * is needed. */
#ifndef NODE_SUM_H
#define NODE_SUM_H

#include "seam/machine.h"

struct sum {
    struct input *term;
    unsigned count, capacity;
};

void sum_free(struct sum *sum);
/* Adds a term; the blob is referenced. Terms of one blob become one, or none
 * when they cancel, so that sums stay short. */
void sum_add(struct sum *sum, struct blob *blob, double weight,
             enum codec_id codec);
/* Makes it just this blob of raw values. */
void sum_set(struct sum *sum, struct blob *blob);
void sum_copy(struct sum *to, const struct sum *from);
/* Adds all terms of another sum times `factor`. */
void sum_join(struct sum *to, const struct sum *from, double factor);
/* Whether they have a blob in common, so that one from the other is short. */
bool sums_meet(const struct sum *one, const struct sum *other);
/* 1 + the term whose statistics are the sum's: the last that is added, as
 * statistics stand in each blob as they are. 0: there is none. */
unsigned sum_plain(const struct sum *sum);
/* Appends the terms times `factor` to a job's inputs from place `at` on;
 * returns the place after them. */
unsigned sum_into(const struct sum *sum, double factor, struct job *job,
                  unsigned at);

/* Its values from element `at` of the chunk on, a multiple of CODEC_GRAIN; at
 * most as many. */
void sum_read(const struct sum *sum, const struct extent *extent, size_t at,
              size_t count, double *values);
/* Its value at an element of the chunk. */
double sum_at(const struct sum *sum, const struct extent *extent, size_t at);

#endif
