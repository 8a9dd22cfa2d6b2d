#include "net/cores.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/text.h"

/* The cores of the calling thread. */
static void ours(struct cores *out)
{
    CPU_ZERO(&out->set);
    if (sched_getaffinity(0, sizeof out->set, &out->set) != 0)
        CPU_SET(0, &out->set);
    out->count = (unsigned)CPU_COUNT(&out->set);
}

static bool has(const struct cores *cores, size_t core)
{
    return core < CPU_SETSIZE && CPU_ISSET(core, &cores->set);
}

/* Writes them as cores_read reads them. */
static void list(const struct cores *cores, struct text *out)
{
    for (size_t i = 0, next; i < CPU_SETSIZE; i = next) {
        next = i + 1;
        if (!has(cores, i))
            continue;
        while (has(cores, next))
            next++;
        text_add(out, out->length ? ",%zu" : "%zu", i);
        if (next > i + 1)
            text_add(out, "-%zu", next - 1);
    }
}

static bool read_number(const char **text, size_t *out)
{
    size_t number = 0, digits = 0;

    for (; **text >= '0' && **text <= '9' && digits < 6; ++*text, digits++)
        number = 10 * number + (size_t)(**text - '0');
    *out = number;
    return digits > 0;
}

/* Reads "6" or "6-7". */
static bool read_range(const char **text, size_t *first, size_t *last)
{
    if (!read_number(text, first))
        return false;
    *last = *first;
    if (**text != '-')
        return true;
    ++*text;
    return read_number(text, last) && *last >= *first;
}

static enum status add(struct cores *out, size_t first, size_t last,
                       struct why *why)
{
    char buffer[100];
    struct cores all;
    struct text names;

    ours(&all);
    text_init(&names, buffer, sizeof buffer);
    list(&all, &names);
    for (size_t i = first; i <= last; i++) {
        if (i >= CPU_SETSIZE || !CPU_ISSET(i, &all.set))
            return because(why, STATUS_CONFIG,
                           "--cores: core %zu is not there, or not for this "
                           "process; there are %s",
                           i, buffer);
        CPU_SET(i, &out->set);
    }
    return STATUS_OK;
}

enum status cores_read(const char *text, struct cores *out, struct why *why)
{
    const char *given = text;
    struct cores found = {0};
    enum status status = STATUS_OK;
    size_t first, last;

    CPU_ZERO(&found.set);
    while (*text && status == STATUS_OK) {
        if (!read_range(&text, &first, &last) || (*text && *text != ',') ||
            (*text == ',' && !text[1]))
            return because(why, STATUS_USAGE,
                           "--cores %.40s: expected a list such as 6-7 or 0,2",
                           given);
        status = add(&found, first, last, why);
        text += *text == ',';
    }
    if (status != STATUS_OK)
        return status;
    found.count = (unsigned)CPU_COUNT(&found.set);
    *out = found;
    return STATUS_OK;
}

unsigned cores_count(const struct cores *cores)
{
    struct cores all;

    if (cores->count)
        return cores->count;
    ours(&all);
    return all.count;
}

void cores_enter(const struct cores *cores, struct cores *before)
{
    before->count = 0;
    if (!cores->count)
        return;
    ours(before);
    (void)sched_setaffinity(0, sizeof cores->set, &cores->set);
}

void cores_leave(const struct cores *before)
{
    if (before->count)
        (void)sched_setaffinity(0, sizeof before->set, &before->set);
}

/* What sched_setattr(2) takes. Its header cannot be included beside sched.h. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period; /* ns */
};

/* EEVDF: whose slice is shorter has the earlier deadline, for the same share
 * of the core. 0.1 ms is the shortest; the usual one is about 3 ms. */
void cores_prompt(void)
{
    struct scheduling wanted = {
        .size = sizeof wanted, .policy = SCHED_OTHER, .slice = 100000};

    if (sched_getscheduler(0) != SCHED_OTHER)
        return; /* somebody has chosen */
    errno = 0;
    wanted.nice = getpriority(PRIO_PROCESS, 0);
    if (errno == 0)
        (void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}
