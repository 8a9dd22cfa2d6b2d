/* Data of calls, cut into segments of one size.
 *
 * A participant that has something to give is told how many input segments it
 * may send (CREDIT), and sends them (PART). Each is checked. Those of a
 * reduction are reduced once every participant's is there, in rank order; all
 * others are result segments as they are. These go out on the receivers'
 * credit (PIECE), the first of them while the last still come in. */
#ifndef COLLECTIVES_SEGMENT_H
#define COLLECTIVES_SEGMENT_H

#include "collectives/call.h"

/* The member is to be told that it may send what is missing of its input. */
void input_open(struct coordinator *coordinator, struct member *member,
                struct call *call, const struct participant *participant);
/* Allocates the result segments, once their number is known. */
void results_lay(struct coordinator *coordinator, struct call *call);

/* The call that the member means by this number, NULL: none (any more). */
struct call *input_call(const struct coordinator *coordinator,
                        const struct member *member, uint64_t number);
void input_on_part(struct coordinator *coordinator, struct member *member,
                   struct call *call, const struct event *event);
void results_on_credit(struct coordinator *coordinator, struct member *member,
                       const struct msg_credit *credit);
/* Whether the work is one of segments'. */
bool segments_do(const struct work *work);

/* The delivery: credit that is due, and results that credit is there for. */
void inputs_grant(struct coordinator *coordinator);
void results_send(struct coordinator *coordinator);

#endif
