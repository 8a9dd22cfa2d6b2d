/* What the page's server answers with: texts made of the newest snapshot.
 * Inside of hub/page. */
#ifndef HUB_PAGE_ANSWER_H
#define HUB_PAGE_ANSWER_H

#include "core/text.h"
#include "hub/page/visit.h"

/* A status and a body of its own, malloc'ed; NULL: no memory. */
struct answer {
    unsigned status;
    const char *type; /* Content-Type */
    char *bytes;
    size_t size;
};

/* A line of words, or {"error":"..."} for the paths of programs. */
void answer_words(struct answer *out, unsigned status, const char *words);
/* /status: the line of JSON of `ctl status --json`, and what the page knows. */
void answer_status(const struct web *web, struct answer *out);
/* The points of all curves (hub/page/timeline.h). */
void answer_course(const struct web *web, struct answer *out);
/* What is told of a course that was read from a file, and no hub is behind:
 * /status is its last one. */
void answer_recorded(const struct course_reader *course, enum route route,
                     struct answer *out);
/* /metrics, in either form. */
void answer_metrics(const struct web *web, bool open_metrics,
                    struct answer *out);
/* /snapshot.svg. */
void answer_picture(const struct web *web, struct answer *out);
/* Whether the loop lives, and whether nodes are served. */
void answer_health(const struct web *web, nanos now, struct answer *out);
void answer_ready(const struct web *web, nanos now, struct answer *out);
/* What came of an order. */
void answer_order(const struct msg_answer *answer, struct answer *out);

#endif
