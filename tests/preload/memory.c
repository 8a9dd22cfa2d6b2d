/* Memory that is at an end: to be loaded before the C library (LD_PRELOAD), by
 * a host that says when.
 *
 * From then on each allocation of the process counts, whoever makes it, and
 * from the one that was asked for on so many in a row find no memory. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN __attribute__((visibility("default")))

enum { SITES = 1024 };

/* glibc's own. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*) */

static atomic_bool counts;
static atomic_ulong calls, fails_from, fails_until, failed;
static atomic_long blocks;            /* that nobody has freed */
static atomic_uintptr_t sites[SITES]; /* that found no memory */

SHOWN void memory_fails(unsigned long from, unsigned long count);
SHOWN unsigned long memory_failed(void);
SHOWN unsigned memory_sites(void);
SHOWN long memory_blocks(void);
SHOWN void *malloc(size_t size);
SHOWN void *calloc(size_t count, size_t size);
SHOWN void *realloc(void *old, size_t size);
SHOWN void *memalign(size_t alignment, size_t size);
SHOWN void *aligned_alloc(size_t alignment, size_t size);
SHOWN int posix_memalign(void **out, size_t alignment, size_t size);
SHOWN void free(void *memory);

/* From now on: the `from`th call (from 1) and those behind it, `count` in all,
 * find no memory; count 0: all do. */
void memory_fails(unsigned long from, unsigned long count)
{
    atomic_store(&counts, false);
    atomic_store(&calls, 0);
    atomic_store(&failed, 0);
    atomic_store(&fails_from, from);
    atomic_store(&fails_until, from + count);
    atomic_store(&counts, count > 0);
}

/* How many have found none since then. */
unsigned long memory_failed(void)
{
    return atomic_load(&failed);
}

/* At how many places of the code, in all. */
unsigned memory_sites(void)
{
    unsigned count = 0;

    while (count < SITES && atomic_load(&sites[count]))
        count++;
    return count;
}

static void note_site(uintptr_t site)
{
    for (unsigned i = 0; i < SITES; i++) {
        uintptr_t known = 0;

        if (atomic_compare_exchange_strong(&sites[i], &known, site) ||
            known == site)
            return;
    }
}

static bool fails(const void *site)
{
    unsigned long call;

    if (!atomic_load(&counts))
        return false;
    call = atomic_fetch_add(&calls, 1) + 1;
    if (call < atomic_load(&fails_from) || call >= atomic_load(&fails_until))
        return false;
    (void)atomic_fetch_add(&failed, 1);
    note_site((uintptr_t)site);
    errno = ENOMEM;
    return true;
}

/* How many blocks are allocated and not freed. */
long memory_blocks(void)
{
    return atomic_load(&blocks);
}

static void *made(void *memory)
{
    if (memory)
        (void)atomic_fetch_add(&blocks, 1);
    return memory;
}

#define FAILS() fails(__builtin_return_address(0))

void *malloc(size_t size)
{
    return FAILS() ? NULL : made(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return FAILS() ? NULL : made(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    void *memory;

    if (FAILS())
        return NULL;
    memory = __libc_realloc(old, size);
    return old ? memory : made(memory);
}

void *memalign(size_t alignment, size_t size)
{
    return FAILS() ? NULL : made(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS() ? NULL : made(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = FAILS() ? NULL : made(__libc_memalign(alignment, size));

    if (!memory)
        return ENOMEM;
    *out = memory;
    return 0;
}

void free(void *memory)
{
    if (memory)
        (void)atomic_fetch_sub(&blocks, 1);
    __libc_free(memory);
}
