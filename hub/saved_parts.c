/* The saved state's lines about exchanges that were not merged as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/saved.h"
#include "hub/state.h"

enum {
    PARTS = MAX_REMEMBERED, /* lines of a node */
    PART_BYTES = 32         /* of each, without its chunks */
};

/* An exchange that a later one, or nothing, tells the fate of. */
struct part {
    const struct contribution *one;
    bool waits; /* nothing of it is in this version */
};

struct parts {
    unsigned count;
    struct part list[PARTS]; /* the newest ones, newest first */
};

static void parts_add(struct parts *parts, const struct contribution *one,
                      bool waits)
{
    unsigned at = parts->count;

    while (at > 0 &&
           parts->list[at - 1].one->offer.exchange < one->offer.exchange)
        at--;
    if (at == PARTS)
        return;
    parts->count += parts->count < PARTS;
    memmove(&parts->list[at + 1], &parts->list[at],
            (parts->count - 1 - at) * sizeof *parts->list);
    parts->list[at] = (struct part){one, waits};
}

/* The newest exchange of which something was merged: its node takes all before
 * it for merged that it is not told of. */
static uint64_t newest_merged(const struct member *member)
{
    uint64_t newest = member->merged;

    for (unsigned i = 0; i < MAX_REMEMBERED; i++) {
        const struct contribution *one = member->remembered[i];

        if (one && one->incarnation == member->incarnation &&
            one->merged != one->foreign && one->offer.exchange > newest)
            newest = one->offer.exchange;
    }
    return newest;
}

static void parts_take(struct parts *parts, const struct member *member,
                       const struct contribution *one, uint64_t newest,
                       bool waits)
{
    if (one && one->incarnation == member->incarnation &&
        one->offer.exchange <= newest)
        parts_add(parts, one, waits);
}

/* Of what waits in a round, or for one, nothing is in this version. */
static void parts_list(const struct member *member, struct parts *parts)
{
    uint64_t newest = newest_merged(member);

    parts->count = 0;
    for (unsigned i = 0; i < MAX_REMEMBERED; i++)
        parts_take(parts, member, member->remembered[i], newest, false);
    for (unsigned i = 0; i < member->waiting_count; i++)
        parts_take(parts, member, member->waiting[i], newest, true);
    for (const struct contribution *one = member->open; one; one = one->next)
        parts_take(parts, member, one, newest, true);
}

static enum verdict fate_of(const struct part *part, uint32_t chunk)
{
    return part->waits ? VERDICT_LOST : contribution_fate(part->one, chunk);
}

/* What was read from a saved state knows no fragment: all are its own. */
static bool is_own(const struct part *part, uint32_t chunk)
{
    return !part->one->part.stride ||
           fragment_holds(part->one->part, chunk);
}

static size_t print_part(const struct hub *hub, const struct part *part,
                         char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "parted %" PRIu64 " ",
                                 part->one->offer.exchange);
    uint32_t own = part->one->part.first;

    for (uint32_t i = 0, first = 0; first < hub->chunks; first = i) {
        enum verdict verdict = fate_of(part, first ? first : own);

        for (i = first + 1;
             i < hub->chunks &&
             (!is_own(part, i) || fate_of(part, i) == verdict);)
            i++;
        text[at++] = (char)('a' + verdict);
        if (i - first > 1)
            at += (size_t)snprintf(text + at, size - at, "%u", i - first);
    }
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

bool saved_number(const char **text, const char *key, uint64_t *out)
{
    size_t length = strlen(key);
    char *end;

    if (strncmp(*text, key, length) != 0)
        return false;
    *text += length;
    if (**text == ' ')
        ++*text;
    if (**text < '0' || **text > '9')
        return false;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

size_t saved_print_parts(const struct hub *hub, const struct member *member,
                         char *text, size_t size)
{
    struct parts parts;
    size_t at = 0;

    parts_list(member, &parts);
    for (unsigned i = 0; i < parts.count; i++)
        at += print_part(hub, &parts.list[i], text + at, size - at);
    return at;
}

size_t saved_room_of_parts(const struct hub *hub, const struct member *member)
{
    struct parts parts;

    parts_list(member, &parts);
    return parts.count * (PART_BYTES + (size_t)hub->chunks);
}
