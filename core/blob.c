#include "core/blob.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#ifndef STAR_PORTABLE
#include <sys/mman.h>
#endif

#include "core/need.h"

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
/* Which instructions, at run time; libxxhash.a has SSE2's alone, half as fast
 * and above 10 GB/s. */
#if defined(__x86_64__) && !defined(STAR_PORTABLE)
#include <xxh_x86dispatch.h>
#endif

/* Capacities are multiples of a power of two: up to 1 KiB of 64 bytes, above
 * it 9 to 16 times a step, so that at most a ninth is not used. */
enum {
    ALIGNMENT = 64,
    HUGE_PAGE = 2 << 20, /* of most processors */
    SMALL_CLASSES = 16,
    STEP_CLASSES = 8,
    STEPS = 30,
    CLASSES = SMALL_CLASSES + STEPS * STEP_CLASSES,
    SPARES_PER_CLASS = 256
};
#define LARGEST_BLOB ((size_t)SMALL_CLASSES * ALIGNMENT << STEPS)

/* Unused blobs of one capacity. */
struct spares {
    unsigned count;
    struct blob *first;
};

struct pool {
    pthread_mutex_t lock;
    struct spares spares[CLASSES];
    size_t bytes;
    size_t spare, keep; /* bytes of those, and how many there may be */
    size_t out;
};

struct pool *pool_new(void)
{
    struct pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pool->keep = SIZE_MAX;
    (void)pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

static void blob_free(struct blob *blob)
{
    free(blob->bytes);
    free(blob);
}

void pool_destroy(struct pool **pool)
{
    if (!*pool)
        return;
    assert((*pool)->out == 0);
    for (unsigned i = 0; i < CLASSES; i++)
        while ((*pool)->spares[i].first) {
            struct blob *blob = (*pool)->spares[i].first;

            (*pool)->spares[i].first = blob->next;
            blob_free(blob);
        }
    (void)pthread_mutex_destroy(&(*pool)->lock);
    free(*pool);
    *pool = NULL;
}

void pool_limit_spare(struct pool *pool, size_t bytes)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->keep = bytes;
    (void)pthread_mutex_unlock(&pool->lock);
}

size_t pool_bytes(struct pool *pool)
{
    size_t bytes;

    (void)pthread_mutex_lock(&pool->lock);
    bytes = pool->bytes;
    (void)pthread_mutex_unlock(&pool->lock);
    return bytes;
}

/* The class of blobs with room for `size`; rounds it up to their capacity. */
static unsigned class_of(size_t *size)
{
    size_t step = ALIGNMENT, parts;
    unsigned steps = 0;

    for (; step * SMALL_CLASSES < *size; step *= 2)
        steps++;
    parts = *size ? (*size + step - 1) / step : 1;
    *size = parts * step;
    return (unsigned)parts - 1 + steps * STEP_CLASSES;
}

static struct blob *take_spare(struct pool *pool, unsigned class)
{
    struct spares *spares = &pool->spares[class];
    struct blob *blob;

