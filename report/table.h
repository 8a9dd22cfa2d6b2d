/* The hub's table: one row per node, and what the centre is doing.
 *
 * Only text is made here; report/screen.h brings it to the terminal. Names and
 * sentences of nodes are made harmless on the way (core/quote.h). */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>

#include "core/text.h"
#include "core/time.h"
#include "hub/hub.h"

enum {
    TABLE_MIN_WIDTH = 20,
    TABLE_MAX_WIDTH = 160,
    TABLE_NODES = 64,       /* no form lists more; it says how many more */
    TABLE_BYTES = 96 * 1024 /* room for any of the three forms */
};

/* Facts that the hub's view lacks, as words for people; NULL: left out. */
struct table_head {
    const char *title;
    const char *data, *model, *policy, *goal;
    const char *rules; /* the policy's, behind k and d */
};

struct table {
    const struct table_head *head;
    const struct hub_view *view;
    nanos elapsed; /* since the run began */
    nanos wall;    /* since 1970 UTC */
};

/* The place there is, in columns and lines; 0 lines: no limit. */
struct table_style {
    unsigned width, height;
    bool colour;
};

/* The policy, with k and d as they are now. Nothing: there is none. */
void table_policy(const struct table_head *head, const struct hub_view *view,
                  struct text *out);

/* How long it takes yet, and by what it ends. */
void table_left(const struct hub_view *view, struct text *out);

/* For a terminal: whole lines, none of them wider than the style allows.
 * Columns, and then nodes, are left out where there is no room for them. */
void table_draw(const struct table *table, const struct table_style *style,
                struct text *out);

/* One line `time=31 version=212 ...` about the run as a whole. */
void table_line(const struct table *table, struct text *out);

/* As many of the nodes as are listed. */
unsigned table_nodes(const struct hub_view *view);

/* How often something has happened. */
struct table_count {
    const char *name;
    uint64_t count;
};

/* The state of the hub's process. */
struct table_process {
    struct hub_uploads uploads;
    uint64_t resident, pool; /* bytes of memory: in all, and of payloads */
    const uint64_t *notes;   /* how many of each kind there were */
    const struct table_count *refusals; /* of connections, by reason */
    unsigned reasons;                   /* how many of those */
};

/* One line of JSON with all that table_json says and with what is open, for
 * whoever looks for a fault; at most `nodes` of the nodes. */
void table_state(const struct table *table, const struct table_process *process,
                 unsigned nodes, struct text *out);

/* Bytes that each node takes at most in JSON, and the rest; so all of it with
 * the nodes that are listed. */
enum {
    TABLE_NODE_BYTES = 1600,
    TABLE_REST_BYTES = 8 * 1024,
    TABLE_STATE_BYTES = TABLE_REST_BYTES + TABLE_NODES * TABLE_NODE_BYTES
};

/* The same for people, in lines: the table, and what is open below it. */
void table_tell(const struct table *table, const struct table_process *process,
                struct text *out);

/* One line of JSON with the nodes; times in seconds, rates per second. */
void table_json(const struct table *table, struct text *out);

#endif
