/* Comma-separated numbers, one sample per line, its class last.
 *
 *     length,width,kind        (a header is skipped: no field is a number)
 *     5.1,3.5,0
 *
 * Decimal numbers with a point; no quotes; blank lines, blanks around numbers,
 * CR LF and a byte order mark are forgiven. */
#ifndef TRAIN_CSV_H
#define TRAIN_CSV_H

#include "train/input.h"
#include "train/table.h"

/* Errors name the line. The file stays the caller's. */
enum status csv_make_table(const struct input *file, const char *path,
                           struct table *out, struct why *why) MUST_CHECK;

#endif
