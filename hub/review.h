/* Nodes judge for a hub without held-out data: cross-evaluation.
 *
 * A STAGED rule that wants losses (soup, verified) is told them by r = 3 other
 * nodes per update, fewer where there are not so many. Who evaluates
 * whom is drawn anew for each round: all nodes stand in a circle of random
 * order, made from the run's seed and the round's number, and each is
 * evaluated by those behind it, so that nobody evaluates himself or chooses
 * whom, and everybody has as much to do. A reviewer evaluates the centre, then
 * its updates, one after the other; what counts is the median of the
 * differences to the centre, so that one Byzantine node among three changes
 * nothing. Scores are paired: the same samples for both.
 *
 * A reviewer that is lost, or makes no progress for REVIEW_TIME, is not waited
 * for. That time begins when it has all that it was sent: on a slow link
 * parameters may take minutes, and do as long as some of them arrive. Who needs
 * longer than others would (as fast as their uploads) uses up patience
 * (hub/patience.h). One that says it cannot is replaced by the next one in the
 * circle. An update that nobody has evaluated is kept.
 *
 * Who holds the centre, as most do, is not sent it, and of an update what its
 * node gave, which is often a quarter of the values.
 *
 * Memory: while a round is under review, the hub holds each update
 * decoded, as the judge does afterwards. */
#ifndef HUB_REVIEW_H
#define HUB_REVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"
#include "hub/handler.h"
#include "hub/work.h"

enum { REVIEWERS = 3 };
/* A reviewer has so long to take a chunk or to answer, and two iterations of
 * its own, since it evaluates between them. */
#define REVIEW_TIME (5 * SECOND)
/* But never longer than that. */
#define REVIEW_LONGEST (30 * SECOND)
/* The operator is told of a review that takes longer. */
#define REVIEW_NOTICED (60 * SECOND)

struct member;
struct review;
struct round;
struct text;

/* What a member evaluates now: one set of parameters at a time. */
struct reviewer {
    uint64_t asked;  /* the number that it was told; 0: nothing */
    uint64_t review; /* that it is for */
    unsigned subject;
    uint32_t next; /* chunk to be sent */
    nanos began;   /* it was asked */
    bool declines; /* has said that it cannot */
    bool late;     /* has not answered in time, nor anything since */
};

/* Whether nothing is to be waited for any more before the round's whole
 * updates are judged; else asks other nodes, if it has not yet. */
bool review_done(struct hub *hub, struct round *round);
/* What the round waits for, as a phrase; nothing without a review. */
void review_tell(const struct round *round, nanos now, struct text *out);
/* Writes what they have said into the order, and forgets it. */
void review_close(struct hub *hub, struct round *round,
                  struct judge_order *order);
/* A chunk that a member is to evaluate; all borrowed. */
struct review_chunk {
    struct blob *values;
    struct msg msg;
    struct blob *payload; /* what goes with it; NULL: the member holds it */
};
/* Whether there is a next one for the member, */
bool review_next(struct hub *hub, const struct member *member,
                 struct review_chunk *out);
/* and that it is sent. */
void review_sent(struct hub *hub, struct member *member,
                 const struct review_chunk *chunk);
handler hub_on_reviewed;
/* Nothing is to be expected from the member any more. */
void review_forget(struct hub *hub, int member);
/* So long has passed since the last time. */
void review_tick(struct hub *hub, nanos span);
/* Says once when a round waits long for its review, and what to do. */
void review_warn(struct hub *hub);
/* Nobody is asked any more. */
void review_destroy(struct hub *hub, struct review **review);
/* Broken invariants, as a sentence, or NULL. */
const char *review_check(const struct hub *hub);

#endif
