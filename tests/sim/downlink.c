/* Stars whose results are changes of what nodes hold. */
#include <math.h>
#include <string.h>

#include "node/work.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 3, ELEMENTS = 12, CHUNKS = 3, ROUNDS = 60, WAITING = 64 };

static const char *const names[NODES] = {"n1", "n2", "n3"};

/* What each node has been sent and not decoded yet. */
struct mirror {
    struct {
        uint64_t version[WAITING];
        unsigned count;
    } queue[NODES][CHUNKS];
    unsigned decoded, differing, changes, plain;
};

static void arrives(struct mirror *mirror, unsigned node,
                    const struct msg_result *result)
{
    unsigned *count = &mirror->queue[node][result->chunk].count;

    mirror->queue[node][result->chunk].version[*count] = result->version;
    *count += *count + 1 < WAITING;
    if (result->base == result->version)
        mirror->plain++;
    else
        mirror->changes++;
}

static void is_decoded(struct lab *lab, unsigned node, const struct job *job)
{
    struct mirror *mirror = lab->own;
    uint32_t chunk = (uint32_t)job->tag[1];
    uint64_t *version = mirror->queue[node][chunk].version;
    unsigned *count = &mirror->queue[node][chunk].count;

    if (!*count)
        return;
    mirror->decoded++;
    mirror->differing +=
        memcmp(job->out[0]->bytes,
               lab->versions + version[0] * lab->elements +
                   (size_t)chunk * lab->config.hub.chunk_elements,
               job->out[0]->size) != 0;
    --*count;
    memmove(version, version + 1, *count * sizeof *version);
}

/* Compares what nodes decode with what the lab does. */
static void watch(struct lab *lab, const struct world_step *step)
{
    const struct event *event = step->event;

    if (step->process == WORLD_HUB || step->trainer)
        return;
    if (event->kind == EVENT_LEAVE)
        memset(((struct mirror *)lab->own)->queue[step->process], 0,
               sizeof((struct mirror *)0)->queue[0]);
    if (event->kind == EVENT_MESSAGE && event->msg->kind == MSG_RESULT)
        arrives(lab->own, step->process, &event->msg->result);
    if (event->kind == EVENT_DONE && event->job->work == &work_decode)
        is_decoded(lab, step->process, event->job);
}

/* Nodes that want something else each; together: the mean. */
static const struct model *wishes(void)
{
    static float centre[NODES][ELEMENTS];
    static struct quadratic wells[NODES];
    static struct model models[NODES];

    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned j = 0; j < ELEMENTS; j++)
            centre[i][j] = 1 + (float)((i * 5 + j * 3) % 7) / 16;
        wells[i] = (struct quadratic){1, centre[i]};
        models[i] =
            (struct model){trainer_quadratic, &wells[i], 0.05, 0, NULL, NULL};
    }
    return models;
}

static struct lab *star(enum codec_id down, struct mirror *mirror)
{
    struct lab *lab = lab_new(ELEMENTS);

    memset(mirror, 0, sizeof *mirror);
    lab->own = mirror;
    lab->after_step = watch;
    lab->config.hub.every = 4;
    lab->config.hub.delay = 2;
    lab->config.hub.nodes = NODES;
    lab->config.hub.codec_down = down;
    return lab;
}

static void fill(struct lab *lab, uint64_t seed)
{
    const struct model *models = wishes();

    lab_open(lab, seed);
    for (unsigned i = 0; i < NODES; i++)
        lab_add(lab, names[i], &models[i]);
}

/* Mean loss of the wishes at the centre. */
static double loss_of(const struct lab *lab)
{
    const struct model *models = wishes();
    double loss = 0;

    for (unsigned i = 0; i < NODES; i++) {
        float gradient[ELEMENTS];

        loss += trainer_quadratic(models[i].context, 0,
                                  lab_values(lab, lab->version), ELEMENTS,
                                  gradient) /
                NODES;
    }
    return loss;
}

static double loss_with(enum codec_id up, enum codec_id down)
{
    struct mirror mirror;
    struct lab *lab = star(down, &mirror);
    double loss;

    lab->config.hub.codec_up = up;
    fill(lab, 3);
    CHECK(lab_run_rounds(lab, ROUNDS));
    loss = loss_of(lab);
    CHECK_EQUAL(0, mirror.differing);
    CHECK(down == CODEC_RAW || mirror.changes > ROUNDS * NODES * 2);
    lab_destroy(&lab);
    return loss;
}

