/* SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input
 * PRF, 2012): a number that nobody can tell from chance who does not know the
 * key, whatever others he has seen. */
#ifndef CORE_SIPHASH_H
#define CORE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Of `count` words, each as 8 bytes in little-endian order. */
uint64_t siphash(const uint64_t key[2], const uint64_t *words, size_t count);

#endif
