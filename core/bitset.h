/* A set of small numbers that is walked in order: 64 of them in a step. */
#ifndef CORE_BITSET_H
#define CORE_BITSET_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed at first. */
struct bitset {
    uint64_t *words;
    uint32_t room; /* words */
};

void bitset_free(struct bitset *set);
void bitset_set(struct bitset *set, int number, bool in);
/* The lowest number in it that is not below `from`, or -1. Numbers are not
 * negative. */
int bitset_next(const struct bitset *set, int from);

#endif
