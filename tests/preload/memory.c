/* Memory that is at an end for the library and for nobody else: to be loaded
 * before the C library (LD_PRELOAD), by a host that says when.
 *
 * An allocation counts when it is called from libstarswitch.so. From the one
 * that was asked for on, so many in a row find no memory. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

enum { SITES = 1024 };

/* glibc's own. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*) */

static atomic_ulong calls, fails_from, fails_until, failed;
static atomic_uintptr_t first, end;   /* the library's code */
static atomic_uintptr_t sites[SITES]; /* that found no memory */

SHOWN void memory_fails(unsigned long from, unsigned long count);
SHOWN unsigned long memory_calls(void);
SHOWN unsigned long memory_failed(void);
SHOWN unsigned memory_sites(void);
SHOWN void *malloc(size_t size);
SHOWN void *calloc(size_t count, size_t size);
SHOWN void *realloc(void *old, size_t size);
SHOWN void *aligned_alloc(size_t alignment, size_t size);

static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libstarswitch.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            atomic_store(&first, info->dlpi_addr + part->p_vaddr);
            atomic_store(&end, info->dlpi_addr + part->p_vaddr + part->p_memsz);
        }
    }
    return 1;
}

/* From now on: the `from`th call (from 1) and those behind it, `count` in all,
 * find no memory; count 0: all do. */
void memory_fails(unsigned long from, unsigned long count)
{
    (void)dl_iterate_phdr(find_library, NULL);
    atomic_store(&fails_until, 0);
    atomic_store(&calls, 0);
    atomic_store(&failed, 0);
    atomic_store(&fails_from, from);
    atomic_store(&fails_until, from + count);
}

unsigned long memory_calls(void)
{
    return atomic_load(&calls);
}

unsigned long memory_failed(void)
{
    return atomic_load(&failed);
}

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

static bool fails(const void *from)
{
    uintptr_t site = (uintptr_t)from;
    unsigned long call;

    if (site < atomic_load(&first) || site >= atomic_load(&end))
        return false;
    call = atomic_fetch_add(&calls, 1) + 1;
    if (call < atomic_load(&fails_from) || call >= atomic_load(&fails_until))
        return false;
    (void)atomic_fetch_add(&failed, 1);
    note_site(site);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL
                                              : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL
                                              : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0))
               ? NULL
               : __libc_memalign(alignment, size);
}
