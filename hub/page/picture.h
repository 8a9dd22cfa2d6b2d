/* /snapshot.svg: the run at this moment as one drawing, for a README, a chat,
 * or whoever has no browser at hand: star, losses, a row for each of the first
 * nodes. It holds its colours, and neither script nor reference. */
#ifndef HUB_PAGE_PICTURE_H
#define HUB_PAGE_PICTURE_H

#include "core/text.h"
#include "hub/page/feed.h"
#include "hub/page/timeline.h"
#include "report/table.h"

/* Bytes that are enough. */
#define PICTURE_BYTES ((size_t)768 * 1024)

/* The timeline may be younger than the snapshot, and knows fewer nodes. */
void picture_write(const struct table_head *head, const struct snapshot *now,
                   const struct timeline *timeline, struct text *out);

#endif
