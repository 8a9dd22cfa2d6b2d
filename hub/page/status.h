/* /status: the line of JSON that `ctl status --json` holds, and what else the
 * page shows. */
#ifndef HUB_PAGE_STATUS_H
#define HUB_PAGE_STATUS_H

#include "core/goal.h"
#include "core/text.h"
#include "hub/page/feed.h"

struct status_source {
    const struct snapshot *now;
    const struct table_head *head;
    struct goal goal;
    uint64_t boot; /* of the server */
};

/* Of this process, in memory; 0: not known. */
uint64_t resident_bytes(void);
/* Bytes that are enough for so many nodes. */
size_t status_room(unsigned nodes);
/* With at most so many of the nodes. */
void status_write(const struct status_source *source, unsigned nodes,
                  struct text *out);

#endif
