#include "codec/manifest.h"

#include <assert.h>
#include <string.h>

#include <sodium/crypto_generichash.h>
#include <sodium/utils.h>

enum {
    HEAD_BYTES = 8,
    ROW_BYTES = 8 + MANIFEST_HASH_BYTES,
    SEAL_BYTES = MANIFEST_HASH_BYTES + MANIFEST_MAC_BYTES
};

static void put(unsigned char *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* BLAKE2b refuses only lengths that are not ours. */
static void digest(unsigned char *to, size_t to_bytes, const void *bytes,
                   size_t size, const unsigned char *key)
{
    int failed = crypto_generichash(to, to_bytes, bytes, size, key,
                                    key ? MANIFEST_KEY_BYTES : 0);

    assert(!failed);
}

size_t manifest_bytes(uint32_t chunks, size_t state_bytes)
{
    return HEAD_BYTES + state_bytes + (size_t)chunks * ROW_BYTES + SEAL_BYTES;
}

void manifest_begin(unsigned char *bytes, uint32_t chunks, const char *state,
                    uint32_t state_bytes)
{
    put(bytes, chunks, 4);
    put(bytes + 4, state_bytes, 4);
    memcpy(bytes + HEAD_BYTES, state, state_bytes);
}

void manifest_add(unsigned char *bytes, uint32_t chunk, uint64_t version,
                  const void *value, size_t value_bytes)
{
    unsigned char *row =
        bytes + HEAD_BYTES + get(bytes + 4, 4) + (size_t)chunk * ROW_BYTES;

    put(row, version, 8);
    digest(row + 8, MANIFEST_HASH_BYTES, value, value_bytes, NULL);
}

/* The input of the hash. */
static size_t sealed_bytes(uint64_t chunks, uint64_t state_bytes)
{
    return (size_t)(HEAD_BYTES + state_bytes + chunks * ROW_BYTES);
}

void manifest_seal(unsigned char *bytes,
                   const unsigned char key[MANIFEST_KEY_BYTES])
{
    size_t size = sealed_bytes(get(bytes, 4), get(bytes + 4, 4));

    digest(bytes + size, MANIFEST_HASH_BYTES, bytes, size, NULL);
    size += MANIFEST_HASH_BYTES;
    digest(bytes + size, MANIFEST_MAC_BYTES, bytes, size, key);
}

bool manifest_read(struct manifest *manifest, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    if (size < HEAD_BYTES + SEAL_BYTES)
        return false;
    manifest->chunks = (uint32_t)get(at, 4);
    manifest->state_bytes = (uint32_t)get(at + 4, 4);
    if (size !=
        sealed_bytes(manifest->chunks, manifest->state_bytes) + SEAL_BYTES)
        return false;
    manifest->state = (const char *)at + HEAD_BYTES;
    manifest->rows = at + HEAD_BYTES + manifest->state_bytes;
    manifest->mac = at + size - MANIFEST_MAC_BYTES;
    manifest->hash = manifest->mac - MANIFEST_HASH_BYTES;
    return !memchr(manifest->state, '\0', manifest->state_bytes);
}

bool manifest_is_whole(const struct manifest *manifest)
{
    const unsigned char *bytes =
        (const unsigned char *)manifest->state - HEAD_BYTES;
    unsigned char hash[MANIFEST_HASH_BYTES];

    digest(hash, sizeof hash, bytes, (size_t)(manifest->hash - bytes), NULL);
    return memcmp(hash, manifest->hash, sizeof hash) == 0;
}

bool manifest_is_genuine(const struct manifest *manifest,
                         const unsigned char key[MANIFEST_KEY_BYTES])
{
    const unsigned char *bytes =
        (const unsigned char *)manifest->state - HEAD_BYTES;
    unsigned char mac[MANIFEST_MAC_BYTES];

    digest(mac, sizeof mac, bytes, (size_t)(manifest->mac - bytes), key);
    return sodium_memcmp(mac, manifest->mac, sizeof mac) == 0;
}

uint64_t manifest_version(const struct manifest *manifest, uint32_t chunk)
{
    return get(manifest->rows + (size_t)chunk * ROW_BYTES, 8);
}

bool manifest_holds(const struct manifest *manifest, uint32_t chunk,
                    const void *value, size_t value_bytes)
{
    const unsigned char *row = manifest->rows + (size_t)chunk * ROW_BYTES;
    unsigned char hash[MANIFEST_HASH_BYTES];

    digest(hash, sizeof hash, value, value_bytes, NULL);
    return memcmp(hash, row + 8, sizeof hash) == 0;
}
