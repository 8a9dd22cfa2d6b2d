/* What the operator may ask of the hub while it runs: hub/program/ctl.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "hub/state.h"

/* Tells the operator how an order ended. */
static void answer(struct hub *hub, uint64_t ticket, enum status status,
                   const char *format, ...) FORMAT(4, 5);

static void answer(struct hub *hub, uint64_t ticket, enum status status,
                   const char *format, ...)
{
    struct msg msg = {.kind = MSG_ANSWER};
    va_list arguments;

    msg.answer.ticket = ticket;
    msg.answer.status = status;
    msg.answer.version = hub->centre.version;
    va_start(arguments, format);
    (void)vsnprintf(msg.answer.text, sizeof msg.answer.text, format, arguments);
    va_end(arguments);
    effects_send(hub->out, PEER_OPERATOR, &msg, NULL);
}

/* ---- nodes by their names ---- */

/* As many names of nodes as `room` bytes hold, and how many more there are. */
static void list_members(const struct hub *hub, char *bytes, size_t room)
{
    enum { AND_MORE = 16 };
    unsigned more = 0;
    struct text text;

    text_init(&text, bytes, room);
    EACH_HERE(hub, member) {
        if (text.length + strlen(member->name) + AND_MORE > room)
            more++;
        else
            text_add_item(&text, member->name);
    }
    if (more)
        text_add(&text, " and %u more", more);
    if (!text.length)
        text_add(&text, "none");
}

/* Or it was, seconds ago, and may come back. */
static bool is_here(const struct hub *hub, const struct member *member)
{
    return member_is_here(member) ||
           (member->lost && hub->now - member->lost < LAST_CALL);
}

/* The node that the order names; NULL, and the answer is given: not here. */
static struct member *find_named(struct hub *hub, const struct msg_order *order)
{
    char names[64];

    EACH_MEMBER(hub, member) {
        if (is_here(hub, member) && strcmp(member->name, order->node) == 0)
            return member;
    }
    list_members(hub, names, sizeof names);
    answer(hub, order->ticket, STATUS_USAGE,
           "there is no node %.25s; there are: %s", order->node, names);
    return NULL;
}

/* ---- the orders ---- */

static void status_order(struct hub *hub, const struct msg_order *order)
{
    answer(hub, order->ticket, STATUS_OK, "the hub is running");
}

/* Answered when the centre as it is now, or a later one, is on the disk. */
static void checkpoint_order(struct hub *hub, const struct msg_order *order)
{
    if (!hub->config.save) {
        answer(hub, order->ticket, STATUS_CONFIG, "this hub saves nothing");
    } else if (!centre_is_founded(hub)) {
        answer(hub, order->ticket, STATUS_AGAIN,
               "there is no centre yet: the first node brings it");
    } else if (!snapshot_is_behind(hub)) {
        answer(hub, order->ticket, STATUS_OK, "saved already");
    } else if (hub->run.checkpoint_count == MAX_CHECKPOINTS) {
        answer(hub, order->ticket, STATUS_AGAIN,
               "%d checkpoints are under way: wait for these", MAX_CHECKPOINTS);
    } else {
        hub->run.checkpoints[hub->run.checkpoint_count++] =
            (struct checkpoint){order->ticket, hub->centre.version};
        hub->memory.want_save = true;
        hub->dirty |= DIRTY_MEMORY;
    }
}

void orders_saved(struct hub *hub, const struct save_job *save)
{
    enum status status = save->job.status;
    uint64_t version = save->version;
    unsigned left = 0;

    for (unsigned i = 0; i < hub->run.checkpoint_count; i++) {
        const struct checkpoint *one = &hub->run.checkpoints[i];

        if (one->version > version)
            hub->run.checkpoints[left++] = *one;
        else if (status == STATUS_OK)
            answer(hub, one->ticket, STATUS_OK, "saved version %" PRIu64,
                   version);
        else
            answer(hub, one->ticket, status,
                   "version %" PRIu64 " could not be saved: the hub's log "
                   "says why",
                   version);
    }
    hub->run.checkpoint_count = left;
}

void orders_call(struct hub *hub, struct member *member)
{
    if (!member->last_call)
        member->last_call = hub->now + LAST_CALL;
    member_call(hub, member, "drained by the hub's operator");
    if (gate_gathers(hub))
        offers_return(hub, member);
}

