/* Reference-counted bytes: every payload is one blob from socket to socket.
 *
 * A blob is written by whoever makes it and never changes once it is shared;
 * then any thread may read it. Buffers come from a pool that recycles them, as
 * fresh pages cost more than copying. References are counted atomically; a
 * pool may be used from any thread and must outlive its blobs. */
#ifndef CORE_BLOB_H
#define CORE_BLOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

struct blob {
    unsigned char *bytes;
    size_t size;         /* bytes that are really there */
    uint64_t wire_bytes; /* bytes it counts for on a link */
    uint64_t checksum;   /* XXH3-64 once somebody has computed it */
    atomic_uint references;
    struct blob *parent;       /* whose bytes these are, or NULL */
    struct pool *pool;         /* where it goes when unused, or NULL */
    void (*release)(void *of); /* frees foreign bytes, or NULL */
    void *of;                  /* argument of release */
    size_t capacity;           /* room behind bytes, for the pool */
    struct blob *next;         /* in the pool's list of unused ones */
};

struct pool *pool_new(void);
/* Frees the pool; a blob still out is a bug. */
void pool_destroy(struct pool **pool);
/* At most so many bytes are kept in spare blobs; before, there is no limit but
 * 256 of each size. */
void pool_limit_spare(struct pool *pool, size_t bytes);
/* Bytes of all blobs of the pool, in use and spare. */
size_t pool_bytes(struct pool *pool);

/* A blob of `size` bytes, not initialised, aligned to 64; one reference, the
 * caller's. NULL when there is no memory, or for more than 1 TiB. */
struct blob *blob_new(struct pool *pool, size_t size);
/* The same for what cannot be done without: core/need.h. */
struct blob *blob_need(struct pool *pool, size_t size);
/* Wraps foreign bytes; `release(of)`, unless it is NULL, is called once, when
 * the last reference goes, on the thread that lets it go. NULL when there is no
 * memory. */
struct blob *blob_wrap(struct pool *pool, void *bytes, size_t size,
                       void (*release)(void *of), void *of);
/* A part of a blob, keeping the whole alive. */
struct blob *blob_slice(struct blob *whole, size_t offset, size_t size);

struct blob *blob_ref(struct blob *blob); /* NULL is passed through */
void blob_unref(struct blob **blob);      /* sets the pointer to NULL */

static inline float *blob_floats(struct blob *blob)
{
    return (float *)(void *)blob->bytes;
}

/* Computes and remembers the checksum. */
void blob_seal(struct blob *blob);

/* The same, piece by piece and in order, while whoever writes or reads a blob
 * has the piece in the cache: begin, add all of its bytes, and seal. */
struct sealing {
    _Alignas(64) unsigned char state[640];
};

void sealing_begin(struct sealing *sealing);
void sealing_add(struct sealing *sealing, const void *bytes, size_t size);
void sealing_end(const struct sealing *sealing, struct blob *blob);

#endif
