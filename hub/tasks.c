/* Tasks between the ledger and the nodes: asked for, given, reported. */
#include "hub/state.h"

/* Its parameters are the run's: what it trains now can be merged. */
static bool may_have_tasks(const struct member *member)
{
    return member->state == MEMBER_HERE && !member->finished &&
           member->start == START_GO && !quarantine_holds(member);
}

static void room_is(struct hub *hub, struct member *member, uint32_t tasks)
{
    member->asks = tasks;
    bitset_set(&hub->roll.asking, member->place, tasks > 0);
}

static void give(struct hub *hub, struct member *member,
                 const struct task *task)
{
    struct msg msg = {.kind = MSG_TASK};

    room_is(hub, member, member->asks - 1);
    msg.task.task = task->id;
    msg.task.epoch = task->epoch;
    msg.task.part = task->part;
    msg.task.parts = hub->run.ledger.parts;
    member_send(hub, member, &msg);
}

/* A hub that is back gives nothing out that a node may still have. */
static bool is_known(const struct hub *hub)
{
    return bitset_next(&hub->roll.claiming, 0) < 0 ||
           hub->now >= hub->run.claims_until;
}

/* Gives out what is todo, one task to each node that has room, in turn. */
static void give_all(struct hub *hub)
{
    bool gave = !run_is_ending(hub) && is_known(hub);
    struct task task;

    while (gave && hub->run.ledger.count[TASK_TODO]) {
        gave = false;
        for (int i = bitset_next(&hub->roll.asking, 0); i >= 0;
             i = bitset_next(&hub->roll.asking, i + 1)) {
            struct member *member = hub->roll.members[i];

            if (!may_have_tasks(member) ||
                !ledger_assign(&hub->run.ledger, (unsigned)i, hub->now, &task))
                continue;
            give(hub, member, &task);
            gave = true;
        }
    }
}

/* The member has said what it has, or its time for that is over. */
static void is_told(struct hub *hub, struct member *member)
{
    bitset_set(&hub->roll.claiming, member->place, false);
    bitset_set(&hub->roll.doubted, member->place, false);
    (void)ledger_settle(&hub->run.ledger, (unsigned)member->place);
}

void hub_on_room(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;

    is_told(hub, member);
    room_is(hub, member,
            in->msg->room.tasks < LEDGER_MAX_HELD ? in->msg->room.tasks
                                                  : LEDGER_MAX_HELD);
    give_all(hub);
}

/* What nobody has counts as well: a hub that was killed, or a session that is
 * over, had given it to the node. */
static void is_done(struct hub *hub, unsigned node, uint64_t id)
{
    struct ledger *ledger = &hub->run.ledger;

    if (!ledger_report(ledger, node, id, true) &&
        ledger_claim(ledger, node, hub->now, id))
        (void)ledger_report(ledger, node, id, true);
}

void hub_on_report(struct hub *hub, const struct incoming *in)
{
    const struct msg_report *report = &in->msg->report;
    unsigned node = (unsigned)in->member->place;

    if (report->what == TASK_REPORT_FAILED)
        (void)ledger_report(&hub->run.ledger, node, report->task, false);
    else if (report->what == TASK_REPORT_DONE)
        is_done(hub, node, report->task);
    else if (may_have_tasks(in->member))
        (void)ledger_claim(&hub->run.ledger, node, hub->now, report->task);
    hub->dirty |= DIRTY_PHASE;
    give_all(hub);
}

void tasks_withdraw(struct hub *hub, struct member *member)
{
    if (ledger_lost(&hub->run.ledger, (unsigned)member->place))
        give_all(hub);
}

void tasks_await(struct hub *hub)
{
    hub->run.claims_until = hub->now + CLAIMS;
    EACH_MEMBER(hub, member)
        bitset_set(&hub->roll.claiming, member->place,
                   member_is_here(member)
                       ? member->start == START_GO
                       : member->state == MEMBER_AWAY && !member->drained);
}

void tasks_lost(struct hub *hub, struct member *member)
{
    bitset_set(&hub->roll.claiming, member->place, false);
    bitset_set(&hub->roll.doubted, member->place, true);
    member->claims_until = hub->now + CLAIMS;
    ledger_doubt(&hub->run.ledger, (unsigned)member->place);
    room_is(hub, member, 0);
    give_all(hub);
}

void tasks_tick(struct hub *hub)
{
    for (int i = bitset_next(&hub->roll.doubted, 0); i >= 0;
         i = bitset_next(&hub->roll.doubted, i + 1))
        if (hub->now >= hub->roll.members[i]->claims_until)
            is_told(hub, hub->roll.members[i]);
    (void)ledger_expire(&hub->run.ledger, hub->now);
    give_all(hub);
}
