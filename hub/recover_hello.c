/* What HELLO says of what a node keeps: a hub that recovers, or has only just
 * begun, may go on from that. */
#include "hub/state.h"

/* So often who comes late has the hub look again. */
enum { SEARCHES_MOST = 8 };

/* Something else is merged already, or somebody was told that it is: what a
 * node keeps is of no use. */
static bool is_late(const struct hub *hub)
{
    for (const struct round *round = hub->rounds; round; round = round->next)
        if (round->told)
            return true;
    if (hub->rounds_here || hub->merging ||
        (hub->version && !hub->recovery.resumed))
        return true;
    for (uint32_t i = 0; i < hub->chunks; i++)
        if (hub->centre[i].busy)
            return true;
    return false;
}

/* Of the run that is given up nothing is merged, and nobody is sent a result.
 * Who stays in its session is told of all it has offered: what it has in flight
 * would else be waited for. */
static void hold_all(struct hub *hub)
{
    rounds_discard(hub);
    for (struct round *round = hub->rounds; round; round = round->next)
        round->discarded = round->empty = true;
    EACH_HERE(hub, member) {
        offers_withdraw_all(hub, member, VERDICT_SUPERSEDED);
        delivery_clear(&member->delivery);
        member->takes = false;
        member_start(hub, member, START_HOLD);
        offers_forget(hub, member, VERDICT_SUPERSEDED, true);
        member_changes(hub, member, CHANGE_SILENT);
    }
}

/* A node of a former run comes to a hub that has merged nothing yet. */
static void look_around(struct hub *hub)
{
    struct recovery *recovery = &hub->recovery;

    hub->phase = PHASE_RECOVERING;
    recovery->until = hub->now + HUB_RECOVERY;
    hub->founder = -1;
    gift_drop(hub);
    hold_all(hub);
}

bool recover_doubts(const struct hub *hub, const struct msg_hello *hello)
{
    return hello->run && hello->run == hub->config.run &&
           epoch_life(hello->epoch) > epoch_life(hub->epoch) &&
           hub->phase != PHASE_RECOVERING &&
           (hub->recovery.resumed || is_late(hub));
}

/* Whether the node keeps what this hub lacks: another run, or, of its own, what
 * is newer than what it has gone on from. */
static bool has_more(const struct hub *hub, const struct msg_hello *hello)
{
    if (!hello->run || !hello->kept)
        return false;
    if (hello->run != hub->config.run)
        return true;
    return epoch_life(hello->epoch) > epoch_life(hub->epoch) ||
           (hello->kept_life != epoch_life(hub->epoch) &&
            recover_outdoes(hub, hello->run, hello->kept_life,
                            hello->kept - 1));
}

/* A node comes after the hub has begun. */
static void meet_late(struct hub *hub, const struct msg_hello *hello)
{
    const struct member *known =
        member_named(hub, hello->node_high, hello->node_low);

    if (hub->phase < PHASE_STOPPING && !is_late(hub) &&
        recover_looks_for(hub, hello->run) && !(known && known->mistrusted) &&
        hub->recovery.searches++ < SEARCHES_MOST)
        look_around(hub);
    else
        effects_note(hub->out, NOTE_REFUSED, hello->name,
                     "it keeps version %llu of run %016llx, but this hub has "
                     "gone on from another",
                     (unsigned long long)hello->kept - 1,
                     (unsigned long long)hello->run);
}

bool recover_meets(struct hub *hub, peer_id peer,
                   const struct msg_hello *hello)
{
    if (recover_doubts(hub, hello))
        return superseded_meets(hub, peer, hello);
    if (hub->phase != PHASE_RECOVERING && has_more(hub, hello))
        meet_late(hub, hello);
    if (hub->phase == PHASE_RECOVERING && recover_looks_for(hub, hello->run))
        life_claimed(hub, hello);
    return true;
}
