#include "node/tasks.h"

#include <string.h>

#include "core/need.h"
#include "node/state.h"

static void task_remove(struct node_tasks *tasks, struct held_task *task)
{
    size_t behind = (size_t)(tasks->list + tasks->count - (task + 1));

    memmove(task, task + 1, behind * sizeof *task);
    tasks->count--;
}

static void report(struct node *node, uint64_t id, enum task_report what)
{
    struct msg msg = {.kind = MSG_REPORT};

    if (node->hub != HUB_MEMBER)
        return;
    msg.report.task = id;
    msg.report.what = what;
    node_to_hub(node, &msg, NULL);
}

/* It is reported, or will be in the next session. */
static void task_done(struct node *node, uint64_t id, uint64_t exchange)
{
    struct node_tasks *tasks = &node->tasks;

    if (!tasks->done)
        tasks->done = need_memory(NODE_DONE_TASKS, sizeof *tasks->done);
    tasks->done[tasks->done_count++ % NODE_DONE_TASKS] =
        (struct done_task){id, exchange};
    report(node, id, TASK_REPORT_DONE);
}

/* Says again what the centre has. What it has not got is given again, and so is
 * merged later; what there is no room for in the list counts as if it were. */
static void tell_done(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;
    uint64_t count = tasks->done_count, first = 0;

    if (count > NODE_DONE_TASKS)
        first = count - NODE_DONE_TASKS;
    for (uint64_t i = first; i < count; i++) {
        struct done_task *task = &tasks->done[i % NODE_DONE_TASKS];

        if (task->exchange > node->welcome.merged &&
            tasks->count < NODE_MAX_TASKS) {
            tasks->list[tasks->count++] = (struct held_task){
                .id = task->id, .finished = true, .after = node->newest};
            task->exchange = 0;
        } else if (task->exchange) {
            report(node, task->id, TASK_REPORT_DONE);
        }
    }
}

static void room(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;
    struct msg msg = {.kind = MSG_ROOM};

    tasks->asked = tasks->wanted && tasks->count < NODE_MAX_TASKS;
    msg.room.tasks = tasks->asked;
    node_to_hub(node, &msg, NULL);
}

/* A hub of this session learns what the node has. */
static void tell(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;

    tasks->told = true;
    if (tasks->run != node->welcome.run) {
        tasks->count = 0;
        tasks->done_count = 0;
    }
    tasks->run = node->welcome.run;
    for (uint32_t i = 0; i < node->chunks; i++)
        if (node->merged[i] > node->welcome.merged) /* the hub has lost it */
            node->merged[i] = 0;
    tell_done(node);
    for (unsigned i = 0; i < tasks->count; i++)
        report(node, tasks->list[i].id, TASK_REPORT_HELD);
    room(node);
}

void tasks_ask(struct node *node)
{
    const struct node_tasks *tasks = &node->tasks;

    if (node->hub != HUB_MEMBER || node->start != START_GO)
        return;
    if (!tasks->told && node->welcome.tasks)
        tell(node);
    else if (tasks->wanted && !tasks->asked && tasks->count < NODE_MAX_TASKS)
        room(node);
}

void tasks_suspend(struct node *node)
{
    node->tasks.asked = node->tasks.told = false;
}

/* What the trainer still has stays its own until it says so: the hub may give
 * it the same number again, and what it then says of one was of the other. */
void tasks_fail(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;

    for (unsigned i = 0; i < tasks->count;) {
        struct held_task *task = &tasks->list[i];

        task->spoiled = true;
        if (!task->finished) {
            i++;
            continue;
        }
        report(node, task->id, TASK_REPORT_FAILED);
        task_remove(tasks, task);
    }
    tasks->done_count = 0;
}

/* Whether all of the flight is in the centre. */
static bool is_merged(const struct node *node, const struct flight *flight)
{
    if (flight->stage != FLIGHT_JUDGED)
        return false;
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride)
        if (flight->chunks[i].verdict != VERDICT_MERGED)
            return false;
    return true;
}

