#include "node/library/sized.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Of the larger structs, how large one may still be believed to be. */
enum { LARGEST = 4096 };

static size_t size_of(const void *sized)
{
    uint32_t size;

    memcpy(&size, sized, sizeof size);
    return size;
}

static bool is_set(size_t size)
{
    return size > sizeof(uint32_t) && size <= LARGEST;
}

enum status sized_read(void *to, size_t bytes, const void *from,
                       const char *name, struct why *why)
{
    const unsigned char *beyond = from;
    size_t size = size_of(from);
    uint32_t own = (uint32_t)bytes;

    if (!is_set(size))
        return because(why, STATUS_USAGE,
                       "the size of struct %s is not set: it is to be its "
                       "sizeof, not %zu",
                       name, size);
    for (size_t i = bytes; i < size; i++)
        if (beyond[i])
            return because(why, STATUS_USAGE,
                           "struct %s has a member that this version of the "
                           "library does not know",
                           name);
    memset(to, 0, bytes);
    memcpy(to, from, size < bytes ? size : bytes);
    memcpy(to, &own, sizeof own);
    return STATUS_OK;
}

// NOLINTNEXTLINE(readability-function-size): a list is a pointer and a number
enum status sized_read_at(void *to, size_t bytes, const void *list, size_t i,
                          const char *name, struct why *why)
{
    size_t stride = size_of(list);
    const unsigned char *from = (const unsigned char *)list + i * stride;

    if (size_of(from) != stride)
        return because(why, STATUS_USAGE,
                       "the size of struct %s %zu is not that of the first",
                       name, i);
    return sized_read(to, bytes, from, name, why);
}

enum status sized_write(void *to, const void *from, size_t bytes)
{
    size_t size = size_of(to), known = size < bytes ? size : bytes;
    unsigned char *out = to;

    if (!is_set(size))
        return STATUS_USAGE;
    memcpy(out + sizeof(uint32_t),
           (const unsigned char *)from + sizeof(uint32_t),
           known - sizeof(uint32_t));
    memset(out + known, 0, size - known);
    return STATUS_OK;
}
