/* Tasks of a simulated trainer: one in hand while it works on another, as in
 * node/library/tasks.c. */
#include "sim/trainer_inside.h"

static void post_want(struct trainer *trainer)
{
    struct msg msg = {.kind = MSG_LOCAL_ROOM};

    trainer->task_wanted = true;
    msg.local_room.iteration = trainer->training.agenda.pacer.iteration;
    effects_send(trainer->out, PEER_TRAINER, &msg, NULL);
}

static void post_finish(struct trainer *trainer)
{
    struct msg msg = {.kind = MSG_LOCAL_REPORT};

    msg.local_report.task = trainer->task.task;
    msg.local_report.done = 1;
    effects_send(trainer->out, PEER_TRAINER, &msg, NULL);
}

void trainer_task_assign(struct trainer *trainer,
                         const struct msg_local_task *assign)
{
    trainer->in_hand = *assign;
    trainer->task_wanted = false;
}

void trainer_task_step(struct trainer *trainer)
{
    if (!trainer->config.task_steps)
        return;
    if (trainer->task.parts && --trainer->task_left == 0) {
        post_finish(trainer);
        trainer->task.parts = 0;
    }
    if (!trainer->task.parts) {
        trainer->task = trainer->in_hand;
        trainer->task_left = trainer->config.task_steps;
        trainer->in_hand.parts = 0;
    }
    if (!trainer->in_hand.parts && !trainer->task_wanted)
        post_want(trainer);
}
