/* The cost of a star in time and in learning, in closed form: the arithmetic
 * by which k, d, codecs, gate and fragments can be chosen without a run.
 *
 * Times are seconds, sizes bytes, rates bytes per second, k and d iterations.
 * An exchange takes T_c, and a barrier's slowest node lets the others wait for
 * S; t is the time of an iteration, N the nodes, S_u and S_d what a node sends
 * and is sent in an exchange, R what the hub's port carries each way, r what a
 * node's link carries, L the latency, C a chunk, at most S_u or S_d:
 *
 *   (1) pipelined  T_c = 2 L + max(N max(S_u, S_d) / R, max(S_u, S_d) / r)
 *                        + max(N C / R, C / r) + T_hub
 *   (2) serial     T_c = max(N (S_u + S_d) / R, (S_u + S_d) / r)
 *   (3) staggered  T_c = 2 L + (S_u + S_d) / min(R, r) + W,
 *                  W = l S / (2 R (1 - l)), l = N S / (R k t)   (M/D/1)
 *   (4) lag        S = k (max t - t) + cv t sqrt(k) E[max of N normals]; with
 *                  DyLU max(0, max t - k t) for the first, as the slowest node
 *                  does an iteration at least
 *   (5) stall      max(0, T_c + S - d t)
 *   (6) used       U = k t / (k t + stall)
 *   (7) floor      k >= N max(S_u, S_d) / (R t), and with r for one node
 *   (8) k*         sqrt(k_half T_c / t), or sqrt(psi k_half T_c / t) if hidden
 *   (9) overhead   (1 + sqrt(T_c / (k_half t)))^2 - 1, or with psi T_c
 *  (10) least k    N P b / (B t), rounded up: both directions at a time
 *
 * (3): Kleinrock, Queueing Systems I, 5.6. (7) and (10) are one inequality, by
 * what is sent and by bytes per parameter.
 *
 * How many iterations a target takes is a product:
 *
 *   (11) S = S_min (1 + B / N) phi_k phi_d phi_codec phi_policy
 *   (12) phi_k = 1 + k / k_half
 *   (13) phi_d = 1 + psi d / k, or 1 + psi d / (k + d) where a policy moves
 *        nodes by k / (k + d) of a result (--merge schedule-free)
 *
 * B is the gradient noise scale in batches of one node (McCandlish et al. 2018,
 * "An Empirical Model of Large-Batch Training", equation 2.11). The factors
 * are fitted to losses of small nets (docs/untuned.md has them beside what they
 * foresee), and are priors for others. They are what a target costs in
 * *iterations*; iterations a second are (6)'s business. */
#ifndef SIM_STUDY_PLAN_H
#define SIM_STUDY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/msg.h"

/* psi where nodes move by a part of a result, and where by all of it. */
#define PLAN_PSI 0.4
#define PLAN_PSI_WHOLE 0.5

/* B where nobody says it, and what it was in the four works of docs/untuned.md:
 * at least (a transformer) and at most (a convolutional network). */
#define PLAN_NOISE 2.0
#define PLAN_NOISE_LEAST 0.5
#define PLAN_NOISE_MOST 11.0

/* What a policy costs in iterations, beside `auto`: on the transformer of
 * docs/untuned.md `delayed` 1.7 and `async` 1.1 to 1.25, with equal PCs and
 * with speeds 0.58, 0.75, 1.51 and 3.33. DiLoCo's momentum costs 1.7 to 4.5
 * there, and saves three tenths on a character model after ten times the
 * rounds: 1, and it is not chosen unless it is named. */
enum plan_policy {
    PLAN_AUTO,
    PLAN_MEAN,
    PLAN_DILOCO,
    PLAN_DELAYED,
    PLAN_ASYNC,
    PLAN_POLICIES
};

struct plan_policy_info {
    const char *name; /* of the preset */
    bool barrier;     /* a round waits for every node */
    bool soft;        /* the second form of (13) */
    double factor;    /* phi_policy */
};
extern const struct plan_policy_info plan_policies[PLAN_POLICIES];

