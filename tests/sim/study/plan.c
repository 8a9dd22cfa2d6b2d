/* The closed forms against worked figures: P, N and codec, on links of 1
 * Gbit/s of which TCP leaves 117.7 MB/s, unless a test says otherwise. */
#include <math.h>

#include "codec/codec.h"
#include "sim/study/plan.h"
#include "tests/check.h"

static const double gigabit = 117.7e6, infinite = 1e30;

/* Chunks of 1 MiB; the table's latency is too small to be seen. */
static struct plan_star star_of(unsigned nodes, double params, double step)
{
    return (struct plan_star){.nodes = nodes,
                              .params = params,
                              .step = step,
                              .slowest = step,
                              .fastest = step,
                              .port = gigabit,
                              .link = infinite,
                              .chunk = 1 << 20,
                              .k_half = 400,
                              .noise_scale = 32};
}

static void exchanges_take_what_the_table_says(void)
{
    static const struct {
        double params, bytes;
        unsigned nodes;
        double pipelined, serial, tolerance;
    } rows[] = {
        {1e6, 4, 8, 0.34, 0.54, 0.005}, {1e6, 1, 8, 0.14, 0.14, 0.005},
        {1e7, 4, 4, 1.4, 2.7, 0.05},    {1e7, 4, 8, 2.8, 5.4, 0.05},
        {1e7, 1, 8, 0.75, 1.36, 0.005}, {1e7, 1, 16, 1.5, 2.7, 0.05},
        {1e8, 4, 8, 27, 54, 0.5},       {1e8, 1, 8, 6.9, 13.6, 0.05},
        {1e8, 1, 16, 13.7, 27, 0.2},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_star star = star_of(rows[i].nodes, rows[i].params, 0.1);
        double size = rows[i].params * rows[i].bytes;

        CHECK_NEAR(rows[i].pipelined,
                   plan_pipelined(&star, size, size, star.chunk),
                   rows[i].tolerance);
        CHECK_NEAR(rows[i].serial, plan_serial(&star, size, size),
                   rows[i].tolerance);
    }
}

static void payloads_are_those_of_the_codecs(void)
{
    struct plan_star star = star_of(8, 1 << 20, 0.1);

    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        double bound = (double)codecs[i].bound(1 << 20);

        CHECK_NEAR(1, plan_payload(&star, (enum codec_id)i) / bound, 0.02);
    }
}

static void a_slow_link_counts_where_it_is_slower_than_its_share(void)
{
    struct plan_star star = star_of(4, 1e7, 0.1);
    double before = plan_pipelined(&star, 1e7, 1e7, 0);

    star.link = gigabit / 3;
    CHECK_NEAR(before, plan_pipelined(&star, 1e7, 1e7, 0), 1e-9);
    star.link = gigabit / 8;
    CHECK_NEAR(before + 4e7 / gigabit, plan_pipelined(&star, 1e7, 1e7, 0),
               1e-9);
}

/* The queue's worked example: half a port in use, S/(2R) more. */
static void a_node_that_comes_alone_waits_for_its_own_payloads(void)
{
    struct plan_star star = star_of(8, 1e7, 0.1);
    double every = 8 * 1e7 / (gigabit * 0.1 * 0.5);

    star.latency = 0.001;
    CHECK_NEAR(0.002 + 2e7 / gigabit + 1e7 / (2 * gigabit),
               plan_staggered(&star, 1e7, 1e7, every), 1e-6);
    CHECK_NEAR(0.002 + 2e7 / gigabit, plan_staggered(&star, 1e7, 1e7, 1e9),
               1e-6);
    /* With more than the port carries everybody waits for all the others. */
    CHECK_NEAR(0.002 + 2e7 / gigabit + 7 * 1e7 / gigabit,
               plan_staggered(&star, 1e7, 1e7, 1), 1e-6);
}

static void the_last_of_n_is_where_tables_have_it(void)
{
    static const struct {
        unsigned n;
        double expected;
    } rows[] = {{1, 0},      {2, 0.5642},  {3, 0.8463},   {4, 1.0294},
                {8, 1.4236}, {16, 1.7660}, {100, 2.5076}, {1000, 3.2414}};

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_NEAR(rows[i].expected, plan_expected_max(rows[i].n), 2e-4);
}

