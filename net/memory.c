#include "net/memory.h"

#include <malloc.h>
#include <stdlib.h>

enum {
    MAPPED_BYTES = 32 << 20, /* what is larger comes from the system */
    KEPT_BYTES = 16 << 20,   /* unused memory at the end of a heap */
    SPARE_BYTES = 64 << 10
};

void memory_keep(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void memory_grow(void)
{
    /* glibc takes it for the size of blocks to come. Chunks have a header. */
    void *volatile block = malloc(MAPPED_BYTES - SPARE_BYTES);

    free(block);
}