static void note_merged(struct node *node, const struct flight *flight)
{
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride)
        if (node->merged[i] < flight->offer.exchange)
            node->merged[i] = flight->offer.exchange;
}

/* Whether the trainer is told to begin anew from the hub's parameters. */
static bool is_replaced(const struct flight *flight)
{
    return flight->result == RESULT_HANDED &&
           flight->chunks[0].verb == VERB_REPLACE;
}

void tasks_spoil(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;

    for (unsigned i = 0; i < tasks->count; i++)
        tasks->list[i].spoiled |= tasks->wanted || i + 1 < tasks->count;
}

/* Something was not merged. A gradient is lost; of a delta it is part of the
 * next offer, unless the policy has thrown it away. */
static void tasks_lose(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;

    for (unsigned i = 0; i < tasks->count; i++)
        tasks->list[i].after = node->newest;
    if (node->welcome.exchange == EXCHANGE_GRADIENT)
        tasks_spoil(node);
}

/* The exchange with which the centre holds all of the task: each chunk was
 * merged in one behind `after`, and so was every flight that may carry some of
 * it; 0: it does not. */
static uint64_t merged_with(const struct node *node,
                            const struct held_task *task)
{
    uint64_t newest = 0;

    for (uint32_t i = 0; i < node->chunks; i++) {
        if (node->merged[i] <= task->after)
            return 0;
        if (node->merged[i] > newest)
            newest = node->merged[i];
    }
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (flight->offer.exchange <= newest && !is_merged(node, flight))
            return 0;
    return newest;
}

void tasks_sweep(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;
    bool replaced = false;

    if (!tasks->count && !tasks->done_count)
        return;
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next) {
        if (is_merged(node, flight))
            note_merged(node, flight);
        else if (flight->stage == FLIGHT_JUDGED)
            tasks_lose(node);
        replaced |= is_replaced(flight);
    }
    for (unsigned i = 0; i < tasks->count;) {
        struct held_task *task = &tasks->list[i];
        uint64_t merged = merged_with(node, task);

        if (!task->finished || !(task->spoiled || merged)) {
            i++;
            continue;
        }
        if (task->spoiled)
            report(node, task->id, TASK_REPORT_FAILED);
        else
            task_done(node, task->id, merged);
        task_remove(tasks, task);
    }
    if (replaced)
        tasks_fail(node);
}

void node_on_local_room(struct node *node, const struct event *event)
{
    (void)event;
    node->tasks.wanted = true;
    node->dirty |= DIRTY_OVER;
    tasks_ask(node);
}

void node_on_task(struct node *node, const struct event *event)
{
    struct node_tasks *tasks = &node->tasks;
    struct msg assign = {.kind = MSG_LOCAL_TASK};

    if (!tasks->wanted || event->msg->task.part >= event->msg->task.parts ||
        tasks->count == NODE_MAX_TASKS || node->start != START_GO) {
        report(node, event->msg->task.task, TASK_REPORT_FAILED);
        return;
    }
    tasks->wanted = tasks->asked = false;
    tasks->list[tasks->count++] =
        (struct held_task){.id = event->msg->task.task};
    assign.local_task.task = event->msg->task.task;
    assign.local_task.epoch = event->msg->task.epoch;
    assign.local_task.part = event->msg->task.part;
    assign.local_task.parts = event->msg->task.parts;
    node_to_trainer(node, &assign, NULL);
}

void node_on_local_report(struct node *node, const struct event *event)
{
    struct node_tasks *tasks = &node->tasks;

    for (unsigned i = 0; i < tasks->count; i++) {
        struct held_task *task = &tasks->list[i];

        if (task->id != event->msg->local_report.task || task->finished)
            continue;
        task->finished = true;
        task->after = node->newest;
        node->dirty |= DIRTY_OVER;
        if (!event->msg->local_report.done) {
            report(node, task->id, TASK_REPORT_FAILED);
            task_remove(tasks, task);
        }
        return;
    }
}
