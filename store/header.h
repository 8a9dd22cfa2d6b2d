/* The header of a safetensors file, read. Inside of store/safetensors.c. */
#ifndef STORE_HEADER_H
#define STORE_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "store/safetensors.h"

/* Reads `size` bytes of JSON (a NUL behind them) that describe `data_size`
 * bytes of data; sets schema and pairs of `out`, which must be zero and is to
 * be destroyed either way. MALFORMED or CONFIG as for safetensors_read. */
enum status header_parse(const char *json, size_t size, uint64_t data_size,
                         struct safetensors *out, struct why *why);

#endif
