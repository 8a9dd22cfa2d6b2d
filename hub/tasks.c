/* Tasks between the ledger and the nodes: asked for, given, reported. */
#include "hub/state.h"

/* Its parameters are the run's: what it trains now can be merged. */
static bool may_have_tasks(const struct member *member)
{
    return member->present && !member->silent && !member->finished &&
           member->start == START_GO;
}

static void give(struct hub *hub, struct member *member,
                 const struct task *task)
{
    struct msg msg = {.kind = MSG_TASK};

    member->asks--;
    msg.task.task = task->id;
    msg.task.epoch = task->epoch;
    msg.task.part = task->part;
    msg.task.parts = hub->ledger.parts;
    member_send(hub, member, &msg);
}

/* Gives out what is todo, one task to each node that has room, in turn. */
static void give_all(struct hub *hub)
{
    bool gave = !hub->ending;
    struct task task;

    while (gave) {
        gave = false;
        for (unsigned i = 0; i < HUB_MAX_NODES; i++) {
            struct member *member = &hub->members[i];

            if (!member->asks || !may_have_tasks(member) ||
                !ledger_take(&hub->ledger, i, hub->now, &task))
                continue;
            give(hub, member, &task);
            gave = true;
        }
    }
}

void hub_on_room(struct hub *hub, struct peer *peer, const struct msg *msg,
                struct blob *payload)
{
    struct member *member = hub_member(hub, peer);

    (void)payload;
    member->asks = msg->room.tasks < LEDGER_MAX_HELD ? msg->room.tasks
                                                    : LEDGER_MAX_HELD;
    give_all(hub);
}

void hub_on_report(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload)
{
    (void)payload;
    (void)ledger_report(&hub->ledger, (unsigned)peer->member,
                        msg->report.task, msg->report.done);
    finish_judge(hub);
    give_all(hub);
}

void tasks_lost(struct hub *hub, struct member *member)
{
    member->asks = 0;
    if (ledger_lost(&hub->ledger, (unsigned)(member - hub->members)))
        give_all(hub);
}

void tasks_tick(struct hub *hub)
{
    (void)ledger_expire(&hub->ledger, hub->now);
    give_all(hub);
}
