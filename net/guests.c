#include "net/guests.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"

static int compare_rows(const void *one, const void *other)
{
    const struct guest_row *a = one, *b = other;

    return (a->hash > b->hash) - (a->hash < b->hash);
}

void guests_init(struct guests *guests)
{
    memset(guests, 0, sizeof *guests);
    (void)pthread_mutex_init(&guests->lock, NULL);
}

void guests_free(struct guests *guests)
{
    free(guests->rows);
    guests->rows = NULL;
    (void)pthread_mutex_destroy(&guests->lock);
}

void guests_allow(struct guests *guests, const struct key *keys, unsigned count,
                  const struct key *enrolment)
{
    struct guest_row *rows = need_memory(count, sizeof *rows), *before;

    for (unsigned i = 0; i < count; i++)
        rows[i] = (struct guest_row){key_hash(&keys[i]), keys[i]};
    qsort(rows, count, sizeof *rows, compare_rows);
    (void)pthread_mutex_lock(&guests->lock);
    before = guests->rows;
    guests->rows = rows;
    guests->count = count;
    guests->enrols = enrolment != NULL;
    if (enrolment)
        guests->enrolment = (struct guest_row){key_hash(enrolment), *enrolment};
    (void)pthread_mutex_unlock(&guests->lock);
    free(before);
}

/* Called with the lock held. NULL: nobody. */
static const struct guest_row *find(const struct guests *guests, uint64_t hash)
{
    struct guest_row wanted = {.hash = hash};

    if (guests->enrols && guests->enrolment.hash == hash)
        return &guests->enrolment;
    return guests->count ? bsearch(&wanted, guests->rows, guests->count,
                                   sizeof *guests->rows, compare_rows)
                         : NULL;
}

static enum guest role(struct guests *guests, uint64_t hash,
                       const struct key *key)
{
    const struct guest_row *row;
    enum guest guest = GUEST_NOBODY;

    (void)pthread_mutex_lock(&guests->lock);
    row = find(guests, hash);
    if (row && (!key || keys_equal(&row->key, key)))
        guest = row == &guests->enrolment ? GUEST_ENROLS : GUEST_NODE;
    (void)pthread_mutex_unlock(&guests->lock);
    return guest;
}

enum guest guests_admit(struct guests *guests, const struct key *key)
{
    return role(guests, key_hash(key), key);
}

enum guest guests_role(struct guests *guests, uint64_t hash)
{
    return role(guests, hash, NULL);
}
