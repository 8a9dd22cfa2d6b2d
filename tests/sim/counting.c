/* What was learnt is in the centre, to the last step. Each node counts its
 * iterations in an element of its own, so whatever is lost, merged twice or
 * averaged away at the end of a run can be told by who made it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 4, ELEMENTS = 8, MOST_OFFERS = 512 };

static const struct count own[NODES] = {{0}, {2}, {5}, {7}};
static const char *const names[NODES] = {"n1", "n2", "n3", "n4"};

/* At which iteration each node made its offers. */
struct tale {
    uint64_t iteration[NODES][MOST_OFFERS];
    unsigned offers[NODES];
    unsigned last[NODES]; /* offers that were the last */
};

static void note_offer(void *context, const struct world_message *message,
                       struct world_fate *fate)
{
    const struct lab *lab = context;
    struct tale *tale = lab->own;
    unsigned *offers = &tale->offers[message->node];

    (void)fate;
    if (message->msg->kind != MSG_OFFER || *offers == MOST_OFFERS)
        return;
    tale->iteration[message->node][(*offers)++] = message->msg->offer.iteration;
    tale->last[message->node] += message->msg->offer.last;
}

static uint64_t steps_of(struct lab *lab, unsigned node)
{
    return trainer_iteration(world_trainer(lab->world, node));
}

static struct lab *counting_lab(const char *policy, uint64_t every,
                                uint64_t delay)
{
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.policy = preset_find(policy)->policy;
    lab->config.hub.policy.numbers.clip = 8; /* with k = 1 one that is late is
                                                three times as long */
    lab->config.hub.every = every;
    lab->config.hub.delay = delay;
    lab->config.hub.nodes = NODES;
    lab->config.hooks.filter = note_offer;
    lab->samples = 0;
    return lab;
}

/* Until the hub ends the run, at a moment that is no moment of a round. */
static void count_to_the_end(struct lab *lab, struct tale *tale, uint64_t seed)
{
    *tale = (struct tale){.offers = {0}};
    lab->own = tale;
    lab_open(lab, seed);
    for (unsigned i = 0; i < NODES; i++)
        lab_add(lab, names[i],
                &(struct model){trainer_count, &own[i], 1,
                                (100 + (nanos)i) * MILLISECOND, NULL, NULL});
    (void)lab_run(lab, 8 * SECOND + (nanos)(seed % 16) * 73 * MILLISECOND);
    world_leave(lab->world, WORLD_HUB);
    (void)lab_run_to_end(lab);
}

/* With what averaged steps have still to move it by. */
static double centre_of(struct lab *lab, unsigned node)
{
    const struct world_saved *saved = world_saved(lab->world);
    const struct policy *policy = &lab->config.hub.policy;
    double theta = (double)saved->theta[own[node].element];

    if (policy->merge != &merge_schedule_free || !saved->slot[0])
        return theta;
    return theta + policy->numbers.outer_momentum *
                       (double)saved->slot[0][own[node].element];
}

static void say_where(const char *policy, uint64_t every, uint64_t delay)
{
    (void)printf("    --policy %s --every %u --delay %u\n", policy,
                 (unsigned)every, (unsigned)delay);
}

typedef void check(struct lab *lab, const struct tale *tale);

/* For several k, d in {0, 3, k, 2k}, another moment of the end each time. */
static void for_all_delays(const char *policy, void (*change)(struct lab *lab),
                           check *judge)
{
    static const uint64_t everies[] = {1, 4, 7};
    uint64_t seed = 1;

    for (unsigned i = 0; i < 3; i++) {
        const uint64_t every = everies[i];
        const uint64_t delays[] = {0, 3, every, 2 * every};

        for (unsigned j = 0; j < 4; j++, seed += 3) {
            struct lab *lab = counting_lab(policy, every, delays[j]);
            struct tale tale;
            unsigned failed = CU_get_number_of_failures();

            if (change)
                change(lab);
            count_to_the_end(lab, &tale, seed);
            judge(lab, &tale);
            if (CU_get_number_of_failures() != failed)
                say_where(policy, every, delays[j]);
            lab_destroy(&lab);
        }
    }
}