static void t26_the_plan_has_the_share_that_stars_are_used(void)
{
    static const double expected[] = {0.769, 0.833, 0.909, 1, 1};
    struct plan_star star = star_of(8, 1e7, 0.1);
    double lag;

    star.cv = 0.1;
    lag = plan_lag(&star, 50, false);
    CHECK_NEAR(0.1 * 0.1 * sqrt(50) * 1.4236, lag, 1e-4);
    for (unsigned i = 0; i < 5; i++)
        CHECK_NEAR(expected[i],
                   plan_used(50 * 0.1, plan_stall(1.4, lag, 5 * i * 0.1)),
                   0.0006);
}

/* A round of 20 steps of 0.1 s, where the slowest takes 0.15 s. */
static void a_straggler_lets_others_wait_unless_it_does_less(void)
{
    struct plan_star star = star_of(2, 1e6, 0.1);

    star.slowest = 0.15;
    CHECK_NEAR(1, plan_lag(&star, 20, false), 1e-9);
    CHECK_NEAR(0, plan_lag(&star, 20, true), 1e-9);
    CHECK_NEAR(0.05, plan_lag(&star, 1, true), 1e-9); /* it does one */
}

/* int8 up and bf16 down, with 70 % of the port for traffic; d at all of it. */
static void k_and_d_have_the_floors_of_the_worked_figures(void)
{
    static const struct {
        double params;
        unsigned nodes, every, delay;
    } rows[] = {{1e7, 4, 10, 8},  {1e7, 8, 20, 15},   {1e7, 16, 39, 29},
                {1e8, 4, 98, 69}, {1e8, 8, 195, 137}, {1e8, 16, 389, 274}};

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_star star = star_of(rows[i].nodes, rows[i].params, 0.1);
        double up = plan_payload(&star, CODEC_INT8);
        double down = plan_payload(&star, CODEC_BF16);

        CHECK_EQUAL(
            rows[i].delay,
            ceil(plan_pipelined(&star, up, down, star.chunk) / star.step));
        star.port *= 0.7;
        CHECK_EQUAL(rows[i].every, ceil(plan_floor(&star, up, down)));
    }
}

/* P = 1e7, N = 8, int8: T_c = 0.75 s, t = 0.1 s, k_half = 400. */
static void the_best_k_is_that_of_the_worked_example(void)
{
    CHECK_NEAR(55, plan_best_every(400, 0.75, 0.1, false), 0.5);
    CHECK_NEAR(39, plan_best_every(400, 0.75, 0.1, true), 0.5);
    CHECK_NEAR(0.29, plan_overhead(400, 0.75, 0.1, false), 0.005);
    CHECK_NEAR(0.20, plan_overhead(400, 0.75, 0.1, true), 0.005);
    /* All-reduce of float32 uses 3.4 % of its PCs: 24 times as slow. */
    CHECK_NEAR(0.034, plan_used(0.1, 2.8), 0.0006);
    CHECK_NEAR(24,
               (1 / plan_used(0.1, 2.8)) /
                   (1 + plan_overhead(400, 0.75, 0.1, true)),
               0.2);
}

/* k* is where the time to the target is least, by the forecast itself. */
static void no_other_k_is_faster_than_the_best(void)
{
    struct plan_star star = star_of(8, 1e7, 0.1);
    struct plan_setting setting = {PLAN_DILOCO, false, true,       1,
                                   0,           1,     CODEC_INT8, CODEC_INT8};
    unsigned best = 0;
    double most = 0, exchange = 0;

    for (setting.every = 1; setting.every < 400; setting.every++) {
        struct plan plan;

        plan_predict(&star, &setting, &plan);
        exchange = plan.exchange;
        if (plan.speed_up > most) {
            most = plan.speed_up;
            best = setting.every;
        }
    }
    CHECK_NEAR(plan_best_every(400, exchange, 0.1, false), best, 0.6);
}

