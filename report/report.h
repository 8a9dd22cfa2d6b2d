/* The report of a run: a page of HTML (report/page.h), and a summary for the
 * terminal. Words that came from nodes are made harmless (core/quote.h). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stddef.h>

#include "core/goal.h"
#include "core/options.h"
#include "core/status.h"
#include "core/text.h"
#include "core/time.h"
#include "hub/hub.h"
#include "report/course.h"
#include "report/page.h"
#include "report/table.h"

enum {
    REPORT_BYTES = 4 << 20,
    REPORT_SUMMARY_BYTES = 16 * 1024,
    REPORT_SETTINGS = 96
};

/* All of it borrowed. */
struct report {
    const struct table_head *head;
    const struct hub_view *view;
    const struct course *course;
    nanos elapsed, wall; /* how long it took; when it was, since 1970 UTC */
    struct goal goal;
    const struct setting *settings;
    size_t setting_count;
    const char *model, *record; /* files that the run wrote, or NULL */
    const char *words;          /* that the model has made up, "" or NULL */
};

/* Lists what a program's options say; the words are in `bytes`, which has
 * OPTIONS_PAGE_BYTES. Returns how many of REPORT_SETTINGS there are. */
size_t report_settings(const struct options *options, enum program program,
                       char *bytes, struct setting *settings);

/* Some lines for the terminal. */
void report_text(const struct report *report, struct text *out);

/* The page, cut where `out` is full; REPORT_BYTES are enough. */
void report_html(const struct report *report, struct text *out);

/* Writes the page to a file, whole or not at all. IO, NO_MEMORY. */
enum status report_write(const struct report *report, const char *path,
                         struct why *why) MUST_CHECK;

/* The end of the run, in a sentence without its full stop. Used by both
 * forms: "87.1 % test accuracy after 31 s; goal 88 % NOT reached". */
void report_outcome(const struct report *report, struct text *out);

/* How long the run has taken, with the lives of its hub before this one. */
static inline nanos report_time(const struct report *report)
{
    return report->view->former + report->elapsed;
}

/* The sums over all nodes. */
struct report_totals {
    unsigned gone;
    uint64_t iterations, exchanges, missed;
    uint64_t chunks; /* with a verdict */
    double up, down; /* bytes */
};

/* The verdicts of all chunks that were offered: "1320 merged, 3 stale". */
void report_fates(const struct hub_view *view, struct text *out);
/* The corrections of the hub: "2 preemptions, 1 roll-back"; nothing if nothing.
 */
void report_guards(const struct hub_view *view, struct text *out);

struct report_totals report_sum(const struct hub_view *view);

#endif
