/* The tables of connections and members: places, lookups, and counts. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/need.h"
#include "hub/state.h"

_Static_assert(HUB_MAX_NODES <= 1 << 16, "places of members fit 16 bits");

/* What nobody does between two messages is no count, but a mistake or a lie. */
#define MOST_STEPS ((uint64_t)1 << 32)

/* ---- connections ---- */

struct peer *peer_find(struct hub *hub, peer_id id)
{
    return id == PEER_NONE ? NULL : index_find(&hub->roll.peers, id, 0);
}

void stranger_leaves(struct hub *hub, struct peer *peer)
{
    if (!peer->waits)
        return;
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        hub->roll.strangers = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    else
        hub->roll.last_stranger = peer->previous;
    peer->next = peer->previous = NULL;
    peer->waits = false;
}

void stranger_waits(struct hub *hub, struct peer *peer)
{
    stranger_leaves(hub, peer);
    peer->waits = true;
    peer->since = hub->now;
    peer->previous = hub->roll.last_stranger;
    if (peer->previous)
        peer->previous->next = peer;
    else
        hub->roll.strangers = peer;
    hub->roll.last_stranger = peer;
}

struct peer *peer_add(struct hub *hub, peer_id id)
{
    struct peer *peer = hub->roll.spare_peers;

    if (hub->roll.peers.count >= 4 * (uint32_t)hub->config.most)
        return NULL;
    if (peer)
        hub->roll.spare_peers = peer->next;
    else
        peer = need_memory(1, sizeof *peer);
    *peer = (struct peer){.id = id, .member = -1};
    index_put(&hub->roll.peers, id, 0, peer);
    stranger_waits(hub, peer);
    return peer;
}

void peer_remove(struct hub *hub, struct peer *peer)
{
    stranger_leaves(hub, peer);
    index_remove(&hub->roll.peers, peer->id, 0);
    peer->id = PEER_NONE;
    peer->next = hub->roll.spare_peers;
    hub->roll.spare_peers = peer;
}

/* ---- members ---- */

/* Makes room for twice as many. Members stay where they are. */
static void members_grow(struct hub *hub)
{
    size_t room =
        hub->roll.room ? 2 * (size_t)hub->roll.room : (size_t)HUB_FIRST_NODES;

    hub->roll.members =
        need_more((void *)hub->roll.members, room * sizeof(struct member *));
    hub->roll.shown =
        need_more(hub->roll.shown, room * sizeof *hub->roll.shown);
    hub->roll.names =
        need_more(hub->roll.names, room * sizeof *hub->roll.names);
    hub->roll.room = (int)room;
}

struct member *member_add(struct hub *hub)
{
    struct member *member = need_memory(1, sizeof *member);

    if (hub->roll.count == hub->roll.room)
        members_grow(hub);
    member->place = hub->roll.count;
    hub->roll.names[member->place] = 0;
    member->trial.score = NO_SCORE;
    hub->roll.members[hub->roll.count++] = member;
    return member;
}

void member_name_is(struct hub *hub, struct member *member, uint64_t high,
                    uint64_t low)
{
    if (member->state != MEMBER_NOBODY)
        index_remove(&hub->roll.uuids, member->uuid_high, member->uuid_low);
    else
        member->state = MEMBER_AWAY;
    member->uuid_high = high;
    member->uuid_low = low;
    index_put(&hub->roll.uuids, high, low, member);
}

struct member *member_named(const struct hub *hub, uint64_t high, uint64_t low)
{
    return index_find(&hub->roll.uuids, high, low);
}

void member_rename(struct hub *hub, struct member *member, const char *name)
{
    (void)snprintf(member->name, sizeof member->name, "%s", name);
    hub->roll.names[member->place] =
        XXH3_64bits(member->name, strlen(member->name));
}

/* Of those with another hash nothing is read: they are many, and HELLOs come
 * all at once. */
