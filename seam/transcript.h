/* Transcripts: what a machine was told and what it did, as lines of text.
 *
 * Stories compare them with what is expected, and recordings keep them. A line
 * has no address in it, no line end, and nothing that differs between two runs
 * of the same events (seam/history.h is a hash of all that):
 *
 *     0.25 join 3 bulk
 *     0.5 message 3 chunk exchange=1 chunk=0 codec=0 checksum=7 [1024 3f...]
 *       job merge #12 1,0,0
 *     0.5 done merge #12 OK 1,0,0
 *       send 2 pong sent=400 version=1 samples=0
 *       note round_done "n1" "version 1"
 *
 * that is: seconds, kind, peer, message, and in brackets the payload's bytes on
 * the wire (of a surrogate those that it stands for), with its XXH3-64 if it is
 * sealed; of a job its work, id, status and tags. */
#ifndef SEAM_TRANSCRIPT_H
#define SEAM_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "seam/machine.h"

/* Room for any line. */
enum { TRANSCRIPT_BYTES = 3072 };

/* Write one line, cut to `size` >= 1, and return its length. That of an effect
 * is indented by two blanks. */
size_t transcript_event(const struct event *event, char *text, size_t size);
size_t transcript_effect(const struct effect *effect, char *text, size_t size);

#endif