    (void)pthread_mutex_lock(&pool->lock);
    blob = spares->first;
    if (blob) {
        spares->first = blob->next;
        spares->count--;
        pool->spare -= blob->capacity;
        pool->out++;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return blob;
}

static bool has_room(const struct pool *pool, const struct spares *spares,
                     const struct blob *blob)
{
    return blob->capacity && spares->count < SPARES_PER_CLASS &&
           pool->spare <= pool->keep &&
           blob->capacity <= pool->keep - pool->spare;
}

/* Takes a blob that nobody uses any more; one of capacity 0 has no bytes of
 * its own. */
static void give_back(struct pool *pool, struct blob *blob)
{
    size_t capacity = blob->capacity;
    struct spares *spares = &pool->spares[class_of(&capacity)];

    (void)pthread_mutex_lock(&pool->lock);
    pool->out--;
    if (has_room(pool, spares, blob)) {
        spares->count++;
        pool->spare += blob->capacity;
        blob->next = spares->first;
        spares->first = blob;
        blob = NULL;
    } else {
        pool->bytes -= blob->capacity;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (blob)
        blob_free(blob);
}

/* Makes of `blob`, which is zeroed, one whose `capacity` bytes, which may be
 * none, are the pool's. */
static struct blob *blob_make(struct blob *blob, struct pool *pool, void *bytes,
                              size_t capacity)
{
    blob->bytes = bytes;
    blob->capacity = capacity;
    (void)pthread_mutex_lock(&pool->lock);
    pool->out++;
    pool->bytes += capacity;
    (void)pthread_mutex_unlock(&pool->lock);
    return blob;
}

static struct blob *blob_start(struct blob *blob, struct pool *pool,
                               size_t size)
{
    blob->size = size;
    blob->wire_bytes = size;
    blob->checksum = 0;
    atomic_init(&blob->references, 1);
    blob->parent = NULL;
    blob->pool = pool;
    blob->release = NULL;
    blob->of = NULL;
    blob->next = NULL;
    return blob;
}

/* Linux gives huge pages to those who ask; a copy into pages of 4 KiB can take
 * three times as long. What is behind the last whole one has small pages. */
static void *bytes_new(size_t capacity)
{
#ifdef MADV_HUGEPAGE
    size_t whole = capacity - capacity % HUGE_PAGE;

    if (whole) {
        void *bytes = aligned_alloc(
            HUGE_PAGE, whole < capacity ? whole + HUGE_PAGE : whole);

        if (bytes)
            (void)madvise(bytes, whole, MADV_HUGEPAGE);
        return bytes;
    }
#endif
    return aligned_alloc(ALIGNMENT, capacity);
}

struct blob *blob_new(struct pool *pool, size_t size)
{
    size_t capacity = size;
    struct blob *blob;
    unsigned class;
    void *bytes;

    if (size > LARGEST_BLOB)
        return NULL;
    class = class_of(&capacity);
    blob = take_spare(pool, class);
    if (!blob) {
        bytes = bytes_new(capacity);
        blob = calloc(1, sizeof *blob);
        if (!bytes || !blob) {
            free(bytes);
            free(blob);
            return NULL;
        }
        (void)blob_make(blob, pool, bytes, capacity);
    }
    return blob_start(blob, pool, size);
}

struct blob *blob_need(struct pool *pool, size_t size)
{
    struct blob *blob;

    while (!(blob = blob_new(pool, size)))
        need_wait();
    return blob;
}

struct blob *blob_wrap(struct pool *pool, void *bytes, size_t size,
                       void (*release)(void *of), void *of)
{
    struct blob *blob = calloc(1, sizeof *blob);

    if (!blob)
        return NULL;
    (void)blob_start(blob_make(blob, pool, bytes, 0), pool, size);
    blob->release = release;
    blob->of = of;
    return blob;
}

struct blob *blob_slice(struct blob *whole, size_t offset, size_t size)
{
    struct pool *pool = whole->pool;
    struct blob *blob;

    assert(offset <= whole->size && size <= whole->size - offset);
    blob = need_memory(1, sizeof *blob);
    (void)blob_start(blob_make(blob, pool, whole->bytes + offset, 0), pool,
                     size);
    blob->parent = blob_ref(whole);
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    if (blob)
        atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
    return blob;
}

/* Gives back what nobody uses any more; returns what it was a part of. */
static struct blob *blob_end(struct blob *blob)
{
    struct blob *parent = blob->parent;

    if (blob->release)
        blob->release(blob->of);
    if (!blob->capacity)
        blob->bytes = NULL;
    give_back(blob->pool, blob);
    return parent;
}

void blob_unref(struct blob **reference)
{
    struct blob *blob = *reference;

    *reference = NULL;
    while (blob && atomic_fetch_sub_explicit(&blob->references, 1,
                                             memory_order_acq_rel) == 1)
        blob = blob_end(blob);
}

void blob_seal(struct blob *blob)
{
    blob->checksum = XXH3_64bits(blob->bytes, blob->size);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct sealing),
               "a sealing has room for XXH3's state");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(struct sealing),
               "and lies as it must");

static XXH3_state_t *state_of(struct sealing *sealing)
{
    return (XXH3_state_t *)(void *)sealing->state;
}

void sealing_begin(struct sealing *sealing)
{
    XXH3_INITSTATE(state_of(sealing));
    (void)XXH3_64bits_reset(state_of(sealing));
}

void sealing_add(struct sealing *sealing, const void *bytes, size_t size)
{
    (void)XXH3_64bits_update(state_of(sealing), bytes, size);
}

void sealing_end(const struct sealing *sealing, struct blob *blob)
{
    blob->checksum =
        XXH3_64bits_digest((const XXH3_state_t *)(const void *)sealing->state);
}