static double lr_of(const struct lab *lab)
{
    return lab->config.hub.policy.numbers.outer_lr;
}

/* The mean of n is the sum divided by n. */
static void everything_is_in_it(struct lab *lab, const struct tale *tale)
{
    for (unsigned i = 0; i < NODES; i++) {
        CHECK(steps_of(lab, i) > 40);
        CHECK_NEAR(lr_of(lab) * (double)steps_of(lab, i) / NODES,
                   centre_of(lab, i), 0);
        CHECK_EQUAL(1, tale->last[i]);
    }
}

/* As float32 allows where values are not dyadic. */
static void everything_is_nearly_in_it(struct lab *lab, const struct tale *tale)
{
    for (unsigned i = 0; i < NODES; i++) {
        double learnt = lr_of(lab) * (double)steps_of(lab, i) / NODES;

        CHECK_NEAR(learnt, centre_of(lab, i), 1e-4 * learnt);
        CHECK_EQUAL(1, tale->last[i]);
    }
}

static void all_the_way_at_once(struct lab *lab)
{
    lab->config.hub.policy.numbers.pull = 1;
    lab->config.hub.policy.numbers.outer_lr = 1;
    lab->config.hub.policy.numbers.outer_momentum = 0;
}

static void nothing_is_lost_by_averages_of_all(void)
{
    for_all_delays("mean", NULL, everything_is_in_it);
    for_all_delays("auto", all_the_way_at_once, everything_is_in_it);
    for_all_delays("auto", NULL, everything_is_nearly_in_it);
    for_all_delays("async", NULL, everything_is_in_it);
}

static void forget_momentum(struct lab *lab)
{
    lab->config.hub.policy.numbers.outer_momentum = 0;
    lab->config.hub.policy.numbers.outer_lr = 0.5;
}

static void take_a_quorum(struct lab *lab)
{
    lab->config.hub.policy.gate = &gate_quorum;
    lab->config.hub.policy.numbers.quorum = 0.5;
    lab->config.hub.policy.numbers.grace = 0.05;
}

static void count_iterations(struct lab *lab)
{
    lab->config.hub.policy.gate = &gate_counted;
}

static void nothing_is_lost_whatever_the_gate(void)
{
    for_all_delays("delayed", forget_momentum, everything_is_in_it);
    for_all_delays("mean", take_a_quorum, everything_is_in_it);
    for_all_delays("mean", count_iterations, everything_is_in_it);
}

static void take_fragments(struct lab *lab)
{
    lab->config.hub.fragments = lab->config.hub.every > 1 ? 2 : 1;
}

/* Of a chunk that n of N deliver in time, n/N is the share of all. */
static void cut_what_is_late(struct lab *lab)
{
    lab->config.hub.policy.gate = &gate_quorum;
    lab->config.hub.policy.numbers.quorum = 1;
    lab->config.hub.miss = MISS_CUT;
}

static void nothing_is_lost_of_parts(void)
{
    for_all_delays("mean", take_fragments, everything_is_in_it);
    for_all_delays("mean", cut_what_is_late, everything_is_in_it);
}

static void encode_both_ways(struct lab *lab)
{
    lab->config.hub.codec_up = lab->config.hub.codec_down = CODEC_INT8;
}

static void encode_coarsely(struct lab *lab)
{
    lab->config.hub.codec_up = CODEC_SIGN;
}

static void what_codecs_leave_out_is_given_at_the_end(void)
{
    for_all_delays("mean", encode_both_ways, everything_is_nearly_in_it);
    for_all_delays("mean", encode_coarsely, everything_is_nearly_in_it);
}

/* Round j has the j-th offer of each node, the last one all that is left. */
static double in_round(const struct tale *tale, unsigned node, uint64_t round,
                       uint64_t rounds, uint64_t steps)
{
    uint64_t before =
        round ? tale->iteration[node][(round - 1) % MOST_OFFERS] : 0;
    uint64_t then =
        round + 1 < rounds ? tale->iteration[node][round % MOST_OFFERS] : steps;

    return (double)then - (double)before;
}

