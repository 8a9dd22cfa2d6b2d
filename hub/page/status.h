/* /status: the line of JSON that `ctl status --json` holds, and what else the
 * page shows. */
#ifndef HUB_PAGE_STATUS_H
#define HUB_PAGE_STATUS_H

#include "core/text.h"
#include "hub/page/visit.h"

/* Bytes that are enough for so many nodes. */
size_t status_room(unsigned nodes);
/* With at most so many of the nodes. */
void status_write(const struct web *web, unsigned nodes, struct text *out);

#endif
