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

#include <stdbool.h>
#include <stdint.h>

/* No node is told to do more iterations between two offers than this, or so
 * many times what the reference does: its rate may be a mistake, and until it
 * offers again all others wait. */
#define PACE_MOST 1000000000u
#define PACE_AHEAD 4.0
#define PACE_FASTER 16.0
#define PACE_SAME 0.1

/* v_ref: values_high of the rates, PACE_FASTER times their lower median at
 * most; 0 if none is known, that is finite and above 0. */
double pace_reference(const double *rates, unsigned count);

/* v_w / v_ref: 1 where they are within a tenth, or not known; PACE_AHEAD at
 * most. */
double pace_share(double rate, double reference);

/* H_w for a share of the speed, from H = `every` >= 1; d_w from `delay`, so
 * that a result is waited for as long as by others: rounded up. */
uint64_t pace_steps(double share, uint64_t every);
uint64_t pace_delay(double share, uint64_t delay);

/* Whether H_w is to be told anew, where the node has `before`: by more than a
 * quarter, and not to and fro between two rates that differ by noise. */
bool pace_differs(double share, uint64_t every, uint64_t before);

#endif
