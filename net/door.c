#include "net/door.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "net/peers.h"
#include "net/prove.h"

/* Descriptors for all but connections; when none is left, libzmq's threads
 * would do nothing but look for one. */
enum { SPARE_DESCRIPTORS = 64, LEAST_ROOM = 16 };

static unsigned room(void)
{
    struct rlimit limit;
    rlim_t each;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return PEERS_MAX;
    if (limit.rlim_cur < SPARE_DESCRIPTORS + 2 * LEAST_ROOM)
        return LEAST_ROOM;
    each = (limit.rlim_cur - SPARE_DESCRIPTORS) / 2;
    return each < PEERS_MAX ? (unsigned)each : (unsigned)PEERS_MAX;
}

void door_init(struct door *door, const struct net_owner *owner)
{
    memset(door, 0, sizeof *door);
    bans_init(&door->bans);
    complaints_init(&door->complaints, owner);
    door->room = room();
}

void door_free(struct door *door)
{
    zap_close(&door->zap);
    bans_free(&door->bans);
}

enum status door_shut(struct door *door, void *context,
                      const struct net_keys *keys, struct why *why)
{
    struct zap_refusal trial;
    unsigned missed;
    enum status status = zap_open(context, &door->bans, &door->zap, why);

    if (status == STATUS_OK)
        status = prove_refusal(context, keys, why);
    while (status == STATUS_OK && zap_refusal(door->zap, &trial, &missed))
        continue; /* it was us */
    return status;
}

void door_refuse(struct door *door, nanos now, enum net_refusal refusal,
                 const struct origin *from)
{
    static const char *const words[] = {
#define REFUSAL(NAME, name, words) words,
#include "net/refusals.def"
#undef REFUSAL
    };

    door->refusals.count[refusal]++;
    complain_about(&door->complaints, now, (uint64_t)refusal, from,
                   words[refusal]);
}

/* By what an offender is known; 0: it is not, and cannot be banned. Many share
 * the key that enrols. */
static uint64_t identity(const struct door *door, uint64_t key,
                         const struct origin *from)
{
    if (key && zap_role(door->zap, key) != ZAP_ENROLS)
        return key;
    return origin_is_local(from) ? 0 : origin_host(from);
}

void door_strike(struct door *door, nanos now, uint64_t key,
                 const struct origin *from)
{
    uint64_t who = identity(door, key, from);
    char subject[ORIGIN_TEXT_BYTES];
    struct note note = {.kind = NOTE_OFFENCE};
    const struct net_owner *owner = door->complaints.owner;

    if (!who || !bans_strike(&door->bans, now, who))
        return;
    door->look_anew = true;
    origin_print(from, subject);
    (void)snprintf(note.subject, sizeof note.subject, "%.39s", subject);
    (void)snprintf(note.text, sizeof note.text,
                   "is banned for %d minutes, after %d offences%s",
                   (int)(BAN_TIME / SECOND / 60), BAN_STRIKES,
                   who == key ? "; it is its key that is banned" : "");
    if (owner->note)
        owner->note(owner->self, now, &note);
}

bool door_bans(struct door *door, nanos now, uint64_t key,
               const struct origin *from)
{
    uint64_t who = identity(door, key, from);

    return who && bans_hold(&door->bans, now, who);
}

bool door_knows(const struct door *door, uint64_t key)
{
    return !door->zap || zap_role(door->zap, key) != ZAP_NOBODY;
}

uint64_t door_event_key(const struct door *door, uint64_t key)
{
    if (!door->zap)
        return KEY_NONE;
    return zap_role(door->zap, key) == ZAP_ENROLS ? KEY_ENROLS : key;
}

void door_hear(struct door *door, nanos now)
{
    struct zap_refusal refusal;
    unsigned missed;

    while (door->zap && zap_refusal(door->zap, &refusal, &missed)) {
        door->refusals.count[refusal.why] += missed;
        door_refuse(door, now, refusal.why, &refusal.from);
    }
}
