/* What the world's links do: rates that a trace changes, byte for byte; what
 * loss costs, in closed form; cuts and partitions, and what comes after. */
#include <math.h>

#include "sim/loss.h"
#include "tests/check.h"
#include "tests/sim/lab.h"
#include "tests/sim/trace/trace_text.h"

enum { ELEMENTS = 20000, DRAWS = 100000 };

static const struct drift drift = {0.25F};
static const struct model drifting = {
    .gradient = trainer_drift, .context = &drift, .rate = 1};

static void finish(struct lab **lab, struct trace **trace)
{
    lab_destroy(lab);
    trace_destroy(trace);
}

/* ---- connecting ---- */

static void note_hello(struct lab *lab, const struct world_step *step)
{
    nanos *heard = lab->own;

    if (step->process == WORLD_HUB && step->event->kind == EVENT_MESSAGE &&
        step->event->msg->kind == MSG_HELLO && !*heard)
        *heard = world_now(lab->world);
}

/* A node connects within its first millisecond. */
static void a_node_is_heard_after_the_trips_of_a_greeting(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    nanos heard = 0, trips = WORLD_GREETING_TRIPS * (20 * MILLISECOND);

    lab->config.link = (struct world_link){.latency = 20 * MILLISECOND};
    lab->after_step = note_hello;
    lab->own = &heard;
    lab_open(lab, 3);
    (void)lab_add(lab, "n1", &drifting);
    CHECK(lab_run(lab, SECOND));
    CHECK(heard >= trips && heard <= trips + MILLISECOND);
    lab_destroy(&lab);
}

/* ---- rates ---- */

/* Chunks on their way to the hub, one at a time. */
struct meter {
    const struct trace_series *rate;
    double slack; /* seconds */
    uint64_t bytes;
    nanos sent;
    unsigned came;
};

static void note_chunk(void *context, const struct world_message *message,
                       struct world_fate *fate)
{
    struct lab *lab = context;
    struct meter *meter = lab->own;
    unsigned char bytes[MSG_MAX_BYTES];

    (void)fate;
    if (message->msg->kind != MSG_CHUNK)
        return;
    CHECK_EQUAL(0, meter->bytes);
    meter->sent = world_now(lab->world);
    meter->bytes =
        msg_encode(message->msg, bytes) + 16 + message->payload->wire_bytes;
}

/* When so many bytes are through that are sent from `at` on. */
static double through(const struct trace_series *rate, nanos at, double bytes)
{
    for (;;) {
        double now = (double)series_at(rate, at);
        nanos next = series_next_change(rate, at);
        double room = now * (double)(next - at) / (double)SECOND;

        if (room >= bytes)
            return (double)at / (double)SECOND + bytes / now;
        bytes -= room;
        at = next;
    }
}

static void check_chunk(struct lab *lab, const struct world_step *step)
{
    struct meter *meter = lab->own;

    if (step->process != WORLD_HUB || step->event->kind != EVENT_MESSAGE ||
        step->event->msg->kind != MSG_CHUNK)
        return;
    CHECK_NEAR(through(meter->rate, meter->sent, (double)meter->bytes),
               (double)step->event->now / (double)SECOND, meter->slack);
    meter->bytes = 0;
    meter->came++;
}

/* One node, whose uploads are timed against this series for a minute. */
static void time_uploads(struct trace *trace, const struct trace_series *rate,
                         double slack)
{
    struct lab *lab = lab_new(ELEMENTS);
    struct meter meter = {.rate = rate, .slack = slack};

    lab->own = &meter;
    lab->after_step = check_chunk;
    lab->config.hooks.filter = note_chunk;
    lab->config.hub.chunk_elements = ELEMENTS;
    lab->config.link = (struct world_link){0};
    lab->config.trace = trace;
    lab_open(lab, 3);
    lab_add(lab, "n1", &drifting);
    CHECK(lab_run(lab, 60 * SECOND));
    CHECK(meter.came > 20);
    lab_destroy(&lab);
}

static void a_message_takes_the_bytes_that_the_trace_lets_through(void)
{
    struct trace *trace = trace_of("starswitch-trace 1\nspan 7s\n"
                                   "0s n1 up 40kB\n0.4s n1 up 90kB\n"
                                   "1.1s n1 up 0\n2.5s n1 up 200kB\n"
                                   "3s * up 1kB\n6.1s n1 up 75kB\nend\n");

    time_uploads(trace, &trace_find(trace, "n1")->series[QUANTITY_UP], 1e-7);
    trace_destroy(&trace);
}

static void the_port_of_the_hub_follows_the_trace(void)
{
    struct trace *trace = trace_of("starswitch-trace 1\nspan 5s\n"
                                   "0s hub up 60kB\n1.3s hub up 0\n"
                                   "2s hub up 150kB\n4s hub up 80kB\nend\n");

    /* pings have their share of it: some 70 bytes */
    time_uploads(trace, &trace->hub.series[QUANTITY_UP], 5e-3);
    trace_destroy(&trace);
}

