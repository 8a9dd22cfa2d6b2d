#include "hub/quarantine.h"

#include <assert.h>
#include <string.h>

#include "hub/state.h"

void quarantine_serve(struct hub *hub, struct member *member)
{
    struct conduct *conduct = &member->conduct;

    assert(quarantine_holds(member));
    conduct->left--;
    if (conduct->left)
        return;
    conduct->freed = conduct->offers;
    member_recount(hub, member);
}

uint64_t quarantine_since(const struct member *member)
{
    return member->conduct.offers - member->conduct.freed;
}

/* Offers that are under way have their ordinals: these only grow. */
void quarantine_resume(struct hub *hub, struct member *member, uint64_t left,
                       uint64_t term, uint64_t since)
{
    struct conduct *conduct = &member->conduct;

    conduct->left = left;
    conduct->term = term;
    conduct->freed = conduct->offers;
    conduct->offers += since;
    member_recount(hub, member);
}

static uint64_t next_term(const struct member *member)
{
    const struct conduct *conduct = &member->conduct;

    if (!conduct->term || quarantine_since(member) >= TERM_MOST)
        return TERM_FIRST;
    return 2 * conduct->term < TERM_MOST ? 2 * conduct->term : TERM_MOST;
}

static void begin(struct hub *hub, struct member *member, const char *why)
{
    struct conduct *conduct = &member->conduct;

    conduct->term = conduct->left = next_term(member);
    memset(conduct->bad, 0, sizeof conduct->bad);
    conduct->flaps = 0;
    member_recount(hub, member);
    effects_note(hub->out, NOTE_QUARANTINED, member->name,
                 "%s: its next %llu exchange%s turned down", why,
                 (unsigned long long)conduct->left,
                 conduct->left == 1 ? " is" : "s are");
    if (member_is_here(member))
        member_changes(hub, member, CHANGE_QUARANTINED);
}

void quarantine_bad(struct hub *hub, struct update *update)
{
    struct member *member = hub->roll.members[update->member];
    struct conduct *conduct = &member->conduct;
    const uint64_t *oldest = &conduct->bad[BAD_MOST - 1];

    for (unsigned i = 0; i < BAD_MOST; i++)
        if (conduct->bad[i] == update->ordinal)
            return;
    memmove(conduct->bad + 1, conduct->bad,
            (BAD_MOST - 1) * sizeof *conduct->bad);
    conduct->bad[0] = update->ordinal;
    if (!quarantine_holds(member) && *oldest &&
        *oldest + BAD_SPAN > conduct->bad[0])
        begin(hub, member, "bad numbers again and again");
}

void quarantine_damaged(struct hub *hub, struct member *member, bool damaged)
{
    struct conduct *conduct = &member->conduct;

    conduct->damaged = damaged ? conduct->damaged + 1 : 0;
    if (conduct->damaged < DAMAGED_MOST)
        return;
    conduct->damaged = 0;
    bye_to(hub, member->control, FAREWELL_OFFENCE,
           "what this node sends comes damaged: look at its network card, "
           "cable and memory");
    member_offends(hub, member, "%d chunks in a row came damaged",
                   DAMAGED_MOST);
}

void quarantine_flap(struct hub *hub, struct member *member)
{
    struct conduct *conduct = &member->conduct;
    nanos *slot = &conduct->flapped[conduct->flaps % FLAPS_MOST];
    bool often = conduct->flaps >= FLAPS_MOST && hub->now - *slot < 60 * SECOND;

    *slot = hub->now;
    conduct->flaps++;
    if (often && !quarantine_holds(member))
        begin(hub, member, "several nodes of this name replace each other");
}
