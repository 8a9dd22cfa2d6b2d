/* Who may come in where there are keys: those of the nodes, and one that may
 * only enrol.
 *
 * Stations ask as the last step of a handshake, before anything is said; until
 * keys have been given nobody is let in. Any thread may ask. */
#ifndef NET_GUESTS_H
#define NET_GUESTS_H

#include <pthread.h>

#include "net/keys.h"

enum guest { GUEST_NOBODY, GUEST_ENROLS, GUEST_NODE };

struct guest_row {
    uint64_t hash;
    struct key key;
};

struct guests {
    pthread_mutex_t lock;
    struct guest_row *rows; /* sorted by hash */
    unsigned count;
    bool enrols; /* there is an enrolment key */
    struct guest_row enrolment;
};

void guests_init(struct guests *guests);
void guests_free(struct guests *guests);
/* See net_allow. */
void guests_allow(struct guests *guests, const struct key *keys, unsigned count,
                  const struct key *enrolment);
/* What a key may do now: the key itself; by its hash. */
enum guest guests_admit(struct guests *guests, const struct key *key);
enum guest guests_role(struct guests *guests, uint64_t hash);

#endif
