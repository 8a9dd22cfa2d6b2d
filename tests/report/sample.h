/* A run as the tests of show/ know it: four nodes, one of them gone. */
#ifndef TESTS_REPORT_SAMPLE_H
#define TESTS_REPORT_SAMPLE_H

#include "hub/hub.h"
#include "report/course.h"
#include "report/table.h"

/* 2026-11-21T13:00:00Z */
#define SAMPLE_WALL ((nanos)1795266000 * SECOND)

/* Room for nodes in a view. */
enum { SAMPLE_NODES = TABLE_NODES + 100 };

extern const struct table_head sample_head;

void sample_view(struct hub_view *view);
struct table sample_table(const struct hub_view *view);

/* A name that wants to clear the screen, end a string and begin a tag. */
#define HOSTILE_NAME "\033[2J\"</td><b>'\\\r\n\xff\xe2\x80\x8b"

/* Fills a course with `seconds` of a run whose loss falls; five notes. */
void sample_course(struct course *course, struct hub_view *view,
                   unsigned seconds);

#endif
