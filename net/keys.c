#include "net/keys.h"

#include <string.h>
#include <xxhash.h>

/* Below this, a hash is one of the words of seam/machine.h. */
enum { RESERVED = 2 };

uint64_t key_hash(const struct key *key)
{
    uint64_t hash = XXH3_64bits(key->bytes, KEY_BYTES);

    return hash < RESERVED ? hash + RESERVED : hash;
}

bool keys_equal(const struct key *one, const struct key *other)
{
    return memcmp(one->bytes, other->bytes, KEY_BYTES) == 0;
}
