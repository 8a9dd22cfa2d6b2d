/* What both twins go through, and the simulated one: see twins.c. */
#ifndef TESTS_NODE_LIBRARY_TWIN_H
#define TESTS_NODE_LIBRARY_TWIN_H

#include "tests/node/fake_hub.h"

enum { TWIN_SAMPLES = 32 }; /* an iteration's */

/* What the hub wants, and how long one trains. */
struct twin_script {
    uint64_t every, delay, iterations;
    enum exchange exchange;
    enum verb verb;
    double weight, anchor;
    uint64_t lag; /* iterations that a copy takes: below k, and below d */
    uint32_t fragments;
};

/* Their hub, which has them wait for each result. */
struct fake_hub *twin_tutor(const struct twin_script *script);
/* The parameters at first. */
void twin_begin(float x[FAKE_HUB_ELEMENTS]);
/* Towards numbers that change with the iteration; the loss is not always
 * known. */
double twin_gradient(const void *context, uint64_t iteration, const float *x,
                     size_t elements, float *out);
void twin_descend(float *x, const float *by, size_t first, size_t count);
/* The simulated trainer does it. */
void twin_by_hand(const struct twin_script *script, struct fake_hub *hub);

#endif
