/* What must hold on the virtual star whatever the policy is. Machines are asked
 * for their invariants after each step. */
#include <string.h>

#include "hub/configure.h"
#include "tests/check.h"
#include "tests/sim/policy_sweep.h"

/* Chunks are late, and come twice. */
static void disturb(void *context, const struct world_message *message,
                    struct world_fate *fate)
{
    sweep_count(context, message, fate);
    if (message->msg->kind != MSG_CHUNK || message->msg->chunk.exchange == 0)
        return;
    fate->delay = (nanos)(message->node * 7 % 4) * 30 * MILLISECOND;
    fate->copies = 2;
    fate->apart = 45 * MILLISECOND;
}

static void run_disturbed(const struct policy *policy, struct seen *seen,
                          uint64_t seed, bool disturbed)
{
    struct lab *lab = sweep_lab(policy, seen);

    lab->config.link.latency = (nanos)seed * MILLISECOND / 2;
    lab->config.link.jitter = (nanos)seed * MILLISECOND;
    if (disturbed)
        lab->config.hooks.filter = disturb;
    sweep_open(lab, seed, SWEEP_NODES);
    (void)lab_run(lab, 8 * SECOND);
    lab_destroy(&lab);
}

/* Which of the nodes a round has is a question of time there. */
static bool goes_by_time(const struct policy *policy)
{
    return policy->gate->slack;
}

static bool arrival_does_not_matter(const struct policy *policy)
{
    struct seen first, second, third;

    if (!policy->gate->batch || goes_by_time(policy))
        return true;
    run_disturbed(policy, &first, 1, false);
    run_disturbed(policy, &second, 2, false);
    run_disturbed(policy, &third, 3, true);
    for (unsigned i = 0; i < SWEEP_NODES; i++) {
        size_t size = sizeof first.offered[i].bits;

        if (first.offered[i].count < SWEEP_COMPARED ||
            memcmp(first.offered[i].bits, second.offered[i].bits, size) != 0 ||
            memcmp(first.offered[i].bits, third.offered[i].bits, size) != 0)
            return false;
    }
    return true;
}

static void the_order_of_arrival_does_not_matter(void)
{
    policy_sweep(arrival_does_not_matter);
    sweep_codecs(arrival_does_not_matter);
}

/* `nodes` that all want the same, without losses. */
static void run_alike(const struct policy *policy, unsigned nodes,
                      struct seen *seen)
{
    struct lab *lab = sweep_lab(policy, seen);

    lab->config.hub.nodes = nodes;
    lab_open(lab, 1);
    for (unsigned i = 0; i < nodes; i++)
        sweep_add(lab, i, 0);
    (void)lab_run(lab, 8 * SECOND);
    lab_destroy(&lab);
}

/* With one node the centre is that node's; with nodes that are alike it is
 * what one of them alone would come to. */
static bool alike_are_as_one(const struct policy *policy)
{
    const struct policy mean = preset_find("mean")->policy;
    bool averages = policy->exchange == EXCHANGE_DELTA &&
                    policy->merge == &merge_mean && policy->gate->batch &&
                    !goes_by_time(policy) && policy->numbers.outer_lr == 1 &&
                    policy->numbers.outer_momentum == 0;
    struct seen expected, one, all;

    run_alike(&mean, 1, &expected);
    run_alike(policy, 1, &one);
    run_alike(policy, SWEEP_NODES, &all);
    if (one.offered[0].count < SWEEP_COMPARED ||
        one.decided[0] < SWEEP_COMPARED ||
        all.decided[SWEEP_NODES - 1] < SWEEP_COMPARED)
        return false;
    return !averages ||
           (memcmp(expected.offered[0].bits, one.offered[0].bits,
                   sizeof one.offered[0].bits) == 0 &&
            memcmp(expected.offered[0].bits, all.offered[SWEEP_NODES - 1].bits,
                   sizeof one.offered[0].bits) == 0);
}

static void one_node_and_nodes_that_are_alike_come_to_the_same(void)
{
    policy_sweep(alike_are_as_one);
    sweep_codecs(alike_are_as_one);
}