/* While the hub recovers it stays: it may keep the newest centre. */
static void drain_order(struct hub *hub, const struct msg_order *order)
{
    struct member *member = find_named(hub, order);

    if (!member)
        return;
    if (!member->drained && !run_is_ending(hub)) {
        member->drained = true;
        member->last_call = 0;
        if (hub->run.phase != PHASE_RECOVERING)
            orders_call(hub, member);
    }
    answer(hub, order->ticket, STATUS_OK, "%s makes its last offer and leaves",
           member->name);
}

void orders_resume(struct hub *hub)
{
    EACH_HERE(hub, member)
        if (member->drained)
            orders_call(hub, member);
}

/* It may not have been called yet: by a former life of the hub, or as this one
 * looked for its newest centre, which the node may keep. */
bool orders_awaits(const struct hub *hub, const struct member *member)
{
    return member->drained && !member->finished && !quarantine_holds(member) &&
           (hub->run.phase == PHASE_RECOVERING || !member->last_call ||
            hub->now < member->last_call);
}

/* Says goodbye to the nodes that were drained once nothing more is to come of
 * them. */
void orders_tick(struct hub *hub)
{
    for (int i = 0; i < hub->roll.count && hub->run.phase != PHASE_RECOVERING;
         i++) {
        struct member *member = hub->roll.members[i];

        if (!member_is_here(member) || !member->drained ||
            hub->run.phase >= PHASE_ENDED ||
            (member->start == START_GO && orders_awaits(hub, member)))
            continue;
        bye_to(hub, member->control, FAREWELL_DONE,
               "drained by the hub's operator");
        member_gone(hub, member, "drained", true);
    }
}

static void pin_order(struct hub *hub, const struct msg_order *order)
{
    const struct member *member = find_named(hub, order);

    if (!member)
        return;
    hub->run.pinned = member->place;
    answer(hub, order->ticket, STATUS_OK, "%s is the winner until unpin",
           member->name);
}

static void unpin_order(struct hub *hub, const struct msg_order *order)
{
    hub->run.pinned = -1;
    answer(hub, order->ticket, STATUS_OK, "the policy chooses the winner");
}

static void rollback_by_order(struct hub *hub, const struct msg_order *order)
{
    struct why why = {""};
    uint64_t good = hub->memory.back.version;
    enum status status = rollback_order(hub, &why);

    if (status != STATUS_OK) {
        answer(hub, order->ticket, status, "%s", why.text);
        return;
    }
    answer(hub, order->ticket, STATUS_OK,
           "the centre becomes version %" PRIu64 " again", good);
    hub->dirty |= DIRTY_MEMORY;
}

/* Whoever took the order has done it. */
static void reload_order(struct hub *hub, const struct msg_order *order)
{
    answer(hub, order->ticket, STATUS_OK, "the hub has read its keys again");
}

static void end_order(struct hub *hub, const struct msg_order *order)
{
    answer(hub, order->ticket, STATUS_OK,
           "the run ends with the nodes' last offers");
    finish_order(hub, "");
}

static void stop_order(struct hub *hub, const struct msg_order *order)
{
    answer(hub, order->ticket, STATUS_OK,
           run_is_ending(hub)
               ? "the run is ending, and the hub with it"
               : "the hub saves and stops; its nodes train alone "
                 "until it is started again");
    finish_stop(hub);
}

typedef void order_handler(struct hub *hub, const struct msg_order *order);

static order_handler *const orders[COMMAND_COUNT] = {
    [COMMAND_STATUS] = status_order, [COMMAND_CHECKPOINT] = checkpoint_order,
    [COMMAND_DRAIN] = drain_order,   [COMMAND_PIN] = pin_order,
    [COMMAND_UNPIN] = unpin_order,   [COMMAND_ROLLBACK] = rollback_by_order,
    [COMMAND_RELOAD] = reload_order, [COMMAND_STOP] = stop_order,
    [COMMAND_END] = end_order,
};

void hub_on_order(struct hub *hub, const struct incoming *in)
{
    enum command command = in->msg->order.command;

    if (command != COMMAND_STATUS)
        effects_note(hub->out, NOTE_ORDERED, in->msg->order.node, "%s",
                     command_words[command].text);
    orders[command](hub, &in->msg->order);
}
