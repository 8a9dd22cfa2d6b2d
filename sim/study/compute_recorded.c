/* Nodes whose scores are those of a recorded run, by iteration.
 *
 * The trace is what import makes of a hub's recording: OFFER events with their
 * iteration, ITERATION events, and the series `score` of nodes and of the hub.
 * A node's loss is that which the recorded node had told at so many iterations;
 * the centre's is that which the hub had when all nodes together had done as
 * many as now. Parameters do not move, and weigh as much as --params. */
#include <stdlib.h>
#include <string.h>

#include "policies/order.h"
#include "sim/study/compute.h"
#include "sim/trace/trace.h"

/* A score that was told after so many iterations. */
struct told {
    uint64_t iterations;
    double score;
};

struct story {
    struct told *told;
    size_t count;
};

struct memory {
    float *zeros;
    struct story *nodes, hub; /* nodes: of the trace */
    size_t node_count;
    uint64_t *done; /* iterations of each simulated node */
    uint64_t all;
};

static void tell(struct story *story, uint64_t iterations, int64_t score)
{
    if (score != SERIES_UNSET && story->told)
        story->told[story->count++] =
            (struct told){iterations, 1e-9 * (double)score};
}

/* The last that was told until then; before that, the first. */
static double told_at(const struct story *story, uint64_t iterations)
{
    size_t low = 0, high = story->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (story->told[middle].iterations <= iterations)
            low = middle + 1;
        else
            high = middle;
    }
    return story->told[low ? low - 1 : 0].score;
}

/* Reads the trace's events in their order, the hub's scores between them. */
static void remember(struct memory *memory, const struct trace *trace)
{
    const struct trace_series *scores = &trace->hub.series[QUANTITY_SCORE];
    uint64_t *done = scratch_of(trace->node_count, sizeof *done), all = 0;
    size_t next = 0;

    memory->node_count = trace->node_count;
    memory->nodes = scratch_of(trace->node_count, sizeof *memory->nodes);
    for (size_t i = 0; i < trace->node_count; i++)
        memory->nodes[i].told =
            scratch_of(trace->event_count, sizeof(struct told));
    memory->hub.told = scratch_of(scores->count, sizeof(struct told));
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct traced *event = &trace->events[i];
        size_t node = trace_index(trace, event->track) - 2;

        while (next < scores->count && scores->points[next].time < event->time)
            tell(&memory->hub, all, scores->points[next++].value);
        if (event->kind == TRACED_OFFER) {
            tell(&memory->nodes[node], event->numbers[1],
                 trace_at(trace, event->track, QUANTITY_SCORE, event->time));
        } else if (event->kind == TRACED_ITERATION) {
            all += event->numbers[0] - done[node];
            done[node] = event->numbers[0];
        }
    }
    for (; next < scores->count; next++)
        tell(&memory->hub, all, scores->points[next].value);
    free(done);
}

static bool has_scores(const struct memory *memory)
{
    for (size_t i = 0; i < memory->node_count; i++)
        if (!memory->nodes[i].count)
            return false;
    return memory->node_count > 0;
}

static enum status recorded_open(struct computing *computing, struct why *why)
{
    struct memory *memory = scratch_of(1, sizeof *memory);
    enum status status = computing_stand_in(computing, why);

    computing->self = memory;
    if (status != STATUS_OK)
        return status;
    memory->zeros = scratch_of(computing->elements, sizeof(float));
    memory->done = scratch_of(computing->nodes, sizeof *memory->done);
    if (computing->trace)
        remember(memory, computing->trace);
    if (has_scores(memory))
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--compute recorded needs the trace of a recorded run: say "
                   "starswitch-sim import record FILE -o run.trace, then "
                   "--trace run.trace");
}

static void recorded_close(struct computing *computing)
{
    struct memory *memory = computing->self;

    if (!memory)
        return;
    for (size_t i = 0; i < memory->node_count; i++)
        free(memory->nodes[i].told);
    free(memory->nodes);
    free(memory->hub.told);
    free(memory->zeros);
    free(memory->done);
    free(memory);
}

static const float *recorded_start(struct computing *computing, unsigned node)
{
    const struct memory *memory = computing->self;

    (void)node;
    return memory->zeros;
}

static double recorded_gradient(struct computing *computing, unsigned node,
                                uint64_t iteration, const float *x,
                                float *gradient)
{
    struct memory *memory = computing->self;

    (void)x;
    memory->all += iteration + 1 - memory->done[node];
    memory->done[node] = iteration + 1;
    memset(gradient, 0, computing->elements * sizeof *gradient);
    return told_at(&memory->nodes[node % memory->node_count], iteration + 1);
}

static void recorded_step(struct computing *computing, unsigned node, float *x,
                          const float *gradient, size_t first, size_t count)
{
    (void)computing;
    (void)node;
    (void)x;
    (void)gradient;
    (void)first;
    (void)count;
}

/* Where the hub had no score, that of the nodes. */
static void recorded_judge(struct computing *computing, const float *x,
                           double *loss, double *accuracy)
{
    const struct memory *memory = computing->self;

    (void)x;
    *accuracy = -1;
    *loss = 0;
    if (memory->hub.count) {
        *loss = told_at(&memory->hub, memory->all);
        return;
    }
    for (unsigned i = 0; i < computing->nodes; i++)
        *loss +=
            told_at(&memory->nodes[i % memory->node_count], memory->done[i]) /
            computing->nodes;
}

const struct compute_type compute_recorded = {.kind = COMPUTE_RECORDED,
                                              .open = recorded_open,
                                              .close = recorded_close,
                                              .start = recorded_start,
                                              .gradient = recorded_gradient,
                                              .step = recorded_step,
                                              .judge = recorded_judge};
