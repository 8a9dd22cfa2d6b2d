/* Recording: the transcript of a machine in a file.
 *
 *     starswitch-record 1 hub
 *     set every 50
 *     0.120031877 join 3 control
 *       send 3 ping ...
 *
 * The first line names the format, its version and the machine, of a node with
 * its name: `starswitch-record 1 node name="n1"`. Of a hub comes next a line
 * `set NAME VALUE` for each of its settings that somebody has chosen, so that
 * the run can be simulated without being told again. Then come the lines of
 * seam/transcript.h, exact to the nanosecond: of each event, and of its
 * effects, which are indented by two blanks.
 *
 * When the file cannot be written, recording stops and says so once: the
 * machine goes on. One thread, the loop's. */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "core/options.h"
#include "core/status.h"
#include "record/spool.h"
#include "seam/machine.h"

#define RECORD_FORMAT "starswitch-record 1"

struct record;

/* `machine` is what the first line says behind the format. What `complaint`
 * points to must stay until record_close. IO when the file cannot be made. */
enum status record_open(const char *path, const char *machine,
                        struct spool_complaint complaint, struct record **out,
                        struct why *why) MUST_CHECK;

/* The same for a node of this name. */
enum status record_open_node(const char *path, const char *name,
                             struct spool_complaint complaint,
                             struct record **out, struct why *why) MUST_CHECK;

/* Adds what was chosen of the program's settings, but for those of files and
 * output; before the first step. */
void record_set(struct record *record, const struct options *options,
                enum program program);

/* Adds one step; as struct net_owner's `watch` wants it: before its effects are
 * carried out, so that nobody has seen what is not recorded. `record` is a
 * struct record, or NULL: nothing is recorded. */
void record_step(void *record, const struct event *event,
                 const struct effects *effects);

/* Writes what is still to be written. NULL is passed over. */
void record_close(struct record **record);

/* Sets the options of a simulation as the recording's lines `set` say; what is
 * given on the command line or by the environment stays, and what the simulator
 * has no option for is passed over. MALFORMED: a line is not what it should be,
 * and `why` names it. Of the rest of the text nothing is asked. */
enum status record_settings(const char *text, size_t size,
                            struct options *options,
                            struct why *why) MUST_CHECK;

#endif
