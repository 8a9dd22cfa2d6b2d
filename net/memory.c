#include "net/memory.h"

#include <malloc.h>

enum {
    MAPPED_BYTES = 32 << 20, /* what is larger comes from the system */
    KEPT_BYTES = 16 << 20    /* unused memory at the end of a heap */
};

void memory_keep(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}
