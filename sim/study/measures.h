/* The numbers of a run, from its hub's recording: those by which a real
 * run and a simulated one are compared.
 *
 *     measures_begin(&measures, goal);
 *     for each line of a recording (record/record.h):
 *         measures_add(&measures, line);
 *     measures_end(&measures);       // now the numbers may be read
 *     measures_free(&measures);
 *
 * Lines that are not asked for, or make no sense, are passed over. Times are
 * seconds. How the run began is not part of it: all is measured from the first
 * round, or a node's first PING behind it, to where the end was said. */
#ifndef SIM_STUDY_MEASURES_H
#define SIM_STUDY_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/value.h"

enum { MEASURED_NAME_BYTES = 64 };

struct measured_node {
    char name[MEASURED_NAME_BYTES];
    double rate; /* iterations per second, the slope of a straight line through
                    what its PINGs say; 0: not known */
    /* Inside: of its PINGs. */
    uint64_t peer;
    double sent, waited, iteration;   /* of the first */
    double time, waited_last, missed; /* of the last; since the first */
    double count, sum_t, sum_i, sum_tt, sum_ti; /* for a straight line */
};

/* When the centre had a version. */
struct measured_version {
    uint64_t version;
    double time;
};

struct measures {
    double rounds;
    double round_time; /* from the first to the last, by those between */
    double rate;       /* iterations per second, the mean of the nodes */
    double step;       /* what an iteration takes without waiting, the mean */
    double up, down;   /* bytes of payloads per second, of all nodes */
    double late;       /* results that were not there at i+d, by offers */
    double idle;       /* share of their time that trainers were blocked */
    double loss;       /* of the centre, as scored last; NO_SCORE: never */
    double goal_time;  /* from the first round until the centre was as good as
                          the goal: between two scored versions on a straight
                          line; -1: never, or there is no goal */
    double end;        /* from the first line to where the end was said, or to
                          the last line */
    struct measured_node *nodes; /* in the order they came */
    unsigned node_count;
    /* Inside. */
    struct goal goal;
    struct measured_version *versions;
    size_t version_count, version_room;
    bool begun, ending;
    double first, now, first_round, last_round;
    double bytes_up, bytes_down, offers;
    bool scored;
    double score_time, score;
};

void measures_begin(struct measures *measures, struct goal goal);
void measures_add(struct measures *measures, const char *line);
/* All lines of a file's text; MALFORMED as lines_each. */
enum status measures_add_all(struct measures *measures, const char *text,
                             size_t size, struct why *why) MUST_CHECK;
void measures_end(struct measures *measures);
void measures_free(struct measures *measures);

#endif
