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

static nanos last_strike(const struct offender *offender)
{
    return offender->strikes[offender->count - 1];
}

/* A new place, or that of who offended longest ago. */
static struct offender *place(struct bans *bans)
{
    struct offender *oldest = bans->list;

    if (bans->count < BANS_MAX)
        return &bans->list[bans->count++];
    for (unsigned i = 1; i < bans->count; i++)
        if (last_strike(&bans->list[i]) < last_strike(oldest))
            oldest = &bans->list[i];
    return oldest;
}

static void count_strike(struct offender *offender, nanos now)
{
    if (offender->count == BAN_STRIKES) {
        memmove(offender->strikes, offender->strikes + 1,
                (BAN_STRIKES - 1) * sizeof *offender->strikes);
        offender->count--;
    }
    offender->strikes[offender->count++] = now;
}

static bool strike(struct bans *bans, nanos now, uint64_t who)
{
    struct offender *offender = find(bans, who);

    if (offender && now < offender->until)
        return false;
    if (!offender) {
        offender = place(bans);
        *offender = (struct offender){.who = who};
    }
    count_strike(offender, now);
    if (offender->count < BAN_STRIKES ||
        now - offender->strikes[0] > BAN_WINDOW)
        return false;
    offender->until = now + BAN_TIME;
    return true;
}

bool bans_strike(struct bans *bans, nanos now, uint64_t who)
{
    bool banned;

    (void)pthread_mutex_lock(&bans->lock);
    banned = strike(bans, now, who);
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
