#include "core/need.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The one thing that belongs to a process and not to a machine in it: what to
 * do when its memory is at an end. */
static void (*_Atomic when_missing)(void);

void need_when_missing(void (*act)(void))
{
    atomic_store(&when_missing, act);
}

void need_wait(void)
{
    void (*act)(void) = atomic_load(&when_missing);

    assert(act && "there is memory");
    act();
}

void *need_memory(size_t count, size_t size)
{
    void *memory;

    while (!(memory = calloc(count ? count : 1, size ? size : 1)))
        need_wait();
    return memory;
}

void *need_more(void *old, size_t bytes)
{
    void *memory;

    while (!(memory = realloc(old, bytes ? bytes : 1)))
        need_wait();
    return memory;
}