struct member *member_by_name(const struct hub *hub, const struct member *but,
                              const char *name)
{
    uint64_t hash = XXH3_64bits(name, strlen(name));

    for (int i = 0; i < hub->roll.count; i++) {
        struct member *member = hub->roll.members[i];

        if (hub->roll.names[i] == hash && member != but &&
            member->state != MEMBER_NOBODY && strcmp(member->name, name) == 0)
            return member;
    }
    return NULL;
}

void member_session_is(struct hub *hub, struct member *member, uint64_t session)
{
    index_remove(&hub->roll.sessions, member->session, 0);
    member->session = session;
    index_put(&hub->roll.sessions, session, 0, member);
}

struct member *member_of_session(const struct hub *hub, uint64_t session)
{
    return index_find(&hub->roll.sessions, session, 0);
}

void member_clear(struct hub *hub, struct member *member)
{
    struct member kept = *member;
    struct hub_moved moved = member_moved(member);

    moved_add(&hub->run.left, &moved);
    index_remove(&hub->roll.uuids, member->uuid_high, member->uuid_low);
    index_remove(&hub->roll.sessions, member->session, 0);
    free(member->sketch);
    memset(member, 0, sizeof *member);
    member->place = kept.place;
    member->trial.score = NO_SCORE;
    member->tally = kept.tally;
    member->in_rounds = kept.in_rounds;
    member_recount(hub, member);
}

void roll_free(struct hub *hub)
{
    struct peer *next;

    free((void *)hub->roll.members);
    for (uint32_t i = 0; i < hub->roll.peers.room; i++)
        free(hub->roll.peers.slots[i].value);
    for (struct peer *peer = hub->roll.spare_peers; peer; peer = next) {
        next = peer->next;
        free(peer);
    }
    index_free(&hub->roll.peers);
    index_free(&hub->roll.uuids);
    index_free(&hub->roll.sessions);
    bitset_free(&hub->offers.waiting);
    bitset_free(&hub->roll.asking);
    bitset_free(&hub->roll.claiming);
    bitset_free(&hub->roll.doubted);
    bitset_free(&hub->roll.changed);
    bitset_free(&hub->flow.stirred);
    free(hub->roll.shown);
    free(hub->roll.names);
}

/* ---- how many are what ---- */

bool quarantine_holds(const struct member *member)
{
    return member->conduct.left > 0;
}

/* But for its bulk connection. */
static bool takes_part(const struct member *member)
{
    return member->state == MEMBER_HERE && !member->finished &&
           !member->patience.spent && member->start == START_GO &&
           !quarantine_holds(member);
}

bool member_is_here(const struct member *member)
{
    return member->state >= MEMBER_SILENT;
}

bool member_live(const struct member *member)
{
    return member->bulk != PEER_NONE && takes_part(member);
}

bool member_is_skipped(const struct member *member)
{
    return member->state == MEMBER_SILENT || member->patience.spent;
}

/* 0: it is here, or has said goodbye. */
static nanos missed_since(const struct member *member)
{
    if (member->state == MEMBER_SILENT)
        return member->heard;
    return member->state == MEMBER_AWAY ? member->lost : 0;
}

static struct tally tally_of(const struct hub *hub, const struct member *member)
{
    uint64_t bound = hub->config.iterations;

    return (struct tally){
        .present = member_is_here(member),
        .live = member_live(member),
        .attaching = member->bulk == PEER_NONE && takes_part(member),
        .awaited = member->state == MEMBER_HERE && !member->finished &&
                   member->start == START_GO && !quarantine_holds(member),
        .finished = member_is_here(member) && member->finished,
        .held = member_is_here(member) && member->start == START_HOLD,
        .skipped = member_is_skipped(member),
        .done =
            member_is_here(member) && bound && member->stats.iteration >= bound,
        .arrived = member->arrived || member_live(member),
        .missing = missed_since(member) && !member->finished &&
                   !quarantine_holds(member) && member->start == START_GO};
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
    all->skipped += to->skipped - from->skipped;
    all->done += to->done - from->done;
    all->arrived += to->arrived - from->arrived;
    all->missing += to->missing - from->missing;
}

