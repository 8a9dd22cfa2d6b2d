/* The manifest of a complete centre: a node keeps it with the centre that it
 * keeps, so that a hub that has lost its own can tell that it is the centre,
 * and go on from it. Little-endian:
 *
 *     u32 chunks, u32 bytes of the state, the state as text (hub/saved.c),
 *     per chunk: u64 version, 16 bytes hash;
 *     16 bytes hash of all that stands before, 32 bytes MAC of all of that
 *
 * A chunk's version is that at which its value last changed: RESULT carried
 * it. Its hash is of the bytes that nodes hold. Hashes and MAC are BLAKE2b (RFC
 * 7693), as crypto_generichash of libsodium makes it; the MAC's key is the
 * hub's. The hash alone shows that nothing is damaged, the MAC who made it. */
#ifndef CODEC_MANIFEST_H
#define CODEC_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MANIFEST_HASH_BYTES = 16,
    MANIFEST_MAC_BYTES = 32,
    MANIFEST_KEY_BYTES = 32,
    /* Bulk connections carry payloads of so many bytes, however small a chunk
     * is. */
    MANIFEST_ROOM_BYTES = 64 * 1024
};

/* The upper half of an epoch counts the hub's lives, the lower one what
 * happens in a life. */
static inline uint64_t epoch_life(uint64_t epoch)
{
    return epoch >> 32;
}

/* One as it lies in memory, which is the caller's. */
struct manifest {
    uint32_t chunks;
    uint32_t state_bytes;
    const char *state; /* without a NUL, within or behind */
    const unsigned char *rows, *hash, *mac;
};

size_t manifest_bytes(uint32_t chunks, size_t state_bytes);

/* `bytes` has room for manifest_bytes(); first this, */
void manifest_begin(unsigned char *bytes, uint32_t chunks, const char *state,
                    uint32_t state_bytes);
/* then each chunk, with the value that nodes hold, */
void manifest_add(unsigned char *bytes, uint32_t chunk, uint64_t version,
                  const void *value, size_t value_bytes);
/* and at last what seals it. */
void manifest_seal(unsigned char *bytes,
                   const unsigned char key[MANIFEST_KEY_BYTES]);

/* Bytes from outside: whether they have this shape. Nothing is known then of
 * who made them, nor whether they are whole. */
bool manifest_read(struct manifest *manifest, const void *bytes, size_t size);
/* Whether it is as it was made, by whomever. */
bool manifest_is_whole(const struct manifest *manifest);
/* Whether who made it had the key. */
bool manifest_is_genuine(const struct manifest *manifest,
                         const unsigned char key[MANIFEST_KEY_BYTES]);
uint64_t manifest_version(const struct manifest *manifest, uint32_t chunk);
/* Whether the value is that of the chunk. */
bool manifest_holds(const struct manifest *manifest, uint32_t chunk,
                    const void *value, size_t value_bytes);

#endif
