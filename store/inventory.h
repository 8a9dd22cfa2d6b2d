/* What a generation of the centre holds: the text of its MANIFEST.
 *
 *     starswitch-generation 1        the version of this layout
 *     run 00c0ffee00c0ffee
 *     version 45
 *     epoch 4294967297
 *     file NAME SIZE SUM SUM ...     of each file; a SUM per 16 MiB
 *     end SUM                        of all that stands before this line
 *
 * A SUM is XXH3-64 in 16 hexadecimal digits, as the run is. There is one way
 * only to write a manifest, and nothing else is read: what is parsed prints to
 * the same bytes. Text that is read may come from anywhere. */
#ifndef STORE_INVENTORY_H
#define STORE_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "store/file.h"

#define INVENTORY_LAYOUT "1"

enum {
    INVENTORY_FILES = 24,
    INVENTORY_NAME_BYTES = 40,
    INVENTORY_BLOCK = 16 << 20,    /* bytes that have a sum of their own */
    INVENTORY_MOST_BYTES = 4 << 20 /* of the text */
};

struct inventory_file {
    char name[INVENTORY_NAME_BYTES]; /* of small letters, digits, '-' and '.' */
    uint64_t size;
    uint64_t *sums; /* inventory_blocks(size) of them */
};

struct inventory {
    uint64_t run, version, epoch;
    unsigned count;
    struct inventory_file files[INVENTORY_FILES];
};

/* How many sums a file of `size` bytes has: none if it is empty. */
uint64_t inventory_blocks(uint64_t size);

/* Adds a file that holds these parts. NO_MEMORY. There must be room. */
enum status inventory_add(struct inventory *manifest, const char *name,
                          const struct part *parts, size_t count,
                          struct why *why) MUST_CHECK;
/* Adds a file as another manifest knows it. */
enum status inventory_copy(struct inventory *manifest,
                           const struct inventory_file *file,
                           struct why *why) MUST_CHECK;
/* The file of that name, or NULL; lives as long as the manifest. */
const struct inventory_file *inventory_find(const struct inventory *manifest,
                                            const char *name);

/* The text, to be freed; NULL: no memory. */
char *inventory_print(const struct inventory *manifest, size_t *size);
/* Reads a text; `out`, all zeros before, is to be freed either way. MALFORMED
 * or NO_MEMORY. */
enum status inventory_parse(const char *text, size_t size,
                            struct inventory *out, struct why *why) MUST_CHECK;
/* All zeros is fine. */
void inventory_free(struct inventory *manifest);

/* XXH3-64. */
uint64_t inventory_sum(const void *bytes, size_t size);

#endif
