#include "core/hex.h"

#include <string.h>

bool hex_read(const char *text, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;

    for (unsigned i = 0; i < HEX_DIGITS; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (!digit)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *out = value;
    return true;
}