/* A star and what trains on it. */
struct plan_star {
    unsigned nodes;
    double params;
    double step;    /* t: N over the sum of what nodes do in a second */
    double slowest; /* max t */
    double fastest; /* min t: the one PC to compare with */
    double cv;      /* of the time of an iteration */
    double port;    /* R of the hub, each way, what is reserved taken off */
    double link;    /* r of a node, each way, the same */
    double latency; /* L, one way */
    double chunk;   /* of float32; C is less with a codec */
    double hub;     /* T_hub */
    double k_half, noise_scale; /* B */
};

/* The settings that can be chosen. */
struct plan_setting {
    enum plan_policy policy;
    bool dylu; /* slower nodes do fewer iterations, k and d are the fastest's */
    bool waits; /* a late result is waited for; else it is applied late, and
                   costs learning instead of time. With d = 0 all wait. */
    unsigned every, delay, fragments; /* k, d, F >= 1 */
    enum codec_id up, down;
};

/* Their prediction. */
struct plan {
    double exchange; /* T_c of a fragment */
    double lag;      /* S of one */
    double stall;    /* in k iterations, of all fragments */
    double used;
    double floor;        /* (7) */
    bool hidden;         /* d t >= T_c + S, and k is not below the floor */
    double every, delay; /* what k and d come to: of a mean node with DyLU,
                            and where results are late */
    double phi_k, phi_d, phi_codec, phi_policy, phi; /* and their product */
    double rate;     /* iterations a second of a node, the mean */
    double up, down; /* bytes a second of a node; N times that at the hub */
    double speed_up; /* over the fastest PC alone, to the same target */
};

/* Bytes of the whole model in a codec. */
double plan_payload(const struct plan_star *star, enum codec_id codec);
/* The largest of n standard normal numbers, expected. */
double plan_expected_max(unsigned n);

/* (1) to (3), of payloads of these sizes; (3) for rounds of k iterations. */
double plan_pipelined(const struct plan_star *star, double up, double down,
                      double chunk);
double plan_serial(const struct plan_star *star, double up, double down);
double plan_staggered(const struct plan_star *star, double up, double down,
                      double every);
/* (4) */
double plan_lag(const struct plan_star *star, double every, bool dylu);
/* (5), (6) */
double plan_stall(double exchange, double lag, double delayed);
double plan_used(double training, double stall);
/* (7), not rounded */
double plan_floor(const struct plan_star *star, double up, double down);
/* (8), (9) */
double plan_best_every(double k_half, double exchange, double step,
                       bool hidden);
double plan_overhead(double k_half, double exchange, double step, bool hidden);
/* (10): `bytes` per parameter, `rate` each way. At least 1. */
uint64_t plan_least_every(unsigned nodes, double params, double bytes,
                          double rate, double step);

/* phi_codec of one direction: iterations to a validation loss of 2.10 on the
 * character model, int8 1.01, int4 and e3m0 1.04, sign 1.7, top10 1.5. What was
 * not measured is infinite, and so never chosen. The same is taken for results,
 * whose codec leaves its rest in the next result as uploads do. */
double plan_codec_factor(enum codec_id codec);
/* F that spreads an exchange over k where little of it is left: T_c / (k t -
 * T_c), rounded up; 1 to 64 and at most k. */
unsigned plan_fragments(double exchange, double step, unsigned every);

/* What all-reduce of float32 at each step comes to, in a ring: each node sends
 * and is sent 2 (N - 1) / N of the model over its own link, in 2 (N - 1) trips
 * (Patarasuk and Yuan 2009), and waits for the slowest. */
void plan_ring(const struct plan_star *star, struct plan *out);
/* All of the above for one setting. A late result has d = (T_c + S) / t, and as
 * turns that come before it are left out, k becomes the next multiple of it. */
void plan_predict(const struct plan_star *star,
                  const struct plan_setting *setting, struct plan *out);
/* (11)'s factors, at the k and d that a setting comes to. */
void plan_learn(const struct plan_star *star,
                const struct plan_setting *setting, double every, double delay,
                struct plan *out);
/* (11)'s part that counts nodes, against the fastest PC alone: the speed-up of
 * `rate` iterations a second and node at this phi. */
double plan_speed_up(const struct plan_star *star, double rate, double phi);
/* The same setting's where B is another one. */
double plan_with_noise(const struct plan_star *star, double speed_up,
                       double noise_scale);

#endif
