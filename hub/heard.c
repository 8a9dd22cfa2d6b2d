/* Who is heard, and who is silent.
 *
 * A node says PING, and whatever else comes of it counts, too: of a chunk on a
 * slow link the driver tells how much is here (ARRIVING), because there PINGs
 * stand behind it in the queues of the network, for longer than a node may be
 * silent. */
#include "hub/state.h"

/* A payload makes progress when another such part of it has come: else a byte
 * now and then would be some. */
enum { STEPS = 16 };
#define LONGEST_TRIP (15 * SECOND) /* that is believed */

void member_heard(struct hub *hub, struct member *member)
{
    member->heard = hub->now;
    if (member->state != MEMBER_SILENT)
        return;
    member->state = MEMBER_HERE;
    recover_heard(hub, member);
    member_recount(hub, member);
    effects_note(hub->out, NOTE_RECOVERED, member->name, "is heard again");
    hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
}

static void pong(struct hub *hub, struct member *member)
{
    struct msg msg = {.kind = MSG_PONG};

    msg.pong.sent = member->stats.sent;
    msg.pong.version = hub->centre.version;
    msg.pong.samples = hub->rounds.samples;
    member_send(hub, member, &msg);
}

void hub_on_ping(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;

    adapt_heard(hub, member, &in->msg->ping);
    member->stats = in->msg->ping;
    if (member->stats.rate > 0)
        member->rates[member->rates_said++ % RATES] = member->stats.rate;
    member_reaches(hub, member, in->msg->ping.iteration);
    member_recount(hub, member);
    pong(hub, member);
}

/* What the payload is of: first parameters, or the oldest upload. */
static void progress(struct hub *hub, const struct member *member)
{
    struct update *one = member->in_rounds;

    if (hub->centre.state_source == member->place)
        state_transfer_begins(hub);
    while (one && !(one->granted && one->delivered < hub->centre.count))
        one = one->next;
    if (one)
        one->progress = hub->now;
}

void hub_on_arriving(struct hub *hub, const struct incoming *in)
{
    const struct msg_arriving *arriving = &in->msg->arriving;
    struct member *member = in->member;
    struct arrival *arrival = &member->arrival;

    pong(hub, member); /* its PING is still on its way, and it waits for that */
    if (arriving->bytes < arrival->bytes)
        arrival->counted = 0; /* it is another one */
    arrival->bytes = arriving->bytes;
    arrival->whole = arriving->whole;
    if (arrival->bytes - arrival->counted < arrival->whole / STEPS)
        return;
    arrival->counted = arrival->bytes;
    progress(hub, member);
}

/* What is sent to it may fill the queues of a slow link, and hold back what it
 * is to know before it sends more: then round trips are long, or what it was
 * sent last took long. It says itself how long, but nobody waits for it without
 * end (hub/patience.h). */
static nanos silent_after(const struct member *member)
{
    nanos trip =
        2 * (member->stats.round_trip < LONGEST_TRIP ? member->stats.round_trip
                                                     : LONGEST_TRIP);
    double fetch = member->delivery.out ? member->patience.fetch : 0;
    nanos queue = fetch < patience_seconds(LONGEST_TRIP)
                      ? (nanos)(fetch * (double)SECOND)
                      : LONGEST_TRIP;

    return SILENT_AFTER + (trip > queue ? trip : queue);
}

/* Nothing was heard of it for a while: rounds go on without it. */
static void suspect(struct hub *hub, struct member *member)
{
    member->state = MEMBER_SILENT;
    member_recount(hub, member);
    effects_note(hub->out, NOTE_SUSPECT, member->name,
                 "nothing heard for %.0f s; rounds go on without it",
                 patience_seconds(silent_after(member)));
    member_changes(hub, member, CHANGE_SILENT);
    if (hub->centre.state_source == member->place &&
        !hub->centre.transfer.begun) { /* it may as well be gone */
        hub->centre.state_source = -1;
        member_start(hub, member, START_HOLD);
    }
    hub->dirty |= DIRTY_PHASE | DIRTY_ROUNDS;
}

void members_slept(struct hub *hub, nanos time)
{
    EACH_MEMBER(hub, member) {
        postpone(&member->heard, time);
        postpone(&member->bulk_lost, time);
        postpone(&member->lost, time);
        postpone(&member->last_call, time);
    }
}

void members_tick(struct hub *hub)
{
    view_tick(hub);
    state_transfer_hurry(hub);
    if (hub->run.phase >= PHASE_ENDED)
        return;
    members_pace(hub);
    EACH_HERE(hub, member) {
        nanos quiet = hub->now - member->heard;

        if (member->bulk_lost && member->bulk == PEER_NONE &&
            hub->now - member->bulk_lost >= MOURNING) {
            member_gone(hub, member, "bulk connection lost", false);
        } else if (quiet >= LEASE) {
            member_gone(hub, member, "silent for 60 s", false);
        } else if (quiet >= silent_after(member) &&
                   member->state == MEMBER_HERE) {
            suspect(hub, member);
        }
    }
}
