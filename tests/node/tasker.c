#include "tests/node/tasker.h"

void tasker_wants(struct node_fixture *f)
{
    const struct msg msg = {.kind = MSG_LOCAL_ROOM};

    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

void tasker_finishes(struct node_fixture *f, uint64_t task, bool done)
{
    struct msg msg = {.kind = MSG_LOCAL_REPORT};

    msg.local_report.task = task;
    msg.local_report.done = done;
    hand_say(&f->hand, PEER_TRAINER, &msg, NULL);
}

void tasker_is_given(struct node_fixture *f, uint64_t task)
{
    struct msg msg = {.kind = MSG_TASK};

    msg.task.task = task;
    msg.task.part = 3;
    msg.task.parts = 8;
    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
}

unsigned tasker_reports(const struct node_fixture *f)
{
    return hand_count(&f->hand, PEER_CONTROL, MSG_REPORT);
}

const struct msg_report *tasker_report(const struct node_fixture *f)
{
    return &node_fixture_sent(f, MSG_REPORT)->report;
}

struct node_fixture *tasker_new(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.tasks = 8;
    node_fixture_ready(f, 1);
    tasker_wants(f);
    tasker_is_given(f, 5);
    tasker_wants(f);
    return f;
}

void tasker_comes_back(struct node_fixture *f, uint64_t run, uint64_t life,
                       uint64_t merged)
{
    node_fixture_breaks(f);
    hand_forget(&f->hand);
    node_fixture_connects(f);
    f->welcome.run = run;
    f->welcome.epoch = life << 32;
    f->welcome.merged = merged;
    node_fixture_welcomes(f, START_GO);
}
