/* What is run and what is claimed, as tables: arms.def and rows.def. */
#ifndef BENCH_CONVERGENCE_PLAN_H
#define BENCH_CONVERGENCE_PLAN_H

#include "bench/convergence/workload.h"
#include "core/status.h"
#include "hub/hub.h"

enum arm_id {
#define ARM(ID, workload, kind, nodes, twists, rate, options, name) ID,
#include "bench/convergence/arms.def"
#undef ARM
    ARMS,
    NOTHING = ARMS
};

enum arm_kind {
    STAR,   /* a hub with nodes; judged is the hub's centre */
    ALONE,  /* the first of so many nodes, without a hub */
    BEST,   /* so many nodes without a hub, the best by the hub's data */
    AVERAGE /* the same, the mean of their parameters at the end */
};

/* What is different in an arm; to be combined. */
enum twist {
    PLAIN = 0,
    SAME_START = 1, /* all nodes have the first one's first parameters */
    PACED = 2,      /* nodes of unequal speed, arm_paces */
    OVERWRITE = 4,  /* x = result, not x += result - x_sent */
    ATTACK = 8,     /* the last node offers -10 times its progress */
    AS_IT_IS = 16,  /* codecs are the hub's choice, not raw */
    GIANT = 32,     /* the last node offers -1e6 times its progress */
    SPOILED = 64,   /* the last node offers NaN */
    BOASTS = 128,   /* the last node says that its loss is far below all */
    MANY = 256,     /* and so do all of the last two fifths */
    FLIP = 512,     /* the last node offers -1 times its progress */
    COPIES = 1024,  /* the last node offers what the first one offered last */
    LABELS = 2048   /* the last node learns that each label y is 9 - y */
};

struct arm {
    const char *id, *name;
    enum workload_id workload;
    enum arm_kind kind;
    unsigned nodes, twists;
    double rate;         /* 0: the workload's */
    const char *options; /* the hub's, as on its command line */
};

extern const struct arm arms[ARMS];

/* Seconds of an iteration of node i where nodes are PACED. */
double arm_pace(const struct arm *arm, unsigned node);
/* The learning rate in its nodes. */
double arm_rate(const struct arm *arm);

/* Turns the options of a STAR into the hub's configuration. USAGE, CONFIG: the
 * hub has no such option or policy. */
enum status arm_configure(const struct arm *arm, struct hub_config *out,
                          struct why *why) MUST_CHECK;

/* The headlines of rows.def. */
enum row_id {
#define ROW(row, headline, text) ROW_##row,
#define SHOW(row, arm)
#define CLAIM(row, measure, left, right, relation, target, prior, text)
#include "bench/convergence/rows.def"
#undef ROW
#undef SHOW
#undef CLAIM
    ROWS
};

struct row {
    const char *id, *headline, *text;
};

extern const struct row rows[ROWS];

/* What a claim compares. */
enum compared {
    SHOWN,    /* nothing: its left arm is shown */
    LOSS,     /* ratio of losses, left / right */
    TUNING,   /* the same, by the hub's samples */
    BYTES,    /* ratio of bytes on the wire */
    DURATION, /* ratio of virtual times */
    ACCURACY  /* left's share of right answers, less right's if there is one */
};

enum relation { AT_MOST, AT_LEAST };

struct claim {
    enum row_id row;
    enum compared measure;
    enum arm_id left, right;
    enum relation relation;
    double target;
    const char *prior, *text;
};

/* In the order of rows.def. */
extern const struct claim claims[];
extern const unsigned claim_count;

#endif