/* theta += lr (D + mu m), m = mu m + D. */
static void every_outer_step_is_made(struct lab *lab, const struct tale *tale)
{
    double mu = lab->config.hub.policy.numbers.outer_momentum;
    uint64_t rounds = world_saved(lab->world)->version;

    for (unsigned i = 0; i < NODES; i++) {
        double theta = 0, velocity = 0;

        for (uint64_t j = 0; j < rounds; j++) {
            double mean =
                in_round(tale, i, j, rounds, steps_of(lab, i)) / NODES;

            velocity = mu * velocity + mean;
            theta += lr_of(lab) * (mean + mu * velocity);
        }
        CHECK(theta > 0);
        CHECK_NEAR(theta, centre_of(lab, i), 1e-4 * theta);
    }
}

static void nothing_is_lost_by_outer_steps(void)
{
    for_all_delays("diloco", NULL, every_outer_step_is_made);
}

static void take_a_dyadic_rate(struct lab *lab)
{
    lab->config.hub.policy.numbers.outer_lr = 0.5;
}

/* A step is made by all or by nobody: those that not all have offered when the
 * run ends are the last few, and nobody's alone moves the centre. */
static void every_step_is_of_all(struct lab *lab, const struct tale *tale)
{
    uint64_t rounds = world_saved(lab->world)->version;
    uint64_t every = lab->config.hub.every, delay = lab->config.hub.delay;

    for (unsigned i = 0; i < NODES; i++) {
        CHECK_NEAR(lr_of(lab) * (double)rounds / NODES, centre_of(lab, i), 0);
        CHECK(rounds <= tale->offers[i]);
        CHECK(rounds + (delay + every - 1) / every + 1 >= tale->offers[i]);
        CHECK_EQUAL(0, tale->last[i]);
    }
}

static void gradients_end_with_a_step_of_all(void)
{
    for_all_delays("ddp", take_a_dyadic_rate, every_step_is_of_all);
}

/* Each leaves by itself, once it has done this many: the last gradient of ddp
 * is nobody's step. */
enum { OWN_END = 60 };

struct seat {
    struct lab *lab;
    unsigned node;
};

static void leave_in_time(void *observer, const struct trainer_look *look)
{
    const struct seat *seat = observer;

    if (look->moment == TRAINER_STEPPED && look->iteration == OWN_END)
        world_leave(seat->lab->world, seat->node);
}

static void who_leaves_by_itself_takes_nothing_along(void)
{
    static const char *const policies[] = {"mean", "ddp"};

    for (unsigned i = 0; i < 2; i++) {
        struct lab *lab = counting_lab(policies[i], 1, 0);
        struct seat seats[NODES];
        struct tale tale = {.offers = {0}};

        take_a_dyadic_rate(lab);
        lab->own = &tale;
        lab_open(lab, 3);
        for (unsigned j = 0; j < NODES; j++) {
            seats[j] = (struct seat){lab, j};
            lab_add(lab, names[j],
                    &(struct model){trainer_count, &own[j], 1,
                                    100 * MILLISECOND, leave_in_time,
                                    &seats[j]});
        }
        (void)lab_run(lab, 20 * SECOND);
        world_leave(lab->world, WORLD_HUB);
        (void)lab_run_to_end(lab);
        for (unsigned j = 0; j < NODES; j++)
            CHECK_NEAR(0.5 * (OWN_END - i) / NODES, centre_of(lab, j), 0);
        lab_destroy(&lab);
    }
}

void add_sim_counting_tests(CU_pSuite suite)
{
    TEST(nothing_is_lost_by_averages_of_all);
    TEST(nothing_is_lost_whatever_the_gate);
    TEST(nothing_is_lost_of_parts);
    TEST(what_codecs_leave_out_is_given_at_the_end);
    TEST(nothing_is_lost_by_outer_steps);
    TEST(gradients_end_with_a_step_of_all);
    TEST(who_leaves_by_itself_takes_nothing_along);
}
