#include "tests/report/sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct table_head sample_head = {
    .title = "hub on tcp://127.0.0.1:7541, directory demo",
    .data = "Fashion-MNIST 60000 train / 10000 test",
    .model = "mlp 784-128-10, 101770 parameters",
    .policy = "diloco k=20 d=4  codec f32",
    .goal = "87.0 % test accuracy",
};

static const struct hub_node_view nodes[] = {
    {.name = "n1",
     .iteration = 4120,
     .rate = 812.4,
     .loss = 0.2943,
     .accuracy = 0.8641,
     .lag = 1,
     .moved.exchanges = 206,
     .moved.up_bytes = 1400000,
     .moved.down_bytes = 1410000,
     .round_trip = 214 * MICROSECOND,
     .activity = ACTIVITY_TRAIN},
    {.name = "n2",
     .iteration = 4390,
     .rate = 866.1,
     .loss = 0.2811,
     .accuracy = 0.869,
     .moved.exchanges = 219,
     .moved.up_bytes = 1450000,
     .moved.down_bytes = 1450000,
     .round_trip = 198 * MICROSECOND,
     .activity = ACTIVITY_SENDING,
     .best = true},
    {.name = "n3",
     .iteration = 310,
     .rate = 7.25,
     .loss = 0.9,
     .accuracy = -1,
     .lag = 12,
     .moved.exchanges = 15,
     .missed = 4,
     .moved.up_bytes = 100000,
     .moved.down_bytes = 90000,
     .round_trip = 35 * MILLISECOND,
     .activity = ACTIVITY_LAGGING,
     .silent = true,
     .why = "expired"},
    {.name = "laboratory-west-pc17",
     .accuracy = -1,
     .loss = NO_SCORE,
     .lag = 4000,
     .gone = true},
};

/* Of the view that was made last. */
static struct hub_node_view places[SAMPLE_NODES];

void sample_view(struct hub_view *view)
{
    memset(view, 0, sizeof *view);
    view->version = 212;
    view->rounds = 212;
    view->founded = true;
    view->tested = true;
    view->reached = true;
    view->score = 0.2791;
    view->accuracy = 0.87;
    view->best_score = 0.2788;
    view->best_accuracy = 0.8712;
    view->best_version = 208;
    view->verdicts[VERDICT_MERGED] = 1320;
    view->verdicts[VERDICT_STALE] = 3;
    view->moved = (struct hub_moved){.steps = 9820,
                                     .exchanges = 440,
                                     .up_bytes = 2940000,
                                     .down_bytes = 2940000};
    view->preempted = 2;
    view->rollbacks = 1;
    view->pending = 1500 * MILLISECOND;
    view->training = 29500 * MILLISECOND;
    (void)snprintf(view->state, sizeof view->state, "%s",
                   "1 of 3 nodes have offered");
    view->count = sizeof nodes / sizeof *nodes;
    view->nodes = places;
    memcpy(view->nodes, nodes, sizeof nodes);
}

struct table sample_table(const struct hub_view *view)
{
    return (struct table){&sample_head, view, 31 * SECOND, SAMPLE_WALL};
}

static void note(struct course *course, nanos elapsed, enum note_kind kind,
                 const char *subject, const char *text)
{
    struct note made = {.kind = kind};

    (void)snprintf(made.subject, sizeof made.subject, "%s", subject);
    (void)snprintf(made.text, sizeof made.text, "%s", text);
    course_note(course, elapsed, &made);
}

/* A loss that falls, with a little noise that is always the same. */
static double loss_at(double time, unsigned node)
{
    return 0.28 + 0.02 * node + 2.0 * exp(-time / 6) +
           0.03 * sin(7 * time + node) * exp(-time / 20);
}

static void move_view(struct hub_view *view, double time)
{
    for (unsigned i = 0; i < view->count; i++) {
        view->nodes[i].iteration = (uint64_t)(800 * time) + i;
        view->nodes[i].loss = loss_at(time, i);
        view->nodes[i].moved.up_bytes = (uint64_t)(45e3 * time);
        view->nodes[i].moved.down_bytes = (uint64_t)(45e3 * time);
    }
    view->version = (uint64_t)(7 * time);
    if (fmod(time, 1) < 0.2) {
        view->score = loss_at(time, 0) - 0.01;
        view->accuracy = 0.88 - 0.7 * exp(-time / 5);
    }
}

void sample_course(struct course *course, struct hub_view *view,
                   unsigned seconds)
{
    sample_view(view);
    view->score = NO_SCORE;
    view->accuracy = -1;
    note(course, 0, NOTE_WAITING, "", "for nodes");
    note(course, 1 * SECOND, NOTE_JOINED, "n1", "at iteration 0");
    for (unsigned i = 1; i < 5 * seconds; i++) {
        move_view(view, i / 5.0);
        course_look(course, (nanos)i * 200 * MILLISECOND, view);
    }
    note(course, (nanos)seconds * SECOND / 2, NOTE_LOST, HOSTILE_NAME,
         "no word for 60 s");
    note(course, (nanos)seconds * SECOND * 3 / 4, NOTE_SAVE_FAILED, "",
         "version 70: No space left on device");
    note(course, (nanos)seconds * SECOND, NOTE_ENDED, "", "the goal is met");
}
