/* /metrics: a page of text for Prometheus (0.0.4) or as OpenMetrics (1.0.0).
 *
 * The table is metrics.def. What the hub does not know is not there: no metric
 * stands for another one. */
#ifndef HUB_PAGE_METRICS_H
#define HUB_PAGE_METRICS_H

#include <stdbool.h>

#include "core/goal.h"
#include "core/text.h"
#include "hub/page/feed.h"

struct metrics_source {
    const struct snapshot *now;
    const char *policy; /* its name */
    struct goal goal;
};

/* Bytes that are enough for so many nodes. */
size_t metrics_room(unsigned nodes);
void metrics_write(const struct metrics_source *source, bool open_metrics,
                   struct text *out);

/* docs/metrics.md. */
void metrics_print(struct text *out);

#endif
