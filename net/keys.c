#include "net/keys.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>
#include <zmq.h>

/* Below this, a hash is one of the words of seam/machine.h. */
enum { RESERVED = 2 };

enum status key_pair_make(struct key_pair *out, struct why *why)
{
    char shown[KEY_TEXT_BYTES], secret[KEY_TEXT_BYTES];
    enum status status = STATUS_OK;

    if (zmq_curve_keypair(shown, secret) != 0)
        return because(why, STATUS_UNAVAILABLE,
                       "this system's libzmq makes no keys (%s); install one "
                       "that has CURVE",
                       zmq_strerror(errno));
    if (!key_parse(shown, strlen(shown), &out->shown) ||
        !key_parse(secret, strlen(secret), &out->secret))
        status = because(why, STATUS_UNAVAILABLE,
                         "this system's libzmq makes keys of a kind that "
                         "nobody knows");
    explicit_bzero(secret, sizeof secret);
    return status;
}

void key_pair_wipe(struct key_pair *pair)
{
    explicit_bzero(pair, sizeof *pair);
}

void key_print(const struct key *key, char text[KEY_TEXT_BYTES])
{
    (void)zmq_z85_encode(text, key->bytes, KEY_BYTES);
}

/* libzmq's decoder says no of some bad texts only: what is right comes out as
 * it went in. */
bool key_parse(const char *text, size_t length, struct key *out)
{
    char copy[KEY_TEXT_BYTES], again[KEY_TEXT_BYTES];
    struct key key;
    bool right;

    if (length != KEY_TEXT_BYTES - 1 || memchr(text, '\0', length))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    right = zmq_z85_decode(key.bytes, copy) != NULL;
    if (right) {
        key_print(&key, again);
        right = memcmp(copy, again, length) == 0;
    }
    if (right)
        *out = key;
    explicit_bzero(copy, sizeof copy);
    explicit_bzero(again, sizeof again);
    explicit_bzero(&key, sizeof key);
    return right;
}

uint64_t key_hash(const struct key *key)
{
    uint64_t hash = XXH3_64bits(key->bytes, KEY_BYTES);

    return hash < RESERVED ? hash + RESERVED : hash;
}

bool keys_equal(const struct key *one, const struct key *other)
{
    return memcmp(one->bytes, other->bytes, KEY_BYTES) == 0;
}