static void phi_k_is_near_what_was_measured(void)
{
    static const double k[] = {10, 50, 100, 200, 400};
    static const double measured[] = {1, 1.11, 1.25, 1.57, 1.89};
    struct plan_star star = star_of(8, 1, 1);
    struct plan first, plan;
    struct plan_setting setting = {.every = 10, .fragments = 1};
    plan_predict(&star, &setting, &first);
    for (unsigned i = 0; i < 5; i++) {
        setting.every = (unsigned)k[i];
        plan_predict(&star, &setting, &plan);
        CHECK_NEAR(measured[i], plan.phi_k / first.phi_k, 0.08 * measured[i]);
    }
}

static void fragments_are_as_many_as_flatten_the_traffic(void)
{
    CHECK_EQUAL(1, plan_fragments(1, 0.1, 20));
    CHECK_EQUAL(3, plan_fragments(1.5, 0.1, 20));
    CHECK_EQUAL(9, plan_fragments(1.8, 0.1, 20));
    CHECK_EQUAL(20, plan_fragments(3, 0.1, 20));
    CHECK_EQUAL(64, plan_fragments(30, 0.1, 100));
}

/* 25 MB each way take 8 x 25.4 / 117.7 = 1.73 s: 18 steps. */
static void what_is_hidden_costs_no_time(void)
{
    struct plan_star star = star_of(8, 25e6, 0.1);
    struct plan_setting setting = {PLAN_DILOCO, false, true,       50,
                                   19,          1,     CODEC_INT8, CODEC_INT8};
    struct plan plan;

    plan_predict(&star, &setting, &plan);
    CHECK(plan.hidden);
    CHECK_NEAR(10, plan.rate, 1e-9);
    CHECK_NEAR(25e6 * 8.125 / 8 / 5, plan.up, 1);
    setting.delay = 5;
    plan_predict(&star, &setting, &plan);
    CHECK(!plan.hidden);
    CHECK_NEAR(5 / (5 + plan.exchange - 0.5), plan.used, 1e-9);
}

static void what_is_late_costs_learning_instead_of_time(void)
{
    struct plan_star star = star_of(8, 25e6, 0.1);
    struct plan_setting setting = {PLAN_AUTO, false, false,      50,
                                   5,         1,     CODEC_INT8, CODEC_INT8};
    struct plan plan;

    plan_predict(&star, &setting, &plan);
    CHECK_NEAR(10, plan.rate, 1e-9);
    CHECK_NEAR(plan.exchange / 0.1, plan.delay, 1e-9);
    CHECK_NEAR(1 + PLAN_PSI * plan.delay / (50 + plan.delay), plan.phi_d, 1e-9);
    setting.policy = PLAN_DILOCO;
    plan_predict(&star, &setting, &plan);
    CHECK_NEAR(1 + PLAN_PSI_WHOLE * plan.delay / 50, plan.phi_d, 1e-9);
    /* Too often for the port, which takes 17.8 iterations. */
    setting.every = 10;
    plan_predict(&star, &setting, &plan);
    CHECK_NEAR(20, plan.every, 1e-9);
}

static void one_node_is_worth_less_than_itself_and_eight_less_than_eight(void)
{
    struct plan_star one = star_of(1, 1e6, 0.1);
    struct plan_star eight = star_of(8, 1e6, 0.1);

    CHECK_NEAR(1, plan_speed_up(&one, 10, 1), 1e-9);
    CHECK_NEAR(33.0 / 5, plan_speed_up(&eight, 10, 1), 1e-9);
    CHECK_NEAR(33.0 / 5, plan_with_noise(&eight, 33.0 / 5, 32), 1e-9);
    CHECK_NEAR(1, plan_with_noise(&eight, 33.0 / 5, 0), 1e-9);
    eight.noise_scale = 0;
    CHECK_NEAR(1, plan_speed_up(&eight, 10, 1), 1e-9);
    CHECK_NEAR(33.0 / 5, plan_with_noise(&eight, 1, 32), 1e-9);
}

/* The least k at steps of 0.2 s, for bytes per parameter of 4, 2, 1 and, of
 * the largest 1 %, 0.06. Of a gigabit 117 MB/s are payload. */
