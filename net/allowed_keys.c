#include "net/allowed_keys.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"

static int compare_rows(const void *one, const void *other)
{
    const struct allowed_key *a = one, *b = other;

    return (a->hash > b->hash) - (a->hash < b->hash);
}

void allowed_keys_init(struct allowed_keys *allowed)
{
    memset(allowed, 0, sizeof *allowed);
    (void)pthread_mutex_init(&allowed->lock, NULL);
}

void allowed_keys_free(struct allowed_keys *allowed)
{
    free(allowed->rows);
    allowed->rows = NULL;
    (void)pthread_mutex_destroy(&allowed->lock);
}

void allowed_keys_set(struct allowed_keys *allowed, const struct key *keys,
                      unsigned count, const struct key *enrolment)
{
    struct allowed_key *rows = need_memory(count, sizeof *rows), *before;

    for (unsigned i = 0; i < count; i++)
        rows[i] = (struct allowed_key){key_hash(&keys[i]), keys[i]};
    qsort(rows, count, sizeof *rows, compare_rows);
    (void)pthread_mutex_lock(&allowed->lock);
    before = allowed->rows;
    allowed->rows = rows;
    allowed->count = count;
    allowed->enrols = enrolment != NULL;
    if (enrolment)
        allowed->enrolment =
            (struct allowed_key){key_hash(enrolment), *enrolment};
    (void)pthread_mutex_unlock(&allowed->lock);
    free(before);
}

/* Called with the lock held. NULL: nobody. */
static const struct allowed_key *find(const struct allowed_keys *allowed,
                                      uint64_t hash)
{
    struct allowed_key wanted = {.hash = hash};

    if (allowed->enrols && allowed->enrolment.hash == hash)
        return &allowed->enrolment;
    return allowed->count ? bsearch(&wanted, allowed->rows, allowed->count,
                                    sizeof *allowed->rows, compare_rows)
                          : NULL;
}

static enum key_role role(struct allowed_keys *allowed, uint64_t hash,
                          const struct key *key)
{
    const struct allowed_key *row;
    enum key_role may = KEY_ROLE_NONE;

    (void)pthread_mutex_lock(&allowed->lock);
    row = find(allowed, hash);
    if (row && (!key || keys_equal(&row->key, key)))
        may = row == &allowed->enrolment ? KEY_ROLE_ENROLS : KEY_ROLE_NODE;
    (void)pthread_mutex_unlock(&allowed->lock);
    return may;
}

enum key_role allowed_keys_admit(struct allowed_keys *allowed,
                                 const struct key *key)
{
    return role(allowed, key_hash(key), key);
}

enum key_role allowed_keys_role(struct allowed_keys *allowed, uint64_t hash)
{
    return role(allowed, hash, NULL);
}
