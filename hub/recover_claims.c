/* What nodes say that they keep: which of it is newer than what the hub has,
 * and which is the newest. */
#include "hub/state.h"

/* Who keeps the newest version and has no bulk connection is waited for so much
 * longer, from when it came: the loss of that one is noticed later than that of
 * the other. */
#define BULK_PATIENCE (5 * SECOND)

/* A hub with nothing takes any run: who says it has one must prove it. */
bool recover_looks_for(const struct hub *hub, uint64_t run)
{
    return run && (!hub->recovery.resumed || run == hub->recovery.run);
}

/* Lives come one after the other, and each begins with a version of the one
 * before: what that had beyond it was given again since, and would count twice.
 * So an earlier life's higher version is not newer. */
bool recover_outdoes(const struct hub *hub, uint64_t run, uint64_t life,
                     uint64_t version)
{
    uint64_t has = epoch_life(hub->recovery.epoch);

    return run != hub->config.run || life > has ||
           (life == has && version > hub->version);
}

/* A run is cut for good: who keeps a centre of this hub's keeps it cut as that
 * is. */
static bool is_cut_well(const struct hub *hub, uint32_t chunk_elements)
{
    return hub->recovery.resumed
               ? chunk_elements == hub->config.chunk_elements
               : chunks_fit(hub->schema->elements, chunk_elements);
}

/* Silence is no reason yet: it may be the hub that has slept. */
bool recover_claims(const struct hub *hub, const struct member *member)
{
    return member->present && !member->mistrusted &&
           !member->doubt.unattached && member->keeps &&
           is_cut_well(hub, member->keeps_chunk) &&
           recover_looks_for(hub, member->run) &&
           recover_outdoes(hub, member->run, member->keeps_life,
                           member->keeps - 1);
}

bool recover_is_newer(const struct member *one, const struct member *other)
{
    return one->keeps_life > other->keeps_life ||
           (one->keeps_life == other->keeps_life && one->keeps > other->keeps);
}

/* The run of which there is the highest version, 0: none. Nothing else tells
 * runs apart. */
static uint64_t longest_run(const struct hub *hub)
{
    uint64_t run = 0, most = 0;

    for (int i = 0; i < hub->member_count; i++) {
        const struct member *member = hub->members[i];

        if (member->keeps > most && recover_claims(hub, member)) {
            run = member->run;
            most = member->keeps;
        }
    }
    return run;
}

struct member *recover_newest(const struct hub *hub)
{
    struct member *best = NULL;
    uint64_t run = longest_run(hub);

    for (int i = 0; run && i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        if (member->run == run && recover_claims(hub, member) &&
            (!best || recover_is_newer(member, best)))
            best = member;
    }
    return best;
}

void recover_heard(struct hub *hub, struct member *member)
{
    if (hub->recovery.on && member->bulk == PEER_NONE)
        member->doubt.since = hub->now;
}

bool recover_may_attach(const struct hub *hub, const struct member *member)
{
    nanos since = hub->recovery.until;

    if (member->doubt.since > since)
        since = member->doubt.since;
    return hub->now < since + BULK_PATIENCE;
}

/* Whether a node was told, when the hub went on from less, that what it has
 * given was not merged. It has put that back among what it is to offer. */
static bool gives_again(const struct member *member)
{
    bool again = member->settled && member->settled <= member->merged;

    for (unsigned i = 0; member->settled && i < MAX_REMEMBERED; i++) {
        const struct contribution *one = member->remembered[i];

        again |= one && one->merged && one->offer.exchange >= member->settled;
    }
    return again;
}

enum start recover_first_thing(const struct hub *hub,
                               const struct member *member, bool taken)
{
    enum start start = member_first_thing(hub, member);
    bool again = taken && gives_again(member);

    return start == START_GO && again ? START_TAKE : start;
}

void recover_slept(struct hub *hub, nanos time)
{
    hub->recovery.until += time;
    hub->recovery.progress += time;
    for (int i = 0; i < hub->member_count; i++)
        hub->members[i]->doubt.since += time;
}