void moved_add(struct hub_moved *to, const struct hub_moved *from)
{
    to->steps += from->steps;
    to->samples += from->samples;
    to->exchanges += from->exchanges;
    to->up_bytes += from->up_bytes;
    to->down_bytes += from->down_bytes;
}

struct hub_moved member_moved(const struct member *member)
{
    struct hub_moved moved = member->before;

    moved_add(&moved, &member->here);
    return moved;
}

/* Of times that nodes tell: what is too long for a sum is a mistake or a lie.
 */
static nanos time_sum(nanos a, nanos b)
{
    return time_after(a > 0 ? a : 0, b > 0 ? b : 0);
}

void counts_add(struct msg_ping *to, const struct msg_ping *from)
{
    to->missed += from->missed;
    to->waited = time_sum(to->waited, from->waited);
    to->compute = time_sum(to->compute, from->compute);
    to->net_wait = time_sum(to->net_wait, from->net_wait);
    to->data_wait = time_sum(to->data_wait, from->data_wait);
    to->optimizer = time_sum(to->optimizer, from->optimizer);
    to->idle = time_sum(to->idle, from->idle);
}

/* How many there are between the two. */
static uint64_t steps_between(uint64_t from, uint64_t to)
{
    return to > from && to - from <= MOST_STEPS ? to - from : 0;
}

void member_begins_at(struct member *member, uint64_t former,
                      uint64_t iteration)
{
    member->before.steps += steps_between(former, iteration);
}

void member_reaches(struct hub *hub, struct member *member, uint64_t iteration)
{
    uint64_t more = steps_between(member->iteration, iteration);

    if (iteration > member->iteration)
        member->iteration = iteration;
    member->here.steps += more;
    hub->rounds.steps += more;
}

void member_recount(struct hub *hub, struct member *member)
{
    struct tally now = tally_of(hub, member);
    unsigned change = (unsigned)(now.live - member->tally.live);

    for (struct update *one = member->in_rounds; change && one; one = one->next)
        one->round->offers += change;
    if (now.live != member->tally.live ||
        now.attaching != member->tally.attaching ||
        now.awaited != member->tally.awaited)
        hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
    tally_move(&hub->roll.tally, &member->tally, &now);
    member->tally = now;
    member->arrived = now.arrived;
}

unsigned members_live(const struct hub *hub)
{
    return (unsigned)hub->roll.tally.live;
}

bool members_return(const struct hub *hub)
{
    if (!hub->roll.tally.missing)
        return false;
    EACH_MEMBER(hub, member)
        if (member->tally.missing &&
            hub->now - missed_since(member) < LAST_CALL)
            return true;
    return false;
}

struct member *update_member(struct hub *hub, const struct update *update)
{
    struct member *member = hub->roll.members[update->member];

    return member_is_here(member) && member->session == update->connection
               ? member
               : NULL;
}

void member_changes(struct hub *hub, struct member *member, enum change change)
{
    member->changes |= change;
    bitset_set(&hub->roll.changed, member->place, true);
    hub->dirty |= DIRTY_ROLL;
}

const char *roll_check(const struct hub *hub)
{
    struct tally all = {0};
    const struct tally none = {0};

    EACH_MEMBER(hub, member) {
        struct tally one = tally_of(hub, member);

        tally_move(&all, &none, &one);
        if ((member->waiting_count > 0) !=
            (bitset_next(&hub->offers.waiting, member->place) == member->place))
            return "an offer waits, and nobody knows";
    }
    EACH_ROUND(hub, round) {
        unsigned offers = 0;

        EACH_OFFER(round, one)
            offers += member_live(hub->roll.members[one->member]);
        if (offers != round->offers)
            return "offers of live nodes are miscounted";
    }
    return memcmp(&all, &hub->roll.tally, sizeof all) == 0
               ? NULL
               : "members are miscounted";
}
