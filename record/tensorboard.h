/* Event files that TensorBoard reads: what a hub knows of its run, as scalars.
 *
 *     loss/centre, loss/NAME          accuracy/centre, accuracy/NAME
 *     rounds/version                  rounds/every, rounds/delay
 *     staleness/NAME                  iterations a second/NAME
 *
 * A node's step is its own iteration, all else stands at the iteration of the
 * node that has done most. What is not known is not told. A point a second at
 * first, later one each thousandth of the run's time, so that a file grows ever
 * more slowly. Form: TensorFlow's records (length, CRC-32C of it, data, CRC-32C
 * of those), each a protocol buffer `Event`. One thread, the loop's. */
#ifndef RECORD_TENSORBOARD_H
#define RECORD_TENSORBOARD_H

#include <stdint.h>

#include "core/status.h"
#include "core/time.h"
#include "hub/hub.h"
#include "record/spool.h"

struct tensorboard;

/* Makes a file in the folder, which is made if need be; a run that goes on adds
 * another one, which TensorBoard shows as one curve. `wall`: now, since 1970.
 * IO, NO_MEMORY. */
enum status tensorboard_open(const char *folder, nanos wall,
                             struct spool_complaint complaint,
                             struct tensorboard **out,
                             struct why *why) MUST_CHECK;
/* `elapsed` is how long the hub has run; writes what is due by then, and all at
 * the `end`. NULL is passed over. */
void tensorboard_look(struct tensorboard *board, nanos elapsed,
                      const struct hub_view *view, bool end);
/* NULL is passed over. */
void tensorboard_close(struct tensorboard **board);

/* CRC-32C (Castagnoli), as RFC 3720 has it. */
uint32_t tensorboard_crc(const void *bytes, size_t size);

#endif
