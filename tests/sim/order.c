/* The centre does not depend on what the network does with chunks. */
#include "core/prng.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 23, NODES = 4, ROUNDS = 40, EVERY = 3 };

static const char *const names[NODES] = {"n1", "n2", "n3", "n4"};
static float centres[NODES][ELEMENTS];
static const struct quadratic models[NODES] = {
    {1, centres[0]}, {0.5, centres[1]}, {2, centres[2]}, {0.25, centres[3]}};

/* How often the filter interfered. */
struct trouble {
    struct prng prng;
    unsigned doubled, late;
};

/* Of an exchange's chunks some come twice, some late, some in another order,
 * and some are still on their way when their exchange is long merged. */
static void disturb(void *context, const struct world_message *message,
                    struct world_fate *fate)
{
    struct trouble *trouble = ((struct lab *)context)->own;
    uint64_t die = prng_below(&trouble->prng, 8);

    if (message->msg->kind != MSG_CHUNK)
        return;
    if (die < 3) {
        fate->copies = 2 + (unsigned)die;
        fate->apart = (nanos)(1 + die) * 150 * MILLISECOND;
        trouble->doubled++;
    }
    if (die >= 2 && die < 6) {
        fate->delay = (nanos)die * 30 * MILLISECOND;
        trouble->late++;
    }
}

static struct lab *random_lab(uint64_t seed, struct trouble *trouble)
{
    struct lab *lab = lab_new(ELEMENTS);
    struct prng prng;

    prng_seed(&prng, 28);
    for (unsigned i = 0; i < ELEMENTS; i++)
        lab->start[i] = (float)prng_unit(&prng);
    for (unsigned n = 0; n < NODES; n++)
        for (unsigned i = 0; i < ELEMENTS; i++)
            centres[n][i] = (float)(10 * prng_unit(&prng));
    lab->config.hub.every = EVERY;
    lab->config.hub.delay = 1;
    lab->config.hub.miss = MISS_WAIT;
    lab->config.hub.nodes = NODES;
    lab->own = trouble;
    lab->config.hooks.filter = trouble ? disturb : NULL;
    lab_open(lab, seed);
    for (unsigned n = 0; n < NODES; n++) {
        struct model model = {
            trainer_quadratic, &models[n], 0.1, 0, NULL, NULL};

        lab_add(lab, names[n], &model);
    }
    return lab;
}

static unsigned differing(const struct lab *one, const struct lab *other)
{
    unsigned count = 0;

    for (unsigned i = 1; i <= ROUNDS; i++)
        count += lab_differing(one, i, lab_values(other, i));
    return count;
}

static void t28_double_late_and_reordered_chunks_do_not_change_the_centre(void)
{
    struct lab *calm = random_lab(1, NULL), *wild;
    struct trouble trouble = {.doubled = 0};

    prng_seed(&trouble.prng, 3);
    wild = random_lab(1, &trouble);
    if (lab_run_rounds(calm, ROUNDS) && lab_run_rounds(wild, ROUNDS))
        CHECK_EQUAL(0, differing(calm, wild));
    CHECK(trouble.doubled > 100);
    CHECK(trouble.late > 100);
    lab_destroy(&calm);
    lab_destroy(&wild);
}

static void t29_the_order_of_arrival_does_not_change_the_centre(void)
{
    struct lab *first = random_lab(1, NULL);

    if (!lab_run_rounds(first, ROUNDS))
        return;
    for (uint64_t seed = 2; seed < 8; seed++) {
        struct lab *other = random_lab(seed, NULL);

        CHECK(world_history(first->world) != world_history(other->world));
        if (lab_run_rounds(other, ROUNDS))
            CHECK_EQUAL(0, differing(first, other));
        lab_destroy(&other);
    }
    lab_destroy(&first);
}

void add_sim_order_tests(CU_pSuite suite)
{
    TEST(t28_double_late_and_reordered_chunks_do_not_change_the_centre);
    TEST(t29_the_order_of_arrival_does_not_change_the_centre);
}
