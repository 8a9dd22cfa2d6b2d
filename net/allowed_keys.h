/* Who may come in where there are keys: those of the nodes, and one that may
 * only enrol.
 *
 * Stations ask as the last step of a handshake, before anything is said; until
 * keys have been given nobody is let in. Any thread may ask. */
#ifndef NET_ALLOWED_KEYS_H
#define NET_ALLOWED_KEYS_H

#include <pthread.h>

#include "net/keys.h"

enum key_role { KEY_ROLE_NONE, KEY_ROLE_ENROLS, KEY_ROLE_NODE };

struct allowed_key {
    uint64_t hash;
    struct key key;
};

struct allowed_keys {
    pthread_mutex_t lock;
    struct allowed_key *rows; /* sorted by hash */
    unsigned count;
    bool enrols; /* there is an enrolment key */
    struct allowed_key enrolment;
};

void allowed_keys_init(struct allowed_keys *allowed);
void allowed_keys_free(struct allowed_keys *allowed);
/* See net_allow. */
void allowed_keys_set(struct allowed_keys *allowed, const struct key *keys,
                      unsigned count, const struct key *enrolment);
/* What a key may do now: the key itself; by its hash. */
enum key_role allowed_keys_admit(struct allowed_keys *allowed,
                                 const struct key *key);
enum key_role allowed_keys_role(struct allowed_keys *allowed, uint64_t hash);

#endif