static void t20_a_star_learns_as_much_whatever_codec_results_have(void)
{
    double raw = loss_with(CODEC_RAW, CODEC_RAW);

    for (unsigned i = CODEC_RAW + 1; i < CODEC_COUNT; i++) {
        CHECK_NEAR(raw, loss_with(CODEC_RAW, (enum codec_id)i), raw / 50);
        CHECK_NEAR(raw, loss_with((enum codec_id)i, (enum codec_id)i),
                   raw / 50);
    }
}

static void crash(void *context, struct world *world)
{
    (void)context;
    world_crash(world, 1, false);
}

static void start(void *context, struct world *world)
{
    (void)context;
    world_start(world, 1);
}

static void cut(void *context, struct world *world)
{
    (void)context;
    world_cut(world, 2, true);
}

static void repair(void *context, struct world *world)
{
    (void)context;
    world_repair(world, 2);
}

static void t20_what_nodes_hold_stays_right_through_losses(void)
{
    for (unsigned i = CODEC_RAW + 1; i < CODEC_COUNT; i++) {
        struct mirror mirror;
        struct lab *lab = star((enum codec_id)i, &mirror);
        unsigned before;

        lab->config.link.up = lab->config.link.down = 2000;
        fill(lab, 5 + i);
        world_at(lab->world, 3010 * MILLISECOND, crash, lab);
        world_at(lab->world, 5030 * MILLISECOND, cut, lab);
        world_at(lab->world, 9 * SECOND, start, lab);
        world_at(lab->world, 11 * SECOND, repair, lab);
        CHECK(lab_run(lab, 20 * SECOND));
        before = mirror.plain;
        CHECK(lab_run(lab, 20 * SECOND));
        CHECK_EQUAL(0, mirror.differing);
        CHECK(mirror.changes > 200);
        CHECK(before >= (NODES + 2) * CHUNKS);
        CHECK_EQUAL(before, mirror.plain);
        lab_destroy(&lab);
    }
}

static void t20_fragments_are_sent_as_changes_too(void)
{
    struct mirror mirror;
    struct lab *lab = star(CODEC_INT8, &mirror);

    lab->config.hub.every = 6;
    lab->config.hub.fragments = CHUNKS;
    fill(lab, 9);
    CHECK(lab_run(lab, 60 * SECOND));
    CHECK_EQUAL(0, mirror.differing);
    CHECK_EQUAL(NODES * CHUNKS, mirror.plain);
    CHECK(mirror.changes > 500);
    lab_destroy(&lab);
}

static void t20_a_delay_longer_than_k_needs_no_more_values(void)
{
    struct mirror mirror;
    struct lab *lab = star(CODEC_INT8, &mirror);

    lab->config.hub.delay = 10;
    lab->config.link.latency = 300 * MILLISECOND;
    fill(lab, 11);
    CHECK(lab_run_rounds(lab, ROUNDS));
    CHECK_EQUAL(0, mirror.differing);
    CHECK_EQUAL(NODES * CHUNKS, mirror.plain);
    lab_destroy(&lab);
}

static uint64_t bytes_down(enum codec_id down, uint64_t rounds)
{
    enum { LONG = 4096 };
    static const struct drift drift = {0.25f};
    const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};
    struct lab *lab = lab_new(LONG);
    uint64_t bytes;

    lab->config.hub.chunk_elements = LONG / 4;
    lab->config.hub.codec_down = down;
    lab_open(lab, 1);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &drifting);
    CHECK(lab_run_rounds(lab, rounds));
    bytes = lab_look(lab)->nodes[0].moved.down_bytes;
    lab_destroy(&lab);
    return bytes;
}

static void t20_int8_results_are_a_quarter_of_the_bytes(void)
{
    uint64_t first = bytes_down(CODEC_INT8, 10);
    uint64_t changes = bytes_down(CODEC_INT8, 50) - first;
    uint64_t raw = bytes_down(CODEC_RAW, 50) - bytes_down(CODEC_RAW, 10);

    CHECK_NEAR(0.25, (double)changes / (double)raw, 0.01);
}

void add_sim_downlink_tests(CU_pSuite suite)
{
    TEST(t20_a_star_learns_as_much_whatever_codec_results_have);
    TEST(t20_what_nodes_hold_stays_right_through_losses);
    TEST(t20_fragments_are_sent_as_changes_too);
    TEST(t20_a_delay_longer_than_k_needs_no_more_values);
    TEST(t20_int8_results_are_a_quarter_of_the_bytes);
}
