/* How many iterations each node does between two offers, by its speed.
 *
 * Dynamic Local Updates: a node w that does v_w iterations a second offers
 * every H_w = max(1, floor(v_w / v_ref * H)) iterations, so that nodes of any
 * speed offer at the same times and a slow one's offers are not stale. v_ref
 * is the 90th percentile of the live nodes' rates, so that one node far ahead
 * does not slow down the rest, and at most PACE_FASTER times their median, so
 * that no node's word sets k for all. No two speeds are quite the same: within
 * a tenth of v_ref H_w is H, which floor would make H - 1. Source: Asynchronous
 * Local-SGD (Liu et al. 2024, arXiv 2401.09135), algorithm 4, with the
 * percentile for its maximum. */
#ifndef POLICIES_PACE_H
#define POLICIES_PACE_H

#include <stdint.h>

/* No node is told to do more iterations than this between two offers. */
#define PACE_MOST 1000000000u

#define PACE_FASTER 16.0
#define PACE_SAME 0.1

/* v_ref: values_high of the rates, PACE_FASTER times their lower median at
 * most; 0 if none is known, that is finite and above 0. */
double pace_reference(const double *rates, unsigned count);

/* H_w for a node that does `rate` iterations a second, from H = `every` >= 1;
 * H itself while its rate or the reference is not known. */
uint64_t pace_steps(double rate, double reference, uint64_t every);

#endif
