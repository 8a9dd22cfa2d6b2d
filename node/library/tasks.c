/* Tasks on the training thread: one in hand, nothing waited for. */
#include "node/library/inside.h"

void link_assign_task(struct star_link *link,
                      const struct msg_local_task *assign)
{
    link->task_wanted = false;
    link->task.id = assign->task;
    link->task.epoch = assign->epoch;
    link->task.part = assign->part;
    link->task.parts = assign->parts;
}

/* Has the empty hand filled. */
static void want(struct star_link *link)
{
    struct msg msg = {.kind = MSG_LOCAL_ROOM};

    if (link->task_wanted || link->task.parts)
        return;
    link->task_wanted = true;
    msg.local_room.iteration = link->training.agenda.pacer.iteration;
    shell_post(&link->shell, &msg, NULL);
}

enum star_next star_task_next(struct star_link *link, struct star_task *task)
{
    enum star_next next = STAR_NO_TASK;

    if (!link || !task)
        return next;
    (void)pthread_mutex_lock(&link->shell.lock);
    if (link->stopping || link->over) {
        next = STAR_TASKS_OVER;
    } else if (link->task.parts && link->given_count < STAR_TASKS_MAX &&
               sized_write(task, &link->task, sizeof *task) != STATUS_OK) {
        shell_tell(&link->shell, STAR_ERROR, "task_unwritten",
                   "the size of struct star_task is not set");
    } else if (link->task.parts && link->given_count < STAR_TASKS_MAX) {
        link->given[link->given_count++] = link->task.id;
        link->task.parts = 0;
        next = STAR_TASK;
    }
    if (next != STAR_TASKS_OVER)
        want(link);
    (void)pthread_mutex_unlock(&link->shell.lock);
    return next;
}

/* Whether it was among them. */
static bool forget_given(struct star_link *link, uint64_t id)
{
    for (unsigned i = 0; i < link->given_count; i++)
        if (link->given[i] == id) {
            link->given[i] = link->given[--link->given_count];
            return true;
        }
    return false;
}

int star_task_done(struct star_link *link, uint64_t id, int ok)
{
    struct msg msg = {.kind = MSG_LOCAL_REPORT};
    bool known;

    if (!link)
        return 0;
    (void)pthread_mutex_lock(&link->shell.lock);
    known = forget_given(link, id);
    msg.local_report.task = id;
    msg.local_report.done = ok != 0;
    if (known)
        training_say(&link->training, &msg);
    (void)pthread_mutex_unlock(&link->shell.lock);
    return known;
}
