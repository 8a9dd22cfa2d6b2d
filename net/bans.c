#include "net/bans.h"

#include <string.h>

void bans_init(struct bans *bans)
{
    memset(bans, 0, sizeof *bans);
    (void)pthread_mutex_init(&bans->lock, NULL);
}

void bans_free(struct bans *bans)
{
    (void)pthread_mutex_destroy(&bans->lock);
}

static struct offender *find(struct bans *bans, uint64_t who)
{
    for (unsigned i = 0; i < bans->count; i++)
        if (bans->list[i].who == who)
            return &bans->list[i];
    return NULL;
}

static nanos last_offence(const struct offender *offender)
{
    return offender->offences[offender->count - 1];
}

/* A new place, or that of who offended longest ago. */
static struct offender *place(struct bans *bans)
{
    struct offender *oldest = bans->list;

    if (bans->count < BANS_MAX)
        return &bans->list[bans->count++];
    for (unsigned i = 1; i < bans->count; i++)
        if (last_offence(&bans->list[i]) < last_offence(oldest))
            oldest = &bans->list[i];
    return oldest;
}

static void count_offence(struct offender *offender, nanos now)
{
    if (offender->count == BAN_SCORE_LIMIT) {
        memmove(offender->offences, offender->offences + 1,
                (BAN_SCORE_LIMIT - 1) * sizeof *offender->offences);
        offender->count--;
    }
    offender->offences[offender->count++] = now;
}

static bool add_score(struct bans *bans, nanos now, uint64_t who)
{
    struct offender *offender = find(bans, who);

    if (offender && now < offender->until)
        return false;
    if (!offender) {
        offender = place(bans);
        *offender = (struct offender){.who = who};
    }
    count_offence(offender, now);
    if (offender->count < BAN_SCORE_LIMIT ||
        now - offender->offences[0] > BAN_WINDOW)
        return false;
    offender->until = now + BAN_TIME;
    return true;
}

bool bans_add_score(struct bans *bans, nanos now, uint64_t who)
{
    bool banned;

    (void)pthread_mutex_lock(&bans->lock);
    banned = add_score(bans, now, who);
    (void)pthread_mutex_unlock(&bans->lock);
    return banned;
}

bool bans_hold(struct bans *bans, nanos now, uint64_t who)
{
    const struct offender *offender;
    bool held;

    (void)pthread_mutex_lock(&bans->lock);
    offender = find(bans, who);
    held = offender && now < offender->until;
    (void)pthread_mutex_unlock(&bans->lock);
    return held;
}