/* Whether all nodes exchange at least so often within a span. */
static bool all_exchange(struct lab *lab, nanos span, unsigned least)
{
    const struct seen before = *(const struct seen *)lab->own;
    const struct seen *now = lab->own;

    if (!lab_run(lab, span))
        return false;
    for (unsigned i = 0; i < SWEEP_NODES; i++)
        if (now->decided[i] < before.decided[i] + least)
            return false;
    return sweep_finite(lab, SWEEP_NODES);
}

static void lose_second(void *context, struct world *world)
{
    (void)context;
    world_crash(world, 1, false);
}

static void lose_third(void *context, struct world *world)
{
    (void)context;
    world_crash(world, 2, true);
}

static void start_both(void *context, struct world *world)
{
    (void)context;
    world_start(world, 1);
    world_start(world, 2);
}

/* Chunks take 20 ms each, so that these moments are in the middle of rounds. */
static bool survives_losses(const struct policy *policy, enum codec_id down,
                            enum miss miss)
{
    struct seen seen;
    struct lab *lab = sweep_lab(policy, &seen);
    bool held;
    unsigned before;

    lab->config.hub.codec_down = down;
    lab->config.hub.miss = miss;
    lab->config.hub.delay = miss == MISS_CUT ? SWEEP_EVERY / 2 : 0;
    lab->config.link.up = lab->config.link.down = 2000;
    sweep_open(lab, 1, SWEEP_NODES);
    world_at(lab->world, 2030 * MILLISECOND, lose_second, lab);
    world_at(lab->world, 4050 * MILLISECOND, lose_third, lab);
    world_at(lab->world, 16 * SECOND, start_both, lab);
    (void)lab_run(lab, 9 * SECOND);
    before = seen.decided[0];
    (void)lab_run(lab, 7 * SECOND);
    held = seen.decided[0] > before + 4;
    held &= all_exchange(lab, 10 * SECOND, 3);
    lab_destroy(&lab);
    return held;
}

static bool losses_are_survived(const struct policy *policy)
{
    return survives_losses(policy, CODEC_RAW, MISS_LATE);
}

static void a_member_that_is_lost_in_a_round_stops_nobody(void)
{
    policy_sweep(losses_are_survived);
    sweep_codecs(losses_are_survived);
}

static bool losses_of_changes_are_survived(const struct policy *policy)
{
    return configure_changes_conflict(policy) ||
           survives_losses(policy, CODEC_INT8, MISS_LATE);
}

static bool losses_among_cuts_are_survived(const struct policy *policy)
{
    const struct hub_config config = {.policy = *policy};

    return configure_cut_conflict(&config) ||
           (survives_losses(policy, CODEC_RAW, MISS_CUT) &&
            (configure_changes_conflict(policy) ||
             survives_losses(policy, CODEC_INT8, MISS_CUT)));
}

static void nor_does_it_where_exchanges_are_cut(void)
{
    policy_sweep(losses_among_cuts_are_survived);
    sweep_codecs(losses_among_cuts_are_survived);
}

static void t20_nor_does_it_where_results_are_changes(void)
{
    policy_sweep(losses_of_changes_are_survived);
}

static bool nan_never_leads(const struct policy *policy)
{
    struct seen seen;
    struct lab *lab = sweep_lab(policy, &seen);
    bool held;

    sweep_open(lab, 1, SWEEP_MOST);
    (void)lab_run(lab, 6 * SECOND);
    held = all_exchange(lab, 8 * SECOND, 4) && sweep_finite(lab, SWEEP_MOST) &&
           seen.offered[SWEEP_MOST - 1].count > SWEEP_COMPARED;
    lab_destroy(&lab);
    return held;
}

static void a_node_that_diverges_is_not_merged_and_takes_the_centre(void)
{
    policy_sweep(nan_never_leads);
    sweep_codecs(nan_never_leads);
}

static void freeze(void *context, struct world *world)
{
    (void)context;
    world_freeze(world, 1);
}

static void thaw(void *context, struct world *world)
{
    (void)context;
    world_thaw(world, 1);
}

