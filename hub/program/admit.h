/* Writes down who is admitted, on a thread of its own: a disk may take long,
 * and the loop has nodes to serve. In the order they come, a bounded number. */
#ifndef HUB_PROGRAM_ADMIT_H
#define HUB_PROGRAM_ADMIT_H

#include "keys/ring.h"

enum { CLERK_MOST = 64 }; /* under way at once */

struct clerk_task {
    uint64_t ticket;
    struct list_entry entry;
    enum status status; /* once it is done, */
    struct why why;     /* and if not well why */
};

struct clerk;

/* For the keys in `folder`. UNAVAILABLE. */
enum status clerk_open(const char *folder, struct clerk **out,
                       struct why *why) MUST_CHECK;
/* Ends once all is written. Accepts NULL. */
void clerk_close(struct clerk **clerk);
/* False: there are too many under way. */
bool clerk_give(struct clerk *clerk, const struct clerk_task *task) MUST_CHECK;
/* The next that is done; false: none is yet. */
bool clerk_pop(struct clerk *clerk, struct clerk_task *out) MUST_CHECK;

#endif
