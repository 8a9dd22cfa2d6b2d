/* Structs of the public interface, of which the program's may be shorter or
 * longer than ours, as it was compiled with another version of the header.
 *
 * Each begins with its size. What a shorter one lacks is 0. A longer one may
 * hold nothing but 0 in what we do not know: else the program asks for
 * something that this library would leave out without a word. */
#ifndef NODE_LIBRARY_SIZED_H
#define NODE_LIBRARY_SIZED_H

#include <stddef.h>

#include "core/status.h"

/* Copies the program's struct `from` to ours of `bytes`, whose size is then
 * ours. `name` is for people. USAGE: its size is not set, or it says what we do
 * not know; then `to` is as it was. */
enum status sized_read(void *to, size_t bytes, const void *from,
                       const char *name, struct why *why) MUST_CHECK;
/* The same of element `i` of a list, all as long as its first. */
enum status sized_read_at(void *to, size_t bytes, const void *list, size_t i,
                          const char *name, struct why *why) MUST_CHECK;
/* Fills the program's struct with ours, as far as both go; what it has beyond
 * becomes 0. USAGE: its size is not set, and nothing is written. */
enum status sized_write(void *to, const void *from, size_t bytes) MUST_CHECK;

#endif
