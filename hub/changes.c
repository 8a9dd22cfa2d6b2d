/* What follows for all others when a member comes, goes, or changes. */
#include "hub/state.h"

/* What it has under way here ends: offers, results, tasks, founding. */
static void lose(struct hub *hub, struct member *member)
{
    delivery_clear(&member->delivery);
    offers_forget(hub, member, VERDICT_LOST, true);
    tasks_lost(hub, member);
    if (hub->founder == member->place)
        hub->founder = -1;
    hub->view_due = true;
    hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
}

/* What waits is turned down, what has not come is not waited for; what was good
 * and is here is merged. */
static void turn_down(struct hub *hub, struct member *member)
{
    offers_withdraw_all(hub, member, VERDICT_QUARANTINED);
    tasks_withdraw(hub, member);
    offers_forget(hub, member, VERDICT_QUARANTINED, false);
}

/* For its last offer, which it may not have heard of, or not made. */
static void call_again(struct hub *hub, struct member *member)
{
    if (run_is_ending(hub))
        member_call(hub, member, hub->reason);
    else if (member->drained && hub->phase != PHASE_RECOVERING)
        orders_call(hub, member);
}

static void enter(struct hub *hub, struct member *member)
{
    /* While the hub recovers it is not known what the centre has. */
    if (hub->phase != PHASE_RECOVERING)
        rounds_recall(hub, member);
    member_welcome(hub, member);
    call_again(hub, member);
    hub->view_due = true;
}

static void settle(struct hub *hub, struct member *member)
{
    unsigned changes = member->changes;

    member->changes = 0;
    if (changes & CHANGE_LOST)
        lose(hub, member);
    if (changes & CHANGE_LEFT)
        gift_forget(hub, member);
    if (changes & CHANGE_TAKES)
        offers_forget(hub, member, VERDICT_SUPERSEDED, true);
    if (changes & CHANGE_QUARANTINED)
        turn_down(hub, member);
    if (changes & ~(unsigned)CHANGE_ENTERED)
        review_forget(hub, member->place);
    if (changes & CHANGE_ENTERED)
        enter(hub, member);
}

void changes_settle(struct hub *hub)
{
    for (int i = bitset_next(&hub->changed, 0); i >= 0;
         i = bitset_next(&hub->changed, i + 1)) {
        bitset_set(&hub->changed, i, false);
        settle(hub, hub->members[i]);
    }
    if (hub->tally.present <= VIEW_AT_ONCE)
        view_tick(hub);
}