static void the_way_down_has_a_rate_of_its_own(void)
{
    struct trace *trace = trace_of("starswitch-trace 1\nspan 5s\n"
                                   "0s * up 80kB\n0s * down 8kB\nend\n");
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.chunk_elements = 1000;
    lab->config.trace = trace;
    lab_open(lab, 3);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &drifting); /* alone it would know all results */
    lab_run(lab, 120 * SECOND);
    CHECK(lab->version > 8 && lab->version <= 12); /* 80 kB at 8 kB/s */
    finish(&lab, &trace);
}

static void what_the_trace_does_not_say_the_link_does(void)
{
    struct trace *trace = trace_of("starswitch-trace 1\nspan 100s\n"
                                   "2s n1 delay 30ms\n4s n1 up 5kB\n"
                                   "4s n1 jitter 1ms\n6s * loss 2%\nend\n");
    struct world_config config = {.link = {7, 8, 1000, 2000, 0},
                                  .trace = trace};
    struct world *world = world_new(1, &config);
    unsigned node = world_add_node(world, &(struct world_node){.name = "n1"});
    const struct world_link *link = world_link_now(world, node);

    CHECK(link->latency == 7 && link->jitter == 8 && link->up == 1000);
    CHECK(world_run(world, 5 * SECOND));
    CHECK(link->latency == 30 * MILLISECOND && link->jitter == MILLISECOND);
    CHECK(link->up == 5000 && link->down == 2000 && link->loss == 0);
    CHECK(world_run(world, 6 * SECOND));
    CHECK_NEAR(0.02, link->loss, 1e-12);
    CHECK(world_run(world, 100 * SECOND));
    CHECK(link->latency == 7 && link->up == 1000 && link->loss == 0);
    world_destroy(&world);
    trace_destroy(&trace);
}

/* ---- loss ---- */

/* E of the largest of `count` geometric variables, or of 2^it - 1. */
static double expected(double loss, double count, bool doubling)
{
    double sum = 0;

    for (int r = 1; r <= 10; r++)
        sum +=
            (doubling ? pow(2, r - 1) : 1) * (1 - pow(1 - pow(loss, r), count));
    return sum;
}

/* The mean of what loss adds to a message of so many packets, in seconds. */
static double mean_delay(const struct world_link *link, uint64_t packets,
                         bool last)
{
    struct prng prng;
    nanos sum = 0;

    prng_seed(&prng, 5);
    for (unsigned i = 0; i < DRAWS; i++)
        sum += loss_delay(&prng, link, packets * 1448, last);
    return (double)sum / (double)DRAWS / (double)SECOND;
}

static void loss_costs_what_its_closed_form_says(void)
{
    static const double rates[] = {0.001, 0.01, 0.1};
    const double trip = 0.04, timeout = 0.24;

    for (unsigned i = 0; i < 3; i++) {
        double p = rates[i];
        const struct world_link link = {19 * MILLISECOND, 2 * MILLISECOND, 0, 0,
                                        p};
        double one = timeout * expected(p, 1, true);
        double all = trip * expected(p, 997, false);
        double tail = timeout * expected(p, 3, true);

        CHECK_NEAR(one, mean_delay(&link, 1, true), 0.1 * one + 3e-5);
        CHECK_NEAR(tail, mean_delay(&link, 3, true), 0.1 * tail + 3e-5);
        CHECK_NEAR(all + tail, mean_delay(&link, 1000, true),
                   0.05 * (all + tail));
        CHECK_NEAR(trip * expected(p, 1000, false),
                   mean_delay(&link, 1000, false), 0.03 * all);
    }
}

static void without_loss_nothing_is_late_and_nothing_is_drawn(void)
{
    const struct world_link link = {.latency = SECOND};
    struct prng prng, before;

    prng_seed(&prng, 5);
    before = prng;
    CHECK_EQUAL(0, loss_delay(&prng, &link, 1000000, true));
    CHECK_EQUAL(0, loss_ceiling(&link));
    CHECK_EQUAL(0, memcmp(&prng, &before, sizeof prng));
}

/* 1.22 MSS / (RTT sqrt p) */
static void a_lossy_link_is_no_faster_than_congestion_avoidance(void)
{
    const struct world_link link = {.latency = 20 * MILLISECOND, .loss = 0.01};

    CHECK_NEAR(1.22 * 1448 / (0.04 * 0.1), (double)loss_ceiling(&link), 1);
}

/* ---- cuts ---- */

static void count_arrivals(struct lab *lab, const struct world_step *step)
{
    unsigned *came = lab->own;
    nanos now = step->event->now;

    if (step->process != WORLD_HUB)
        return;
    if (step->event->kind == EVENT_LEAVE)
        came[1]++;
    if (step->event->kind == EVENT_MESSAGE && now > 5010 * MILLISECOND &&
        now < 9 * SECOND)
        came[0]++;
}

