/* A whole file in memory, gunzipped on the way if it is compressed. */
#ifndef TRAIN_INPUT_H
#define TRAIN_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define INPUT_BYTES_MAX (UINT64_C(8) << 30)

struct input {
    unsigned char *bytes; /* `size` bytes and a zero behind them */
    size_t size;          /* at least 1 */
};

/* STATUS_IO when the file cannot be read, STATUS_MALFORMED when it is empty,
 * larger than INPUT_BYTES_MAX or damaged gzip; then there is nothing to free.
 */
enum status input_read(const char *path, struct input *out,
                       struct why *why) MUST_CHECK;
void input_free(struct input *file);

#endif
