/* Who has offended so often that nobody listens for a while: three offences
 * within ten minutes, and for ten minutes it is not let in.
 *
 * Whom it is about is a number: the hash of a key, or of a host where there
 * are no keys. The table is bounded; who offended longest ago makes room. Any
 * thread may ask. */
#ifndef NET_BANS_H
#define NET_BANS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"

enum { BAN_SCORE_LIMIT = 3, BANS_MAX = 1024 };

#define BAN_WINDOW (600 * SECOND)
#define BAN_TIME (600 * SECOND)

struct offender {
    uint64_t who;
    nanos offences[BAN_SCORE_LIMIT]; /* the last ones, in the order they came */
    unsigned count;                  /* of them */
    nanos until;                     /* banned until; 0: it is not */
};

struct bans {
    pthread_mutex_t lock;
    struct offender list[BANS_MAX];
    unsigned count;
};

void bans_init(struct bans *bans);
void bans_free(struct bans *bans);
/* An offence; true when it is the one that bans it. */
bool bans_add_score(struct bans *bans, nanos now, uint64_t who);
bool bans_hold(struct bans *bans, nanos now, uint64_t who);

#endif