/* Four nodes on a trace; what came meanwhile and who left, in `came`. */
static struct lab *star_on(const struct trace *trace, unsigned came[2])
{
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    struct lab *lab = lab_new(10);

    lab->own = came;
    lab->after_step = count_arrivals;
    lab->config.hub.every = 4;
    lab->config.trace = trace;
    lab_open(lab, 3);
    for (unsigned i = 0; i < 4; i++)
        lab_add(lab, names[i], &drifting);
    return lab;
}

/* Nothing passes, nobody is told, and all goes on: by a rate and by loss. */
static void a_cut_by_the_trace_is_silent_and_heals(void)
{
    static const char *const texts[] = {
        "starswitch-trace 1\nspan 1h\n5s * up 0\n9s * up 1MB\nend\n",
        "starswitch-trace 1\nspan 1h\n5s * down 0\n9s * down 1MB\nend\n",
        "starswitch-trace 1\nspan 1h\n5s * loss 1\n9s * loss 0\nend\n"};

    for (unsigned i = 0; i < 3; i++) {
        struct trace *trace = trace_of(texts[i]);
        unsigned came[2] = {0};
        struct lab *lab = star_on(trace, came);
        uint64_t before;

        CHECK(lab_run(lab, 9 * SECOND));
        before = lab->version;
        CHECK(before > 4);
        CHECK_EQUAL(0, came[0]);
        CHECK(lab_run(lab, 6 * SECOND));
        CHECK(lab->version > before + 5);
        CHECK_EQUAL(0, came[1]);
        finish(&lab, &trace);
    }
}

static unsigned here(struct lab *lab)
{
    const struct hub_view *view = lab_look(lab);
    unsigned count = 0;

    for (unsigned i = 0; i < view->count; i++)
        count += !view->nodes[i].gone && !view->nodes[i].silent;
    return count;
}

/* Two of four are away for longer than the hub waits: the others go on, and
 * then all are one star again. */
static void a_partition_goes_on_and_comes_together(void)
{
    struct trace *trace = trace_of("starswitch-trace 1\nspan 1h\n"
                                   "5s n3 up 0\n5s n4 loss 100%\n"
                                   "95s n3 up 1MB\n95s n4 loss 0\nend\n");
    unsigned came[2] = {0};
    struct lab *lab = star_on(trace, came);
    uint64_t before;

    CHECK(lab_run(lab, 5 * SECOND));
    before = lab->version;
    CHECK(lab_run(lab, 80 * SECOND));
    CHECK(lab->version > before + 100);
    CHECK_EQUAL(2, here(lab));
    CHECK(lab_run(lab, 30 * SECOND));
    CHECK_EQUAL(4, here(lab));
    before = trainer_iteration(world_trainer(lab->world, 3));
    CHECK(lab_run(lab, 10 * SECOND));
    CHECK(trainer_iteration(world_trainer(lab->world, 3)) > before + 50);
    finish(&lab, &trace);
}

static uint64_t history_of(const char *text, double loss)
{
    struct trace *trace = trace_of(text);
    unsigned came[2] = {0};
    struct lab *lab = lab_new(10);
    uint64_t history;

    lab->own = came;
    lab->config.link.loss = loss;
    lab->config.trace = trace;
    lab_open(lab, 3);
    lab_add(lab, "n1", &drifting);
    lab_run(lab, 20 * SECOND);
    history = world_history(lab->world);
    finish(&lab, &trace);
    return history;
}

static void the_same_trace_and_seed_give_the_same_history(void)
{
    static const char one[] = "starswitch-trace 1\nspan 3s\n0s * up 9kB\n"
                              "1s * delay 3ms\n2s n1 up 700B\nend\n";
    static const char other[] = "starswitch-trace 1\nspan 3s\n0s * up 9kB\n"
                                "1s * delay 3ms\n2s n1 up 600B\nend\n";

    CHECK(history_of(one, 0.05) == history_of(one, 0.05));
    CHECK(history_of(one, 0.05) != history_of(other, 0.05));
    CHECK(history_of(one, 0.05) != history_of(one, 0.06));
}

void add_sim_links_tests(CU_pSuite suite)
{
    TEST(a_node_is_heard_after_the_trips_of_a_greeting);
    TEST(a_message_takes_the_bytes_that_the_trace_lets_through);
    TEST(the_port_of_the_hub_follows_the_trace);
    TEST(the_way_down_has_a_rate_of_its_own);
    TEST(what_the_trace_does_not_say_the_link_does);
    TEST(loss_costs_what_its_closed_form_says);
    TEST(without_loss_nothing_is_late_and_nothing_is_drawn);
    TEST(a_lossy_link_is_no_faster_than_congestion_avoidance);
    TEST(a_cut_by_the_trace_is_silent_and_heals);
    TEST(a_partition_goes_on_and_comes_together);
    TEST(the_same_trace_and_seed_give_the_same_history);
}
