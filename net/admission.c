#include "net/admission.h"

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

void admission_init(struct admission *admission, const struct net_owner *owner)
{
    memset(admission, 0, sizeof *admission);
    allowed_keys_init(&admission->allowed);
    bans_init(&admission->bans);
    (void)pthread_mutex_init(&admission->lock, NULL);
    complaints_init(&admission->complaints, owner);
    admission->room = room();
}

void admission_free(struct admission *admission)
{
    allowed_keys_free(&admission->allowed);
    bans_free(&admission->bans);
    (void)pthread_mutex_destroy(&admission->lock);
}

void admission_refuse(struct admission *admission, nanos now,
                      enum net_refusal refusal, const struct origin *from)
{
    static const char *const words[] = {
#define REFUSAL(NAME, name, words) words,
#include "net/refusals.def"
#undef REFUSAL
    };

    admission->refusals.count[refusal]++;
    complain_about(&admission->complaints, now, (uint64_t)refusal, from,
                   words[refusal]);
}

void admission_refuse_later(struct admission *admission,
                            enum net_refusal refusal, const struct origin *from)
{
    (void)pthread_mutex_lock(&admission->lock);
    admission->refused[refusal].count++;
    admission->refused[refusal].last = *from;
    (void)pthread_mutex_unlock(&admission->lock);
}

void admission_tell(struct admission *admission, nanos now)
{
    struct refused refused[REFUSAL_COUNT];

    (void)pthread_mutex_lock(&admission->lock);
    memcpy(refused, admission->refused, sizeof refused);
    memset(admission->refused, 0, sizeof admission->refused);
    (void)pthread_mutex_unlock(&admission->lock);
    for (unsigned i = 0; i < REFUSAL_COUNT; i++) {
        if (!refused[i].count)
            continue;
        admission->refusals.count[i] += refused[i].count - 1;
        admission_refuse(admission, now, (enum net_refusal)i, &refused[i].last);
    }
}

/* By what an offender is known; 0: it is not, and cannot be banned. Many share
 * the key that enrols. */
static uint64_t identity(struct admission *admission, uint64_t key,
                         const struct origin *from)
{
    if (key && allowed_keys_role(&admission->allowed, key) != KEY_ROLE_ENROLS)
        return key;
    return origin_is_local(from) ? 0 : origin_host(from);
}

void admission_add_score(struct admission *admission, nanos now, uint64_t key,
                         const struct origin *from)
{
    uint64_t who = identity(admission, key, from);
    char subject[ORIGIN_TEXT_BYTES];
    struct note note = {.kind = NOTE_OFFENCE};
    const struct net_owner *owner = admission->complaints.owner;

    if (!who || !bans_add_score(&admission->bans, now, who))
        return;
    admission->look_anew = true;
    origin_print(from, subject);
    (void)snprintf(note.subject, sizeof note.subject, "%.39s", subject);
    (void)snprintf(note.text, sizeof note.text,
                   "is banned for %d minutes, after %d offences%s",
                   (int)(BAN_TIME / SECOND / 60), BAN_SCORE_LIMIT,
                   who == key ? "; it is its key that is banned" : "");
    if (owner->note)
        owner->note(owner->self, now, &note);
}

bool admission_bans(struct admission *admission, nanos now, uint64_t key,
                    const struct origin *from)
{
    uint64_t who = identity(admission, key, from);

    return who && bans_hold(&admission->bans, now, who);
}

bool admission_knows(struct admission *admission, uint64_t key)
{
    return !admission->keyed ||
           allowed_keys_role(&admission->allowed, key) != KEY_ROLE_NONE;
}

uint64_t admission_event_key(struct admission *admission, uint64_t key)
{
    if (!admission->keyed)
        return KEY_NONE;
    return allowed_keys_role(&admission->allowed, key) == KEY_ROLE_ENROLS
               ? KEY_ENROLS
               : key;
}
