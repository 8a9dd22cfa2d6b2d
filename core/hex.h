/* 64 bits as sixteen hexadecimal digits, which "%016" PRIx64 writes. */
#ifndef CORE_HEX_H
#define CORE_HEX_H

#include <stdbool.h>
#include <stdint.h>

enum { HEX_DIGITS = 16 };

/* Reads just the sixteen, in lower case; what is behind them is not looked at.
 * A NUL among them is none of them. */
bool hex_read(const char *text, uint64_t *out);

#endif
