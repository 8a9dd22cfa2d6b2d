#include "keys/key.h"

#include <sodium.h>
#include <string.h>

enum status key_pair_make(struct key_pair *out, struct why *why)
{
    if (sodium_init() < 0)
        return because(why, STATUS_UNAVAILABLE,
                       "the system gives no random numbers for a key");
    (void)crypto_box_keypair(out->shown.bytes, out->secret.bytes);
    return STATUS_OK;
}

bool key_pair_complete(struct key_pair *pair)
{
    return crypto_scalarmult_base(pair->shown.bytes, pair->secret.bytes) == 0;
}

/* Z85 (RFC 32): four bytes, as a number, are five digits of base 85. */
static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             ".-:+=^!/*?&<>()[]{}@%$#";

enum { BASE = 85, PART_BYTES = 4, PART_DIGITS = 5 };

void key_print(const struct key *key, char text[KEY_TEXT_BYTES])
{
    for (size_t i = 0; i < KEY_BYTES; i += PART_BYTES) {
        char *part = text + i / PART_BYTES * PART_DIGITS;
        uint32_t number = 0;

        for (unsigned j = 0; j < PART_BYTES; j++)
            number = number << 8 | key->bytes[i + j];
        for (unsigned j = PART_DIGITS; j-- > 0; number /= BASE)
            part[j] = digits[number % BASE];
    }
    text[KEY_TEXT_BYTES - 1] = '\0';
}

static bool parse_part(const char *part, uint8_t out[PART_BYTES])
{
    uint64_t number = 0;

    for (unsigned j = 0; j < PART_DIGITS; j++) {
        const char *digit = memchr(digits, part[j], BASE);

        if (!digit)
            return false;
        number = number * BASE + (uint64_t)(digit - digits);
    }
    for (unsigned j = PART_BYTES; j-- > 0; number >>= 8)
        out[j] = (uint8_t)number;
    return number == 0;
}

bool key_parse(const char *text, size_t length, struct key *out)
{
    struct key key = {.bytes = {0}};
    bool right = length == KEY_TEXT_BYTES - 1;

    for (size_t i = 0; right && i < KEY_BYTES; i += PART_BYTES)
        right = parse_part(text + i / PART_BYTES * PART_DIGITS, key.bytes + i);
    if (right)
        *out = key;
    explicit_bzero(&key, sizeof key);
    return right;
}
