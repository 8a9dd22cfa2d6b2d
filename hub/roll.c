/* The tables of connections and members: places, lookups, and counts. */
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"

_Static_assert(HUB_MAX_NODES <= 1 << 16, "places of members fit 16 bits");

/* ---- connections ---- */

struct peer *peer_find(struct hub *hub, peer_id id)
{
    return id == PEER_NONE ? NULL : index_find(&hub->peers, id, 0);
}

struct peer *peer_add(struct hub *hub, peer_id id)
{
    struct peer *peer = hub->spare_peers;

    if (hub->peers.count >= 4 * (uint32_t)hub->config.most)
        return NULL;
    if (peer)
        hub->spare_peers = peer->next;
    else
        peer = malloc(sizeof *peer);
    if (!peer)
        abort();
    *peer = (struct peer){.id = id, .member = -1};
    index_put(&hub->peers, id, 0, peer);
    stranger_waits(hub, peer);
    return peer;
}

void peer_remove(struct hub *hub, struct peer *peer)
{
    stranger_leaves(hub, peer);
    index_remove(&hub->peers, peer->id, 0);
    peer->id = PEER_NONE;
    peer->next = hub->spare_peers;
    hub->spare_peers = peer;
}

/* ---- members ---- */

/* Makes room for twice as many. Members stay where they are. */
static void members_grow(struct hub *hub)
{
    size_t room = hub->member_room ? 2 * (size_t)hub->member_room
                                   : (size_t)HUB_FIRST_NODES;

    hub->members =
        realloc((void *)hub->members, room * sizeof(struct member *));
    hub->shown = realloc(hub->shown, room * sizeof *hub->shown);
    if (!hub->members || !hub->shown)
        abort();
    hub->member_room = (int)room;
}

struct member *member_add(struct hub *hub)
{
    struct member *member = calloc(1, sizeof *member);

    if (!member)
        abort();
    if (hub->member_count == hub->member_room)
        members_grow(hub);
    member->place = hub->member_count;
    member->trial.score = NO_SCORE;
    hub->members[hub->member_count++] = member;
    return member;
}

void member_name_is(struct hub *hub, struct member *member, uint64_t high,
                    uint64_t low)
{
    if (member->used)
        index_remove(&hub->uuids, member->uuid_high, member->uuid_low);
    member->used = true;
    member->uuid_high = high;
    member->uuid_low = low;
    index_put(&hub->uuids, high, low, member);
}

struct member *member_named(const struct hub *hub, uint64_t high,
                            uint64_t low)
{
    return index_find(&hub->uuids, high, low);
}

void member_session_is(struct hub *hub, struct member *member,
                       uint64_t session)
{
    index_remove(&hub->sessions, member->session, 0);
    member->session = session;
    index_put(&hub->sessions, session, 0, member);
}

struct member *member_of_session(const struct hub *hub, uint64_t session)
{
    return index_find(&hub->sessions, session, 0);
}

static void member_free(struct hub *hub, struct member *member)
{
    delivery_clear(&member->delivery);
    lengths_forget(member);
    for (unsigned i = 0; i < member->waiting_count; i++)
        contribution_destroy(hub, &member->waiting[i]);
    contributions_forget(hub, member);
    free(member);
}

void member_clear(struct hub *hub, struct member *member)
{
    struct member kept = *member;

    lengths_forget(member);
    index_remove(&hub->uuids, member->uuid_high, member->uuid_low);
    index_remove(&hub->sessions, member->session, 0);
    memset(member, 0, sizeof *member);
    member->place = kept.place;
    member->trial.score = NO_SCORE;
    member->tally = kept.tally;
    member->open = kept.open;
    member_recount(hub, member);
}

void roll_free(struct hub *hub)
{
    struct peer *next;

    for (int i = 0; i < hub->member_count; i++)
        member_free(hub, hub->members[i]);
    free((void *)hub->members);
    for (uint32_t i = 0; i < hub->peers.room; i++)
        free(hub->peers.slots[i].value);
    for (struct peer *peer = hub->spare_peers; peer; peer = next) {
        next = peer->next;
        free(peer);
    }
    index_free(&hub->peers);
    known_free(hub);
    index_free(&hub->uuids);
    index_free(&hub->sessions);
    bitset_free(&hub->waiting);
    bitset_free(&hub->asking);
    free(hub->shown);
}

/* ---- how many are what ---- */

/* But for its bulk connection. */
static bool takes_part(const struct member *member)
{
    return member->present && !member->silent && !member->finished &&
           !member->patience.spent && member->start == START_GO &&
           !quarantine_holds(member);
}

bool member_live(const struct member *member)
{
    return member->bulk != PEER_NONE && takes_part(member);
}

static struct tally tally_of(const struct hub *hub,
                             const struct member *member)
{
    uint64_t bound = hub->config.iterations;

    return (struct tally){
        .present = member->present,
        .live = member_live(member),
        .attaching = member->bulk == PEER_NONE && takes_part(member),
        .awaited = member->present && !member->finished && !member->silent &&
                   member->start == START_GO && !quarantine_holds(member),
        .finished = member->present && member->finished,
        .held = member->present && member->start == START_HOLD,
        .done = member->present && bound &&
                member->stats.iteration >= bound,
        .iterations = member->iteration};
}

/* Counts what was counted before off again: unsigned numbers wrap. */
static void tally_move(struct tally *all, const struct tally *from,
                       const struct tally *to)
{
    all->present += to->present - from->present;
    all->live += to->live - from->live;
    all->attaching += to->attaching - from->attaching;
    all->awaited += to->awaited - from->awaited;
    all->finished += to->finished - from->finished;
    all->held += to->held - from->held;
    all->done += to->done - from->done;
    all->iterations += to->iterations - from->iterations;
}

void member_recount(struct hub *hub, struct member *member)
{
    struct tally now = tally_of(hub, member);
    unsigned change = (unsigned)(now.live - member->tally.live);

    for (struct contribution *one = member->open; change && one;
         one = one->next)
        one->round->offers += change;
    tally_move(&hub->tally, &member->tally, &now);
    member->tally = now;
    member->arrived |= now.live > 0;
}

const char *roll_check(const struct hub *hub)
{
    struct tally all = {0};
    const struct tally none = {0};

    for (int i = 0; i < hub->member_count; i++) {
        struct tally one = tally_of(hub, hub->members[i]);

        tally_move(&all, &none, &one);
        if ((hub->members[i]->waiting_count > 0) !=
            (bitset_next(&hub->waiting, i) == i))
            return "an offer waits, and nobody knows";
    }
    for (const struct round *round = hub->rounds; round; round = round->next) {
        unsigned offers = 0;

        for (unsigned i = 0; i < round->count; i++)
            offers += member_live(hub->members[round->list[i]->member]);
        if (offers != round->offers)
            return "offers of live nodes are miscounted";
    }
    return memcmp(&all, &hub->tally, sizeof all) == 0
               ? NULL
               : "members are miscounted";
}
