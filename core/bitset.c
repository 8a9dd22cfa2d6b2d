#include "core/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"

enum { WORD = 64 };

void bitset_free(struct bitset *set)
{
    free(set->words);
    *set = (struct bitset){0};
}

static void grow(struct bitset *set, uint32_t room)
{
    set->words = need_more(set->words, room * sizeof *set->words);
    memset(set->words + set->room, 0, (room - set->room) * sizeof *set->words);
    set->room = room;
}

void bitset_set(struct bitset *set, int number, bool in)
{
    uint32_t word = (uint32_t)number / WORD;
    uint64_t bit = (uint64_t)1 << (uint32_t)number % WORD;

    if (word >= set->room && in)
        grow(set, 2 * word + 1);
    if (in)
        set->words[word] |= bit;
    else if (word < set->room)
        set->words[word] &= ~bit;
}

/* The place of the lowest bit of a word that has one. */
static int lowest(uint64_t word)
{
    int place = 0;

    for (int half = WORD / 2; half; half /= 2)
        if (!(word << (WORD - half))) {
            word >>= half;
            place += half;
        }
    return place;
}

int bitset_next(const struct bitset *set, int from)
{
    uint32_t word = (uint32_t)from / WORD;
    uint64_t bits;

    if (word >= set->room)
        return -1;
    bits = set->words[word] & UINT64_MAX << (uint32_t)from % WORD;
    while (!bits && ++word < set->room)
        bits = set->words[word];
    return bits ? (int)(word * WORD) + lowest(bits) : -1;
}
