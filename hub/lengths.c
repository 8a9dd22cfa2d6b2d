#include "hub/lengths.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/saved.h"
#include "hub/state.h"
#include "policies/order.h"

/* Slot 0 is of the whole model. */
static uint32_t slot_of(const struct round *round)
{
    return round->part.stride > 1 ? 1 + round->part.first : 0;
}

static double slot_usual(const struct hub *hub, uint32_t slot)
{
    double *usual = scratch_of((unsigned)hub->member_count + 1, sizeof *usual);
    double middle;
    unsigned count = 0;

    EACH_MEMBER(hub, member) {
        const struct lengths *lengths = member->lengths;

        if (lengths && lengths[slot].usual > 0)
            usual[count++] = lengths[slot].usual;
    }
    if (slot < LENGTHS_SLOTS && hub->former_lengths[slot] > 0)
        usual[count++] = hub->former_lengths[slot];
    middle = values_median(usual, count);
    free(usual);
    return middle;
}

double lengths_usual(const struct hub *hub, const struct round *round)
{
    return slot_usual(hub, slot_of(round));
}

size_t lengths_print(const struct hub *hub, char *text, size_t size)
{
    uint32_t slots = hub->config.fragments > 1 ? hub->config.fragments + 1 : 1;
    size_t at = (size_t)snprintf(text, size, "lengths");

    for (uint32_t i = 0; i < slots && i < LENGTHS_SLOTS; i++) {
        double usual = slot_usual(hub, i);
        uint64_t bits;

        memcpy(&bits, &usual, sizeof bits);
        at += (size_t)snprintf(text + at, size - at, " %" PRIu64, bits);
    }
    return at + (size_t)snprintf(text + at, size - at, "\n");
}

bool lengths_read(struct hub *hub, const char *text)
{
    uint64_t bits;
    bool more = saved_number(&text, "lengths", &bits);

    for (uint32_t i = 0; more && i < LENGTHS_SLOTS; i++) {
        double length;

        memcpy(&length, &bits, sizeof length);
        if (!(length >= 0) || isinf(length))
            return false;
        hub->former_lengths[i] = length;
        more = saved_number(&text, "", &bits);
    }
    return *text == '\n';
}

static void learn(struct hub *hub, struct member *member, uint32_t slot,
                  double length)
{
    double recent[LENGTHS_KEPT];
    struct lengths *lengths;
    unsigned count;

    if (!member->lengths)
        member->lengths =
            need_memory((size_t)hub->config.fragments + 2, sizeof *lengths);
    lengths = &member->lengths[slot];
    lengths->recent[lengths->count++ % LENGTHS_KEPT] = length;
    count = lengths->count < LENGTHS_KEPT ? lengths->count : LENGTHS_KEPT;
    memcpy(recent, lengths->recent, sizeof recent);
    lengths->usual = values_median(recent, count);
}

void lengths_learn(struct hub *hub, const struct round *round)
{
    const struct reduce_rule *reduce = round->policy->reduce;
    struct standing standing = hub_standing(hub, round->live);
    struct candidate *list = scratch_of(round->count, sizeof *list);
    double *factor = scratch_of(round->count, sizeof *factor);
    double *samples = scratch_of(round->count, sizeof *samples);

    standing.usual = round->usual;
    for (unsigned i = 0; i < round->count; i++) {
        list[i] = round->list[i]->candidate;
        factor[i] = 1;
    }
    if (reduce->weigh)
        reduce->weigh(list, round->count, &standing, samples, factor);
    for (unsigned i = 0; reduce->weigh && i < round->count; i++) {
        const struct contribution *one = round->list[i];

        if (one->merged > one->foreign && list[i].norm * factor[i] > 0)
            learn(hub, hub->members[one->member], slot_of(round),
                  list[i].norm * factor[i]);
    }
    free(samples);
    free(factor);
    free(list);
}

void lengths_forget(struct member *member)
{
    free(member->lengths);
    member->lengths = NULL;
}
