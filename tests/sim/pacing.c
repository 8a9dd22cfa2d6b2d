/* Reserved bandwidth: whatever there is to be sent, in no second is it more
 * than 105 % of the rate, and where there is enough it is at least 95 %. */
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

/* Chunks of 2 % of a rate, and a model that takes 10 s at that rate. */
enum {
    RATE = 100000,
    CHUNK_BYTES = RATE / 50,
    ELEMENTS = 10 * RATE / 4,
    MOST_NODES = 4,
    MOST_CROSSINGS = 65536
};

/* Payloads as they leave or reach one place. */
struct meter {
    unsigned count;
    struct crossing {
        nanos at;
        uint64_t bytes;
    } list[MOST_CROSSINGS];
};

/* At the hub and at node 0, each way, when sent and when received. */
enum { HUB_SENDS, HUB_HEARS, NODE_SENDS, NODE_HEARS, METERS };

struct meters {
    struct meter meter[METERS];
};

static void count(struct meter *meter, nanos at, const struct blob *payload)
{
    if (!CHECK(meter->count < MOST_CROSSINGS))
        return;
    meter->list[meter->count].at = at;
    meter->list[meter->count++].bytes = payload->wire_bytes;
}

static void measure(struct lab *lab, const struct world_step *step)
{
    struct meters *meters = lab->own;
    bool hub = step->process == WORLD_HUB;
    const struct event *event = step->event;

    if (step->trainer || (!hub && step->process != 0))
        return;
    if (event->kind == EVENT_MESSAGE && event->payload &&
        msg_info(event->msg->kind)->channel == CHANNEL_BULK)
        count(&meters->meter[hub ? HUB_HEARS : NODE_HEARS], event->now,
              event->payload);
    for (unsigned i = 0; i < step->effects->count; i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind == EFFECT_SEND && effect->payload &&
            msg_info(effect->msg.kind)->channel == CHANNEL_BULK)
            count(&meters->meter[hub ? HUB_SENDS : NODE_SENDS], event->now,
                  effect->payload);
    }
}

/* The most that crossed in any second, and the least in any second between
 * `from` and `to`. */
static void seconds(const struct meter *meter, nanos from, nanos to,
                    uint64_t *most, uint64_t *least)
{
    uint64_t sum = 0;
    unsigned first = 0;

    *most = 0;
    *least = UINT64_MAX;
    for (unsigned i = 0; i < meter->count; i++) {
        nanos at = meter->list[i].at;

        sum += meter->list[i].bytes;
        while (meter->list[first].at <= at - SECOND)
            sum -= meter->list[first++].bytes;
        if (sum > *most)
            *most = sum;
        if (at - SECOND >= from && at <= to && sum < *least)
            *least = sum;
    }
}

static void check_seconds(const struct meter *meter, nanos from, nanos to,
                          double rate)
{
    uint64_t most, least;

    seconds(meter, from, to, &most, &least);
    CHECK((double)most <= 1.05 * rate);
    CHECK(least < UINT64_MAX && (double)least >= 0.95 * rate);
}

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift,    &drift, 1,
                                      10 * MILLISECOND, NULL,   NULL};

/* A star whose nodes have these limits. */
static struct lab *star(unsigned nodes, uint64_t hub_up, uint64_t hub_down,
                        uint64_t up, uint64_t down, size_t elements)
{
    static struct meters meters;
    static const char *const names[MOST_NODES] = {"n1", "n2", "n3", "n4"};
    struct lab *lab = lab_new(elements);

    memset(&meters, 0, sizeof meters);
    lab->config.hub.chunk_elements = CHUNK_BYTES / 4;
    lab->config.hub.window = (uint64_t)64 * CHUNK_BYTES;
    lab->config.hub.up = hub_up;
    lab->config.hub.down = hub_down;
    lab->config.hub.nodes = nodes;
    lab->config.saves = false;
    lab->config.link.jitter = 0;
    lab->config.link.up = lab->config.link.down = (uint64_t)1000 * RATE;
    lab->own = &meters;
    lab->after_step = measure;
    lab_open(lab, 7);
    for (unsigned i = 0; i < nodes; i++) {
        struct world_node node = {.name = names[i],
                                  .up = up,
                                  .down = down,
                                  .trainer = {.start = lab->start,
                                              .elements = lab->elements,
                                              .step = drifting.step,
                                              .rate = drifting.rate,
                                              .samples = 1,
                                              .gradient = drifting.gradient,
                                              .context = drifting.context}};

        world_start(lab->world, world_add_node(lab->world, &node));
    }
    return lab;
}

