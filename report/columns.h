/* The columns of numbers in the hub's table. Inside of report/table.c. */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include <stdbool.h>

#include "core/text.h"
#include "hub/hub.h"

/* Where a terminal is narrow, those with the highest `spare` (1, 2, ...) are
 * left out first. */
struct column {
    const char *title;
    unsigned width, spare;
    /* Adds at most `width` characters. */
    void (*add)(const struct hub_node_view *node, struct text *out);
};

extern const struct column columns[];
extern const unsigned column_count;

/* What the centre's loss is called: a hub without data has but the losses that
 * its nodes train with. */
const char *column_loss_name(const struct hub_view *view);
bool column_has_loss(double loss);
/* Adds a loss in at most six columns, or `-`. */
void column_add_loss(struct text *out, double loss);
/* Adds what the node is doing, whether it is the best, and what became of
 * its last offer. */
void column_add_state(const struct hub_node_view *node, struct text *out);

#endif
