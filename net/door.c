#include "net/door.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Descriptors for all but connections. */
enum { SPARE_DESCRIPTORS = 64, LEAST_ROOM = 16 };

static unsigned room(void)
{
    struct rlimit limit;
    rlim_t each;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX;
    if (limit.rlim_cur < SPARE_DESCRIPTORS + 2 * LEAST_ROOM)
        return LEAST_ROOM;
    each = (limit.rlim_cur - SPARE_DESCRIPTORS) / 2;
    return each < CONNECTIONS_MAX ? (unsigned)each : (unsigned)CONNECTIONS_MAX;
}

void door_init(struct door *door, const struct net_owner *owner)
{
    memset(door, 0, sizeof *door);
    guests_init(&door->guests);
    bans_init(&door->bans);
    (void)pthread_mutex_init(&door->lock, NULL);
    complaints_init(&door->complaints, owner);
    door->room = room();
}

void door_free(struct door *door)
{
    guests_free(&door->guests);
    bans_free(&door->bans);
    (void)pthread_mutex_destroy(&door->lock);
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

void door_refuse_later(struct door *door, enum net_refusal refusal,
                       const struct origin *from)
{
    (void)pthread_mutex_lock(&door->lock);
    door->refused[refusal].count++;
    door->refused[refusal].last = *from;
    (void)pthread_mutex_unlock(&door->lock);
}

void door_hear(struct door *door, nanos now)
{
    struct refused refused[REFUSAL_COUNT];

    (void)pthread_mutex_lock(&door->lock);
    memcpy(refused, door->refused, sizeof refused);
    memset(door->refused, 0, sizeof door->refused);
    (void)pthread_mutex_unlock(&door->lock);
    for (unsigned i = 0; i < REFUSAL_COUNT; i++) {
        if (!refused[i].count)
            continue;
        door->refusals.count[i] += refused[i].count - 1;
        door_refuse(door, now, (enum net_refusal)i, &refused[i].last);
    }
}

/* By what an offender is known; 0: it is not, and cannot be banned. Many share
 * the key that enrols. */
static uint64_t identity(struct door *door, uint64_t key,
                         const struct origin *from)
{
    if (key && guests_role(&door->guests, key) != GUEST_ENROLS)
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

bool door_knows(struct door *door, uint64_t key)
{
    return !door->keyed || guests_role(&door->guests, key) != GUEST_NOBODY;
}

uint64_t door_event_key(struct door *door, uint64_t key)
{
    if (!door->keyed)
        return KEY_NONE;
    return guests_role(&door->guests, key) == GUEST_ENROLS ? KEY_ENROLS : key;
}
