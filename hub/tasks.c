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

/* Gives out what is todo, one task to each node that has room, in turn. */
static void give_all(struct hub *hub)
{
    bool gave = !run_is_ending(hub);
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

void hub_on_room(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;

    room_is(hub, member,
            in->msg->room.tasks < LEDGER_MAX_HELD ? in->msg->room.tasks
                                                  : LEDGER_MAX_HELD);
    give_all(hub);
}

void hub_on_report(struct hub *hub, const struct incoming *in)
{
    (void)ledger_report(&hub->run.ledger, (unsigned)in->member->place,
                        in->msg->report.task, in->msg->report.done);
    hub->dirty |= DIRTY_PHASE;
    give_all(hub);
}

void tasks_withdraw(struct hub *hub, struct member *member)
{
    if (ledger_lost(&hub->run.ledger, (unsigned)member->place))
        give_all(hub);
}

void tasks_lost(struct hub *hub, struct member *member)
{
    room_is(hub, member, 0);
    tasks_withdraw(hub, member);
}

void tasks_tick(struct hub *hub)
{
    (void)ledger_expire(&hub->run.ledger, hub->now);
    give_all(hub);
}
