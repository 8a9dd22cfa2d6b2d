/* The tuner: which k, d, codecs, policy and fragments a star should have.
 *
 *     status = tune_open(&options, &tune, &why);
 *     if (tune_search(tune, workers, progress)) ... tune->rows[tune->best] ...
 *     tune_close(&tune);
 *
 * It enumerates some thousand settings, predicts each by plan.h, runs the most
 * promising and then the neighbours of the best one (trial.h), and takes the
 * one with the highest speed-up over one PC. What the options give is not
 * varied.
 *
 * A run measures *time*: the iterations a second that a setting leaves, how
 * often nodes really exchange and how late results really are. What that is
 * worth for *learning* is said by the measured factors of plan.h (11), at the k
 * and d that the run came to. The surrogate's own time to a loss is not
 * asked, because it is a quadratic: eight nodes reach 0.02 with `mean` after
 * 317, 316, 300 and 300 s at k = 5, 20, 100 and 500, as if rare exchanges cost
 * nothing, and with `diloco` after 49, 88, 280 and 600 s, as if momentum at the
 * hub were worth six times as much. On nets k = 500 has cost twice the
 * iterations, and momentum two fifths. Both are models; one was measured. What
 * it takes for granted are k_half and the gradient noise scale, --k-half and
 * --noise-scale, and whoever prints a result says so. */
#ifndef SIM_STUDY_TUNE_H
#define SIM_STUDY_TUNE_H

#include <stdbool.h>

#include "core/options.h"
#include "core/status.h"
#include "sim/study/plan.h"
#include "sim/study/trial.h"

struct trace;

/* Below this the network is not worth it: "use one PC". */
#define TUNE_LEAST 1.05
/* If no prediction comes to this, nothing is played: simulating a network that
 * takes hours for an exchange would take long, and change nothing. */
#define TUNE_HOPELESS 0.5
/* Of settings so close to the best, the one with least traffic is taken: seeds
 * differ by as much. */
#define TUNE_CLOSE 0.01
/* And of traffics so close the faster one. */
#define TUNE_ALIKE 0.02

enum {
    TUNE_SEEDS = 3,   /* where --seeds is not given */
    TUNE_PICKS = 8,   /* predicted best, and different */
    TUNE_PASSES = 2,  /* of neighbours */
    TUNE_WARM = 3,    /* offers of a run before it is measured */
    TUNE_CHOSEN = 16, /* the same, where the hub chooses k and d first */
    TUNE_ROUNDS = 6   /* of a run that are measured */
};

struct tune_row {
    struct plan_setting setting;
    struct plan plan;
    bool tried;
    struct trial trial; /* mean over seeds */
    double speed_up;    /* by the trial; 0 until then */
};

/* Seconds from the start to the goal: the median of the seeds, and their ends.
 * INFINITY: not reached, and `trouble` says why if something went wrong. */
struct tune_goal {
    double seconds, least, most;
    char trouble[TROUBLE_BYTES];
};

struct tune {
    struct options options;
    bool trains; /* --model and the like: it can be foreseen when it is good */
    struct plan_star star;
    double span; /* of the trace, seconds; 0: none */
    unsigned seeds;
    struct tune_row *rows; /* best prediction first, then neighbours */
    unsigned count, room, enumerated, tried;
    unsigned best; /* after a search */
    /* What --policy auto comes to, told nothing, in the same plays; not tried
     * where the options name something of it, or nothing is played. */
    struct tune_row by_itself;
    struct tune_goal goal;
};

/* Reads trace and options, enumerates and predicts. USAGE, CONFIG and what
 * opening a scenario can end with. */
enum status tune_open(const struct options *options, struct tune **out,
                      struct why *why) MUST_CHECK;
void tune_close(struct tune **tune);

/* Plays these rows that were not, and says how far it is on standard error if
 * `noun` is not NULL. False: interrupted. */
bool tune_try(struct tune *tune, const unsigned *rows, unsigned count,
              unsigned workers, const char *noun);
/* Plays what it takes, nothing if it is hopeless. False: interrupted, and
 * `best` is of what was played. */
bool tune_search(struct tune *tune, unsigned workers, const char *noun);
/* Plays the star with k, d and codecs left to the hub. False: interrupted. */
bool tune_by_itself(struct tune *tune, unsigned workers, const char *noun);
/* Plays the best row until --goal, with each seed and with what `trains`: the
 * surrogate would say nothing (above), and what is trained on real links is the
 * same to the bit. False: interrupted. */
bool tune_until_goal(struct tune *tune, unsigned workers, const char *noun);
/* The best of the rows that were tried, by TUNE_CLOSE. */
unsigned tune_best(const struct tune *tune);

/* Options of a star with this setting. */
void tune_apply(const struct tune *tune, const struct plan_setting *setting,
                struct options *options);
/* --outer-momentum for its policy and rounds; NAN: the policy's own. One of
 * 0.9 remembers ten rounds, and needs a hundred; with fewer it is 0.5. */
double tune_momentum(const struct tune *tune,
                     const struct plan_setting *setting);
/* The options that say so, and all of a command line. */
void tune_words(const struct tune *tune, const struct plan_setting *setting,
                struct text *out);
void tune_command(const struct tune *tune, const struct plan_setting *setting,
                  struct text *out);
/* That with which `by_itself` was played. */
void tune_command_by_itself(const struct tune *tune, struct text *out);

/* What keeps a setting from being faster. */
enum tune_bound {
    TUNE_BY_FLOOR,     /* k is near what the network carries */
    TUNE_BY_STRAGGLER, /* a round's slowest node takes longer than its data */
    TUNE_BY_HIDING,    /* waiting, or results that come later, cost most */
    TUNE_BY_LEARNING   /* rare exchanges cost most */
};
enum tune_bound tune_bound(const struct tune *tune,
                           const struct plan_setting *setting);

/* ---- its parts ---- */

/* The star of options and trace (NULL: none) in numbers. A link that changes
 * counts as what the slowest of all has at half of the times; losses limit it
 * as world_link says. `speeds` repeat. */
void tune_star(const struct options *options, const struct trace *trace,
               const double *speeds, unsigned speed_count,
               struct plan_star *out);
/* Adds a row and its prediction, unless it is there; returns its place. */
unsigned tune_add(struct tune *tune, const struct plan_setting *setting);
/* Every setting that is worth a prediction, given `options`. USAGE. */
enum status tune_enumerate(struct tune *tune, struct why *why);
/* Those near this one, at most `room`, in the order of promise. */
unsigned tune_neighbours(const struct tune *tune,
                         const struct plan_setting *setting,
                         struct plan_setting *out, unsigned room);

#endif