static const struct meter *meter_of(const struct lab *lab, unsigned which)
{
    return &((const struct meters *)lab->own)->meter[which];
}

/* The first 10 s are the first parameters, then exchanges begin. */
static void ap_07_a_node_sends_no_more_than_its_rate(void)
{
    struct lab *lab = star(1, 0, 0, RATE, 0, ELEMENTS);

    CHECK(lab_run(lab, 35 * SECOND));
    check_seconds(meter_of(lab, NODE_SENDS), SECOND, 9 * SECOND, RATE);
    check_seconds(meter_of(lab, HUB_HEARS), 12 * SECOND, 18 * SECOND, RATE);
    lab_destroy(&lab);
}

static void ap_07_a_node_is_sent_no_more_than_its_rate(void)
{
    struct lab *lab = star(2, 0, 0, 0, RATE, ELEMENTS);

    CHECK(lab_run(lab, 40 * SECOND));
    check_seconds(meter_of(lab, NODE_HEARS), 2 * SECOND, 9 * SECOND, RATE);
    lab_destroy(&lab);
}

static void ap_07_the_hub_sends_no_more_than_its_rate(void)
{
    struct lab *lab = star(MOST_NODES, RATE, 0, 0, 0, ELEMENTS);

    CHECK(lab_run(lab, 60 * SECOND));
    check_seconds(meter_of(lab, HUB_SENDS), 2 * SECOND, 30 * SECOND, RATE);
    lab_destroy(&lab);
}

static void ap_07_the_hub_is_sent_no_more_than_its_rate(void)
{
    struct lab *lab = star(MOST_NODES, 0, RATE, 0, 0, ELEMENTS);

    CHECK(lab_run(lab, 60 * SECOND));
    check_seconds(meter_of(lab, HUB_HEARS), 12 * SECOND, 45 * SECOND, RATE);
    lab_destroy(&lab);
}

/* All four limits at once, the nodes' below the hub's share for each. */
static void ap_07_all_limits_hold_together(void)
{
    struct lab *lab =
        star(MOST_NODES, 3ULL * RATE, 3ULL * RATE, RATE, RATE, ELEMENTS);
    uint64_t most, least;

    CHECK(lab_run(lab, 60 * SECOND));
    for (unsigned i = 0; i < METERS; i++) {
        double rate = i == HUB_SENDS || i == HUB_HEARS ? 3 * RATE : RATE;

        seconds(meter_of(lab, i), 0, NEVER, &most, &least);
        CHECK((double)most <= 1.05 * rate);
        CHECK((double)most >= 0.5 * rate);
    }
    lab_destroy(&lab);
}

static void a_rate_that_is_never_reached_changes_nothing(void)
{
    uint64_t version[2];

    for (unsigned i = 0; i < 2; i++) {
        uint64_t rate = i ? (uint64_t)1000 * RATE : 0;
        struct lab *lab = star(2, rate, rate, rate, rate, 5000);

        CHECK(lab_run(lab, 10 * SECOND));
        version[i] = lab->version;
        lab_destroy(&lab);
    }
    CHECK(version[0] > 100);
    CHECK_NEAR((double)version[0], (double)version[1],
               0.05 * (double)version[0]);
}

void add_sim_pacing_tests(CU_pSuite suite)
{
    TEST(ap_07_a_node_sends_no_more_than_its_rate);
    TEST(ap_07_a_node_is_sent_no_more_than_its_rate);
    TEST(ap_07_the_hub_sends_no_more_than_its_rate);
    TEST(ap_07_the_hub_is_sent_no_more_than_its_rate);
    TEST(ap_07_all_limits_hold_together);
    TEST(a_rate_that_is_never_reached_changes_nothing);
}
