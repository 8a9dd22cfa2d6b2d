/* How many iterations each node does between two offers, by its speed.
 *
 * Dynamic Local Updates: a node w that does v_w iterations a second offers
 * every H_w = max(1, floor(v_w / v_ref * H)) iterations, so that nodes of any
 * speed offer at the same times and a slow one's offers are not stale. v_ref
 * is the 90th percentile of the live nodes' rates: one node that is far ahead
 * does not slow down the rest. Source: Asynchronous Local-SGD (Liu et al.
 * 2024, arXiv 2401.09135), algorithm 4, with the percentile for its maximum. */
#ifndef POLICIES_PACE_H
#define POLICIES_PACE_H

#include <stdint.h>

/* No node is told to do more iterations than this between two offers. */
#define PACE_MOST 1000000000u

/* The 90th percentile by nearest rank (the ceil(0.9 n)th of n in order; below
 * ten nodes the fastest) of the rates that are known: finite and above 0. 0 if
 * there is none. */
double pace_reference(const double *rates, unsigned count);

/* H_w for a node that does `rate` iterations a second, from H = `every` >= 1;
 * H itself while its rate or the reference is not known. */
uint64_t pace_steps(double rate, double reference, uint64_t every);

#endif