static bool stale_ones_come_back(const struct policy *policy)
{
    struct seen seen;
    struct lab *lab = sweep_lab(policy, &seen);
    bool held;

    lab->config.hub.staleness = 1;
    sweep_open(lab, 1, SWEEP_NODES);
    world_at(lab->world, 2 * SECOND, freeze, lab);
    world_at(lab->world, 10 * SECOND, thaw, lab);
    (void)lab_run(lab, 12 * SECOND);
    held = all_exchange(lab, 8 * SECOND, 4);
    lab_destroy(&lab);
    return held;
}

static void whoever_is_stale_beyond_the_bound_comes_back(void)
{
    policy_sweep(stale_ones_come_back);
    sweep_codecs(stale_ones_come_back);
}

static bool it_ends(const struct policy *policy, uint64_t delay,
                    enum codec_id down)
{
    struct seen seen;
    struct lab *lab = sweep_lab(policy, &seen);
    struct hub_view view;
    unsigned lasts = policy->exchange == EXCHANGE_GRADIENT ? 0 : 1;
    bool held;

    lab->config.hub.iterations = 40;
    lab->config.hub.delay = delay;
    lab->config.hub.codec_down = down;
    sweep_open(lab, 1, SWEEP_NODES);
    held = lab_run_to_end(lab) && lab_run(lab, 2 * SECOND);
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    held &= view.training < 8 * SECOND &&
            world_saved(lab->world)->version == view.version;
    for (unsigned i = 0; i < SWEEP_NODES; i++)
        held &= seen.lasts[i] == lasts &&
                seen.decided[i] >= 40 / SWEEP_EVERY - 3 &&
                node_ended(world_node(lab->world, i));
    held &= sweep_finite(lab, SWEEP_NODES);
    lab_destroy(&lab);
    return held;
}

static bool runs_end(const struct policy *policy)
{
    return it_ends(policy, 0, CODEC_RAW) && it_ends(policy, 2, CODEC_RAW) &&
           it_ends(policy, SWEEP_EVERY, CODEC_RAW) &&
           it_ends(policy, 10, CODEC_RAW) &&
           (configure_changes_conflict(policy) ||
            (it_ends(policy, 0, CODEC_INT8) &&
             it_ends(policy, 10, CODEC_INT8)));
}

static void runs_end_with_the_last_offer_of_all_at_any_delay(void)
{
    policy_sweep(runs_end);
    sweep_codecs(runs_end);
}

static void crash_hub(void *context, struct world *world)
{
    (void)context;
    world_crash(world, WORLD_HUB, false);
}

static void start_hub(void *context, struct world *world)
{
    (void)context;
    world_start(world, WORLD_HUB);
}

static bool the_hub_goes_on(const struct policy *policy)
{
    struct seen seen;
    struct lab *lab = sweep_star(policy, &seen);
    uint64_t saved;
    bool held;

    world_at(lab->world, 4020 * MILLISECOND, crash_hub, lab);
    world_at(lab->world, 5 * SECOND, start_hub, lab);
    (void)lab_run(lab, 4500 * MILLISECOND);
    saved = world_saved(lab->world)->version;
    (void)lab_run(lab, 3 * SECOND);
    held = saved > 0 && all_exchange(lab, 8 * SECOND, 4) &&
           world_saved(lab->world)->version >= saved;
    lab_destroy(&lab);
    return held;
}

static void a_hub_that_is_started_again_goes_on(void)
{
    policy_sweep(the_hub_goes_on);
    sweep_codecs(the_hub_goes_on);
}

void add_sim_conformance_tests(CU_pSuite suite)
{
    TEST(the_order_of_arrival_does_not_matter);
    TEST(one_node_and_nodes_that_are_alike_come_to_the_same);
    TEST(a_member_that_is_lost_in_a_round_stops_nobody);
    TEST(t20_nor_does_it_where_results_are_changes);
    TEST(nor_does_it_where_exchanges_are_cut);
    TEST(a_node_that_diverges_is_not_merged_and_takes_the_centre);
    TEST(whoever_is_stale_beyond_the_bound_comes_back);
    TEST(runs_end_with_the_last_offer_of_all_at_any_delay);
    TEST(a_hub_that_is_started_again_goes_on);
}
