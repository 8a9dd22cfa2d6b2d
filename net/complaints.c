#include "net/complaints.h"

#include <stdio.h>
#include <string.h>

void complaints_init(struct complaints *complaints,
                     const struct net_owner *owner)
{
    memset(complaints, 0, sizeof *complaints);
    complaints->owner = owner;
}

/* Its own place, or that of the one that was said longest ago. */
static struct complaint *place_of(struct complaints *complaints, uint64_t about)
{
    struct complaint *oldest = complaints->list;

    for (unsigned i = 0; i < COMPLAINTS; i++) {
        struct complaint *each = &complaints->list[i];

        if (each->next && each->about == about)
            return each;
        if (each->next < oldest->next)
            oldest = each;
    }
    return oldest;
}

static void say(struct complaints *complaints, nanos now, uint64_t about,
                const char *subject, const char *words)
{
    struct complaint *place = place_of(complaints, about);
    struct note note = {.kind = NOTE_OFFENCE};
    unsigned more;

    if (now < place->next) {
        if (place->about == about)
            place->held++;
        else
            complaints->lost++;
        return;
    }
    more = place->held + complaints->lost;
    (void)snprintf(note.subject, sizeof note.subject, "%.39s", subject);
    if (more)
        (void)snprintf(note.text, sizeof note.text,
                       "%.100s; %u more offences before", words, more);
    else
        (void)snprintf(note.text, sizeof note.text, "%.100s", words);
    *place = (struct complaint){about, now + COMPLAINT_INTERVAL, 0};
    complaints->lost = 0;
    if (complaints->owner->note)
        complaints->owner->note(complaints->owner->self, now, &note);
}

void complain(struct complaints *complaints, nanos now,
              const struct origin *from, const char *words)
{
    char subject[ORIGIN_TEXT_BYTES] = "the hub";

    if (from)
        origin_print(from, subject);
    say(complaints, now, from ? origin_prefix(from) : 0, subject, words);
}

void complain_about(struct complaints *complaints, nanos now, uint64_t about,
                    const struct origin *from, const char *words)
{
    char subject[ORIGIN_TEXT_BYTES];

    origin_print_host(from, subject);
    say(complaints, now, about, subject, words);
}