static void ap_13_the_least_k_is_that_of_the_table(void)
{
    static const double bytes[] = {4, 2, 1, 0.06};
    static const struct {
        double params;
        unsigned nodes;
        double rate;
        unsigned count, every[4];
    } rows[] = {
        {3.5e6, 8, 117e6, 4, {5, 3, 2, 1}},
        {25.6e6, 8, 117e6, 4, {36, 18, 9, 1}},
        {124e6, 8, 117e6, 4, {170, 85, 43, 3}},
        {124e6, 16, 117e6, 4, {340, 170, 85, 6}},
        {350e6, 16, 117e6, 4, {958, 479, 240, 15}},
        {3.5e6, 8, 1e9, 3, {1, 1, 1}},
        {25.6e6, 8, 1e9, 3, {5, 3, 2}},
        {124e6, 8, 1e9, 3, {20, 10, 5}},
        {124e6, 16, 1e9, 3, {40, 20, 10}},
        {350e6, 16, 1e9, 3, {112, 56, 28}},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned j = 0; j < rows[i].count; j++)
            CHECK_EQUAL(rows[i].every[j],
                        plan_least_every(rows[i].nodes, rows[i].params,
                                         bytes[j], rows[i].rate, 0.2));
}

/* With that k nobody stalls, if d is that and a latency more; with less in k
 * or d somebody does. */
static void ap_13_from_that_k_on_nobody_stalls(void)
{
    struct plan_star star = star_of(8, 25.6e6, 0.2);
    struct plan_setting setting = {PLAN_DILOCO, false, true,      0,
                                   0,           1,     CODEC_RAW, CODEC_RAW};
    struct plan plan;
    unsigned least = (unsigned)plan_least_every(8, 25.6e6, 4, gigabit, 0.2);

    star.chunk = 0;
    star.latency = 0.02;
    setting.every = least;
    setting.delay = least + 1;
    plan_predict(&star, &setting, &plan);
    CHECK(plan.hidden);
    setting.every = least - 1;
    plan_predict(&star, &setting, &plan);
    CHECK(!plan.hidden);
    setting.every = least;
    setting.delay = least - 1;
    plan_predict(&star, &setting, &plan);
    CHECK(!plan.hidden);
    CHECK(plan.stall > 0);
}

/* 2 (N - 1) / N of 4 MB over each link, in 2 (N - 1) trips; the hub's port is
 * no matter. */
static void all_reduce_is_a_ring(void)
{
    struct plan_star star = star_of(8, 1e6, 0.1);
    struct plan plan;

    star.link = 1e6;
    star.port = 1;
    star.latency = 0.01;
    plan_ring(&star, &plan);
    CHECK_NEAR(7e6, plan.up, 1);
    CHECK_NEAR(7e6, plan.down, 1);
    CHECK_NEAR(7 + 0.14, plan.exchange, 1e-9);
    CHECK_NEAR(0.1 / (0.1 + plan.stall), plan.used, 1e-9);
}

void add_sim_study_plan_tests(CU_pSuite suite)
{
    TEST(exchanges_take_what_the_table_says);
    TEST(payloads_are_those_of_the_codecs);
    TEST(a_slow_link_counts_where_it_is_slower_than_its_share);
    TEST(a_node_that_comes_alone_waits_for_its_own_payloads);
    TEST(the_last_of_n_is_where_tables_have_it);
    TEST(t26_the_plan_has_the_share_that_stars_are_used);
    TEST(a_straggler_lets_others_wait_unless_it_does_less);
    TEST(k_and_d_have_the_floors_of_the_worked_figures);
    TEST(the_best_k_is_that_of_the_worked_example);
    TEST(no_other_k_is_faster_than_the_best);
    TEST(phi_k_is_near_what_was_measured);
    TEST(fragments_are_as_many_as_flatten_the_traffic);
    TEST(what_is_hidden_costs_no_time);
    TEST(what_is_late_costs_learning_instead_of_time);
    TEST(one_node_is_worth_less_than_itself_and_eight_less_than_eight);
    TEST(ap_13_the_least_k_is_that_of_the_table);
    TEST(ap_13_from_that_k_on_nobody_stalls);
    TEST(all_reduce_is_a_ring);
}
