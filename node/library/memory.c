#include "node/library/memory.h"

#include <stdlib.h>

enum {
    MAPPED_BYTES = 32 << 20, /* what is larger comes from the system */
    SPARE_BYTES = 64 << 10
};

void memory_grow(void)
{
    /* glibc takes it for the size of blocks to come. Chunks have a header. */
    void *volatile block = malloc(MAPPED_BYTES - SPARE_BYTES);

    free(block);
}
