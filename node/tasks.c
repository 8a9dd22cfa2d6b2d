#include "node/tasks.h"

#include <string.h>

#include "node/state.h"

static void task_remove(struct node_tasks *tasks, struct held_task *task)
{
    size_t behind = (size_t)(tasks->list + tasks->count - (task + 1));

    memmove(task, task + 1, behind * sizeof *task);
    tasks->count--;
}

static void report(struct node *node, uint64_t id, bool done)
{
    struct msg msg = {.kind = MSG_REPORT};

    if (node->hub != HUB_MEMBER)
        return;
    msg.report.task = id;
    msg.report.done = done;
    node_to_hub(node, &msg, NULL);
}

void tasks_ask(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;
    struct msg msg = {.kind = MSG_ROOM};

    if (!tasks->wanted || tasks->asked || tasks->count == NODE_MAX_TASKS ||
        node->hub != HUB_MEMBER || node->start != START_GO)
        return;
    tasks->asked = true;
    msg.room.tasks = 1;
    node_to_hub(node, &msg, NULL);
}

void tasks_forget(struct node *node)
{
    node->tasks.count = 0;
    node->tasks.asked = false;
}

void tasks_fail(struct node *node)
{
    for (unsigned i = 0; i < node->tasks.count; i++)
        report(node, node->tasks.list[i].id, false);
    node->tasks.count = 0;
}

static uint64_t newest_exchange(const struct node *node)
{
    uint64_t newest = 0;

    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        newest = flight->offer.exchange;
    return newest;
}

/* Whether all of the flight is in the centre. */
static bool is_merged(const struct node *node, const struct flight *flight)
{
    if (flight->stage != FLIGHT_JUDGED)
        return false;
    for (uint32_t i = 0; i < node->chunks; i++)
        if (flight->chunks[i].verdict != VERDICT_MERGED)
            return false;
    return true;
}

/* Whether the trainer is told to begin anew from the hub's parameters. */
static bool is_replaced(const struct flight *flight)
{
    return flight->result == RESULT_HANDED &&
           flight->chunks[0].verb == VERB_REPLACE;
}

/* Something was not merged. A gradient is lost, and with it the tasks it may
 * be of: all but the one in the trainer's hand. Of a delta it is part of the
 * next offer. */
static void tasks_lose(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;
    unsigned begun = tasks->count - (tasks->wanted ? 0 : 1);
    bool gradient = node->welcome.exchange == EXCHANGE_GRADIENT;

    for (unsigned i = 0; i < tasks->count; i++) {
        tasks->list[i].after = newest_exchange(node);
        tasks->list[i].spoiled |= gradient && i < begun;
    }
}

/* Whether the centre holds all of the task: every flight that may carry some
 * of it is merged. */
static bool task_is_merged(const struct node *node,
                           const struct held_task *task)
{
    const struct flight *flight = node->flights;

    while (flight && flight->offer.exchange <= task->after &&
           is_merged(node, flight))
        flight = flight->next;
    return flight && is_merged(node, flight);
}

void tasks_sweep(struct node *node)
{
    struct node_tasks *tasks = &node->tasks;
    bool replaced = false;

    if (!tasks->count)
        return;
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next) {
        if (flight->stage == FLIGHT_JUDGED && !is_merged(node, flight))
            tasks_lose(node);
        replaced |= is_replaced(flight);
    }
    for (unsigned i = 0; i < tasks->count;) {
        struct held_task *task = &tasks->list[i];
        bool merged = task_is_merged(node, task);

        if (task->finished && (task->spoiled || merged)) {
            report(node, task->id, !task->spoiled);
            task_remove(tasks, task);
        } else {
            i++;
        }
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
        report(node, event->msg->task.task, false);
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
        task->after = newest_exchange(node);
        node->dirty |= DIRTY_OVER;
        if (!event->msg->local_report.done) {
            report(node, task->id, false);
            task_remove(tasks, task);
        }
        return;
    }
}
