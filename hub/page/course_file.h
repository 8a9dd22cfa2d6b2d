/* The course of a run in a file, which the page shows later.
 *
 *     starswitch-course 1
 *     1.000 status {...}
 *     1.250 note {...}
 *
 * A line begins with seconds since the hub began; behind `status` is what
 * /status says, behind `note` an event as /api/v1/events has it. A status comes
 * each second at first, later each 300th of the run's time, so that the file
 * grows ever more slowly. docs/decisions/a-course-is-lines-of-status.md says
 * why it is not made of a recording. */
#ifndef HUB_PAGE_COURSE_FILE_H
#define HUB_PAGE_COURSE_FILE_H

#include "core/goal.h"
#include "core/text.h"
#include "hub/page/feed.h"
#include "record/spool.h"
#include "report/table.h"

#define COURSE_FORMAT "starswitch-course 1"

/* What is shown of a file at most. */
enum { COURSE_STATUSES = 600, COURSE_NOTES = 2000 };

/* ---- writing: the loop's thread ---- */

struct course_writer;

/* Makes the file anew; `head`, and what `complaint` points to, outlive it. IO,
 * NO_MEMORY. */
enum status course_writer_open(const char *path, const struct table_head *head,
                               struct goal goal,
                               struct spool_complaint complaint,
                               struct course_writer **out,
                               struct why *why) MUST_CHECK;
/* Whether a status is due; NULL: never. */
bool course_writer_due(const struct course_writer *writer, nanos elapsed);
/* Adds the status, due or not. NULL is passed over, here and below. */
void course_writer_look(struct course_writer *writer,
                        const struct snapshot *now);
void course_writer_note(struct course_writer *writer, nanos elapsed, nanos wall,
                        const struct note *note);
void course_writer_close(struct course_writer **writer);

/* ---- reading ---- */

/* A file that was read; the text is its own. */
struct course_reader {
    char *text;
    size_t size;      /* of its whole lines */
    const char *last; /* status: its JSON, and how long it is */
    size_t last_size;
    double seconds; /* of the last line */
    unsigned notes;
    unsigned left_out; /* lines that are no good, and the number of the first */
    unsigned first_left_out;
};

/* IO; MALFORMED: it is another file, or has no status. `why` says what to do.
 */
enum status course_read(const char *path, struct course_reader *out,
                        struct why *why) MUST_CHECK;
void course_reader_free(struct course_reader *reader);
/* Bytes that are enough for course_reader_write. */
size_t course_reader_room(const struct course_reader *reader);
/* {"statuses":[...],"notes":[...]}: at most COURSE_STATUSES, evenly over time
 * and the last one always, and the last COURSE_NOTES. */
void course_reader_write(const struct course_reader *reader, struct text *out);

#endif
