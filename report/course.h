/* The course of a run: the series that a report draws afterwards.
 *
 * It is fed with the hub's view and its notes while the run goes on, and its
 * memory (some 2.5 MB, touched as it fills) does not grow. */
#ifndef REPORT_COURSE_H
#define REPORT_COURSE_H

#include <stdint.h>

#include "core/time.h"
#include "hub/hub.h"
#include "report/series.h"
#include "seam/machine.h"

/* Of the notes, the first and the last so many are kept. */
enum { COURSE_MOMENTS = 400, COURSE_FIRST = COURSE_MOMENTS / 2 };
/* Nodes that have a curve; more could not be told apart. */
enum { COURSE_NODES = 64 };

struct moment {
    nanos elapsed; /* since the run began */
    struct note note;
};

struct node_course {
    char name[NODE_NAME_BYTES];
    uint64_t iteration; /* at the last sample */
    struct series loss;
};

struct course {
    unsigned nodes;                        /* that have a curve */
    struct node_course node[COURSE_NODES]; /* the first ones of the view */
    struct series loss, accuracy;          /* the centre's; 0..1 */
    struct series megabytes;               /* both directions, all nodes */
    struct moment moments[COURSE_MOMENTS];
    uint64_t moments_seen;
    uint64_t notes[NOTE_KINDS]; /* how many of each kind */
    nanos next;
};

/* NULL when there is no memory. */
struct course *course_new(void);
void course_destroy(struct course **course);

/* Takes a sample of each curve, at most five times a second until the run has
 * ended. */
void course_look(struct course *course, nanos elapsed,
                 const struct hub_view *view);

/* Notes for debugging are counted but not kept. */
void course_note(struct course *course, nanos elapsed, const struct note *note);

/* The moments that are kept, in order: how many, and the one at `place`. */
unsigned course_moments(const struct course *course);
const struct moment *course_moment(const struct course *course, unsigned place);

#endif
