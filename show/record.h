/* Recording: the transcript of a machine in a file.
 *
 *     starswitch-record 1 hub
 *     0.120031877 join 3 control
 *       send 3 ping ...
 *
 * The first line names the format, its version and the machine. Then come the
 * lines of seam/trace.h, exact to the nanosecond: of each event, and of its
 * effects, which are indented by two blanks.
 *
 * When the file cannot be written, recording stops and says so once: the
 * machine goes on. One thread, the loop's. */
#ifndef SHOW_RECORD_H
#define SHOW_RECORD_H

#include "core/status.h"
#include "seam/machine.h"

#define RECORD_FORMAT "starswitch-record 1"

struct record;

/* `path` and `of` must stay until record_close. `complain(of, sentence)` is
 * called at most once, when writing fails. IO when the file cannot be made. */
enum status record_open(const char *path, const char *machine,
                        void (*complain)(void *of, const char *sentence),
                        void *of, struct record **out,
                        struct why *why) MUST_CHECK;

/* Adds one step; as struct net_owner's `watch` wants it. `record` is a struct
 * record, or NULL: nothing is recorded. */
void record_step(void *record, const struct event *event,
                 const struct effects *effects);

/* Writes what is still to be written. NULL is passed over. */
void record_close(struct record **record);

#endif
