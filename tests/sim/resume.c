/* A hub that is killed goes on as if nothing had been (T27), on the star. */
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 6, EVERY = 5, ENOUGH = 60 };

/* Every update is the same, so that the parameters depend on how many
 * there were, and on what the merge rule keeps, and on nothing else. */
static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

static struct lab *star(const char *preset, const struct gate_rule *gate)
{
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.policy = preset_find(preset)->policy;
    lab->config.hub.policy.gate = gate;
    lab->config.hub.policy.numbers.early = 0.3;
    lab->config.hub.every = EVERY;
    lab->config.hub.nodes = 2;
    lab->config.hub.save_interval = 100 * MILLISECOND;
    lab->config.reconnect = 10 * MILLISECOND; /* within an iteration */
    lab_open(lab, 27);
    (void)lab_describe(lab, "n1", &drifting);
    (void)lab_describe(lab, "n2", &drifting);
    world_start(lab->world, 0);
    CHECK(lab_run(lab, 370 * MILLISECOND));
    world_start(lab->world, 1);
    return lab;
}

/* Everything is merged and saved, and the nodes are training: the hub ticks
 * every 250 ms, and n1 has offered at most so long ago, n2 will in 120 ms. */
static bool at_rest(void *context, struct world *world)
{
    static struct hub_view view;
    const struct lab *lab = context;

    hub_look(world_hub(world), world_now(world), &view);
    return view.version > 6 && view.version % 2 == 1 &&
           lab->version == view.version && world_saved(world)->count &&
           world_saved(world)->version == view.version;
}

static void check_resumed(const char *preset, const struct gate_rule *gate,
                          unsigned slots)
{
    struct lab *undisturbed = star(preset, gate), *lab = star(preset, gate);
    unsigned differing = 0;
    uint64_t at;

    CHECK(lab_run_rounds(undisturbed, ENOUGH));
    CHECK(world_run_until(lab->world, 100 * SECOND, at_rest, lab));
    at = lab->version;
    for (unsigned i = 0; i < POLICY_SLOTS; i++)
        CHECK_EQUAL(i < slots, world_saved(lab->world)->slot[i] != NULL);
    world_crash(lab->world, WORLD_HUB, false);
    world_start(lab->world, WORLD_HUB);
    CHECK(lab_run_rounds(lab, ENOUGH));
    for (uint64_t i = at + 1; i <= ENOUGH; i++)
        differing += lab_differing(lab, i, lab_values(undisturbed, i));
    CHECK_EQUAL(0, differing);
    lab_destroy(&lab);
    lab_destroy(&undisturbed);
}

static void t27_momentum(void)
{
    check_resumed("diloco", &gate_sync, 1);
}

static void t27_delayed(void)
{
    check_resumed("delayed", &gate_async, 2);
}

static void t27_adam(void)
{
    check_resumed("adam", &gate_sync, 2);
}

void add_sim_resume_tests(CU_pSuite suite)
{
    TEST(t27_momentum);
    TEST(t27_delayed);
    TEST(t27_adam);
}
