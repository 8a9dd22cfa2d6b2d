/* All that starswitch-hub shows and writes about a run beside the model: the
 * table, the log, the report, the recording, the journal, TensorBoard. On the
 * loop's thread.
 */
#ifndef HUB_PROGRAM_DISPLAY_H
#define HUB_PROGRAM_DISPLAY_H

#include "core/options.h"
#include "hub/hub.h"
#include "record/journal.h"
#include "record/record.h"
#include "record/tensorboard.h"
#include "report/course.h"
#include "report/log.h"
#include "report/screen.h"

struct display {
    const struct options *options;
    struct table_head head;
    char title[320], model[160], policy[384], goal[64];
    nanos begun, wall; /* of the driver's clock, and since 1970 UTC */
    struct screen screen;
    struct logger logger;
    struct course *course;
    struct record *record;
    struct journal *journal;
    struct tensorboard *board;
};

/* The configuration is what the hub was made with, `saved` what it was restored
 * from, or NULL. `summary` says what model is scored, or is NULL. */
enum status display_open(struct display *display, const struct options *options,
                         const struct hub_config *config,
                         const struct hub_saved *saved, const char *summary,
                         struct why *why) MUST_CHECK;
void display_note(struct display *display, nanos now, const struct note *note);
void display_watch(struct display *display, const struct event *event,
                   const struct effects *effects);
void display_view(struct display *display, nanos now,
                  const struct hub_view *view);
/* For the forms of report/table.h; the display and the view must outlive it. */
struct table display_table(struct display *display, nanos now,
                           const struct hub_view *view);
/* An event of the log: a file that could not be written. */
void display_complain(void *display, const char *sentence);
/* Writes the report, with `words` that the model has made up or "", and says
 * where everything is. IO: not the report. */
enum status display_end(struct display *display, nanos now,
                        const struct hub_view *view, const char *words,
                        struct why *why) MUST_CHECK;
void display_close(struct display *display);

#endif
