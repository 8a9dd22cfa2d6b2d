/* Matching: which members meet in which call, whether they agree on it, and
 * when it is complete. From CALL to OUTCOME. */
#ifndef COLLECTIVES_MATCHING_H
#define COLLECTIVES_MATCHING_H

#include "collectives/call.h"

void matching_on_call(struct coordinator *coordinator, struct member *member,
                      const struct event *event);
void matching_on_give_up(struct coordinator *coordinator, struct member *member,
                         const struct event *event);

/* The settle pass: requests that wait come to their calls. */
void matching_enter(struct coordinator *coordinator);
/* The settle pass: calls to which all has come are complete. */
void matching_complete(struct coordinator *coordinator);

#endif
