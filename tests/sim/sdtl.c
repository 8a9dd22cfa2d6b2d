/* What SDTL and LSGD require of a star: who starts from what, who talks when,
 * and what the springs conserve. The equations are in tests/policies. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { NODES = 3, ELEMENTS = 4 };

static const char *const names[] = {"n1", "n2", "n3"};
static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};
static const float origin[11];
static const struct quadratic bowl = {1, origin};

static struct lab *lab_of(size_t elements, const char *preset)
{
    const struct preset *found = preset_find(preset);
    struct lab *lab = lab_new(elements);

    if (!found)
        abort();
    lab->config.hub.policy = found->policy;
    return lab;
}

static const float *values_of(const struct lab *lab, unsigned node)
{
    return trainer_values(world_trainer(lab->world, node));
}

/* ---- SD-1 ---- */

/* The nodes are the same in all runs: what they are told does it. */
static void sd_01_the_name_of_a_policy_chooses_the_optimizer(void)
{
    static const char *const optimizers[] = {"easgd", "easgd-async", "lsgd",
                                             "ddp"};
    const struct model model = {trainer_quadratic, &bowl, 0.1, 0, NULL, NULL};

    for (unsigned i = 0; i < 4; i++) {
        struct lab *lab = lab_of(ELEMENTS, optimizers[i]);

        for (unsigned j = 0; j < ELEMENTS; j++)
            lab->start[j] = 8;
        lab_open(lab, 1);
        for (unsigned j = 0; j < NODES; j++)
            lab_add(lab, names[j], &model);
        CHECK(lab_run(lab, 50 * SECOND));
        CHECK_NEAR(0, lab_value(lab, lab->version), 0.01);
        for (unsigned j = 0; j < NODES; j++)
            CHECK_NEAR(0, (double)values_of(lab, j)[0], 0.01);
        lab_destroy(&lab);
    }
}

/* ---- SD-2 ---- */

struct period {
    uint64_t every, last; /* iteration of the offer before */
    unsigned offers, odd; /* odd: not exactly `every` after it */
    unsigned sent;        /* offers that went to the hub */
};

static void watch_offers(void *observer, const struct trainer_look *look)
{
    struct period *period = observer;

    if (look->moment != TRAINER_OFFERED)
        return;
    period->offers++;
    period->odd += look->iteration != period->last + period->every;
    period->last = look->iteration;
}

static void count_sent(struct lab *lab, const struct world_step *step)
{
    struct period *period = lab->own;

    for (unsigned i = 0; step->process != WORLD_HUB && i < step->effects->count;
         i++)
        period->sent += step->effects->list[i].kind == EFFECT_SEND &&
                        step->effects->list[i].msg.kind == MSG_OFFER;
}

static void sd_02_exactly_every_tau_steps_and_at_no_other_time(void)
{
    static const uint64_t taus[] = {1, 2, 3, 5, 8};

    for (unsigned i = 0; i < 5; i++) {
        struct period period = {.every = taus[i]};
        struct model model = drifting;
        struct lab *lab = lab_of(ELEMENTS, "easgd");

        model.look = watch_offers;
        model.observer = &period;
        lab->own = &period;
        lab->after_step = count_sent;
        lab->config.hub.every = taus[i];
        lab_open(lab, 2);
        lab_add(lab, "n1", &model);
        CHECK(lab_run(lab, 40 * SECOND));
        CHECK(period.offers > 40);
        CHECK_EQUAL(0, period.odd);
        CHECK_NEAR(period.offers, period.sent, 1);
        lab_destroy(&lab);
    }
}

/* ---- SD-4, AP-2 ---- */

/* Three nodes at rest that start from 1, 2 and 4. */
static struct lab *at_rest(struct lab *lab, enum init init,
                           float starts[NODES][ELEMENTS])
{
    static const struct drift rest = {0};
    const struct model resting = {trainer_drift, &rest, 1, 0, NULL, NULL};
    float *own = lab->start;

    lab->config.hub.init = init;
    lab_open(lab, 4);
    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned j = 0; j < ELEMENTS; j++)
            starts[i][j] = (float)(1u << i);
        lab->start = starts[i];
        lab_add(lab, names[i], &resting);
    }
    lab->start = own;
    return lab;
}

static void sd_04_all_workers_start_equal_where_the_run_says_so(void)
{
    static const char *const optimizers[] = {"easgd", "lsgd", "diloco"};
    float starts[NODES][ELEMENTS];

    for (unsigned i = 0; i < 3; i++) {
        struct lab *lab =
            at_rest(lab_of(ELEMENTS, optimizers[i]), INIT_HUB, starts);

        CHECK(lab_run(lab, 10 * SECOND));
        for (unsigned j = 0; j < NODES; j++)
            CHECK_NEAR(1, (double)values_of(lab, j)[ELEMENTS - 1], 0);
        lab_destroy(&lab);
    }
}

static void ap_02_different_first_parameters_are_not_overwritten(void)
{
    float starts[NODES][ELEMENTS];
    struct lab *lab = at_rest(lab_of(ELEMENTS, "easgd"), INIT_ELASTIC, starts);

    CHECK(lab_run(lab, 150 * MILLISECOND));
    CHECK(values_of(lab, 1)[0] > 1.5f);
    CHECK(values_of(lab, 2)[0] > 3);
    CHECK(lab_run(lab, 60 * SECOND));
    for (unsigned i = 0; i < NODES; i++)
        CHECK_NEAR(2, (double)values_of(lab, i)[0], 0.01);
    lab_destroy(&lab);
}

/* ---- SD-5 ---- */

static const float somewhere[11] = {1, -2, 3, 5, -8, 13, 0.5f, 7, -7, 11, 2};

/* Elements [first, first + count) of a problem, trained alone. */
static struct lab *part(size_t first, size_t count,
                        struct quadratic functions[NODES])
{
    struct lab *lab = lab_of(count, "easgd");

    memcpy(lab->start, somewhere + first, count * sizeof *somewhere);
    lab->config.hub.nodes = NODES;
    lab->config.hub.every = 2;
    lab_open(lab, 5);
    for (unsigned i = 0; i < NODES; i++) {
        struct model model = {
            trainer_quadratic, &functions[i], 0.1, 0, NULL, NULL};

        functions[i] = (struct quadratic){0.5 + i, origin + first};
        lab_add(lab, names[i], &model);
    }
    CHECK(lab_run_rounds(lab, 20));
    return lab;
}

static void sd_05_groups_in_one_vector_have_each_their_own_centre(void)
{
    struct quadratic functions[3][NODES];
    struct lab *whole = part(0, 11, functions[0]);
    struct lab *first = part(0, 7, functions[1]);
    struct lab *second = part(7, 4, functions[2]);

    for (uint64_t i = 1; i <= 20; i++) {
        CHECK_EQUAL(0, lab_differing(first, i, lab_values(whole, i)));
        CHECK_EQUAL(0, lab_differing(second, i, lab_values(whole, i) + 7));
    }
    lab_destroy(&whole);
    lab_destroy(&first);
    lab_destroy(&second);
}

/* ---- SD-8 ---- */

/* Nodes step at 1 s, 1.02 s, 1.04 s and so on, and exchanges take some
 * milliseconds: half a second later nothing is on its way. */
static void sd_08_an_exchange_conserves_node_and_centre_on_a_star(void)
{
    float starts[NODES][ELEMENTS];
    const struct model model = {trainer_drift, &drift, 1, SECOND, NULL, NULL};
    struct lab *lab = lab_of(ELEMENTS, "easgd-async");
    double own, sum;

    lab->config.hub.init = INIT_ELASTIC;
    lab->config.hub.save_interval = 100 * MILLISECOND;
    lab_open(lab, 8);
    for (unsigned i = 0; i < NODES; i++) {
        float *start = lab->start;

        for (unsigned j = 0; j < ELEMENTS; j++)
            starts[i][j] = (float)(1u << i);
        lab->start = starts[i];
        lab_add(lab, names[i], &model);
        lab->start = start;
    }
    CHECK(lab_run(lab, 500 * MILLISECOND));
    for (unsigned second = 1; second < 30; second++) {
        CHECK(lab_run(lab, SECOND));
        own = (1 + 2 + 4) + 1;
        sum = (double)world_saved(lab->world)->theta[0];
        for (unsigned i = 0; i < NODES; i++) {
            own +=
                0.25 * (double)trainer_iteration(world_trainer(lab->world, i));
            sum += (double)values_of(lab, i)[0];
        }
        CHECK_NEAR(own, sum, 1e-4);
        CHECK_EQUAL((uint64_t)second * NODES, world_saved(lab->world)->version);
    }
    CHECK((double)world_saved(lab->world)->theta[0] > 5);
    lab_destroy(&lab);
}

/* ---- SD-9 ---- */

struct scored {
    unsigned count, of_the_centre, of_a_worker;
};

static void score(void *context, const float *theta, size_t elements,
                  double *loss, double *accuracy)
{
    struct lab *lab = context;
    struct scored *scored = lab->own;
    bool centre = false;

    for (uint64_t i = 0; i <= lab->version; i++)
        centre |= lab_differing(lab, i, theta) == 0;
    scored->count++;
    scored->of_the_centre += centre;
    for (unsigned i = 0; i < NODES; i++)
        scored->of_a_worker +=
            memcmp(values_of(lab, i), theta, elements * sizeof *theta) == 0;
    *loss = 1;
    *accuracy = -1;
}

static void sd_09_what_is_evaluated_is_the_centre(void)
{
    static const struct drift drifts[NODES] = {{0.25f}, {0.5f}, {1}};
    struct scored scored = {0, 0, 0};
    struct lab *lab = lab_of(ELEMENTS, "mean");

    lab->own = &scored;
    lab->config.hooks.evaluate = score;
    lab->config.hub.evaluate_interval = 300 * MILLISECOND;
    lab->config.hub.nodes = NODES;
    lab->config.hub.every = 3;
    lab->config.hub.delay = 2;
    lab_open(lab, 9);
    for (unsigned i = 0; i < NODES; i++) {
        struct model model = {trainer_drift, &drifts[i], 1, 0, NULL, NULL};

        lab_add(lab, names[i], &model);
    }
    CHECK(lab_run(lab, 30 * SECOND));
    CHECK(scored.count > 50);
    CHECK_EQUAL(scored.count, scored.of_the_centre);
    CHECK_EQUAL(0, scored.of_a_worker);
    lab_destroy(&lab);
}

/* ---- SD-14 ---- */

struct phases {
    uint64_t rounds, needed; /* iterations of all for a round */
    unsigned early;
};

/* At the end of round r all have done r times what a round asks for. */
static void watch_rounds(struct lab *lab, const struct world_step *step)
{
    struct phases *phases = lab->own;
    struct hub_view view;
    uint64_t done = 0;

    if (step->process != WORLD_HUB)
        return;
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    if (view.rounds == phases->rounds)
        return;
    phases->rounds = view.rounds;
    for (unsigned i = 0; i < 2; i++)
        done += trainer_iteration(world_trainer(lab->world, i));
    phases->early += done < phases->rounds * phases->needed;
}

/* The slow node does a quarter of the iterations between two offers. */
static void count_phases(const struct gate_rule *gate, struct phases *phases,
                         uint64_t iterations[2])
{
    struct lab *lab = lab_of(ELEMENTS, "mean");

    *phases = (struct phases){.needed = 16};
    lab->own = phases;
    lab->after_step = watch_rounds;
    lab->config.hub.policy.gate = gate;
    lab->config.hub.policy.numbers.grace = 1000;
    lab->config.hub.dylu = true;
    lab->config.hub.every = 8;
    lab->config.hub.delay = 40;
    lab->config.hub.nodes = 2;
    lab_open(lab, 14);
    for (unsigned i = 0; i < 2; i++) {
        struct model model = drifting;

        model.step = (i ? 400 : 100) * MILLISECOND;
        lab_add(lab, names[i], &model);
    }
    CHECK(lab_run(lab, 200 * SECOND));
    for (unsigned i = 0; i < 2; i++)
        iterations[i] = trainer_iteration(world_trainer(lab->world, i));
    lab_destroy(&lab);
}

static void sd_14_a_phase_ends_after_the_iterations_of_all_together(void)
{
    struct phases counted, plain;
    uint64_t iterations[2];

    count_phases(&gate_counted, &counted, iterations);
    CHECK(counted.rounds > 100);
    CHECK_EQUAL(0, counted.early);
    CHECK_NEAR(4, (double)iterations[0] / (double)iterations[1], 0.1);
    count_phases(&gate_sync, &plain, iterations);
    CHECK(plain.early > 100);
}

/* ---- SD-15 ---- */

static void sd_15_each_worker_has_a_learning_rate_of_its_own(void)
{
    struct hub_view view;
    struct lab *lab = lab_of(ELEMENTS, "lsgd");

    for (unsigned i = 0; i < ELEMENTS; i++)
        lab->start[i] = 8;
    lab->config.hub.nodes = NODES;
    lab_open(lab, 15);
    for (unsigned i = 0; i < NODES; i++) {
        struct model model = {
            trainer_quadratic, &bowl, 0.05 * (1u << i), 0, NULL, NULL};

        lab_add(lab, names[i], &model);
    }
    CHECK(lab_run_rounds(lab, 20));
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    CHECK(!view.nodes[0].best && !view.nodes[1].best && view.nodes[2].best);
    CHECK(view.nodes[2].loss < view.nodes[1].loss);
    CHECK(view.nodes[1].loss < view.nodes[0].loss);
    lab_destroy(&lab);
}

void add_sim_sdtl_tests(CU_pSuite suite)
{
    TEST(sd_01_the_name_of_a_policy_chooses_the_optimizer);
    TEST(sd_02_exactly_every_tau_steps_and_at_no_other_time);
    TEST(sd_04_all_workers_start_equal_where_the_run_says_so);
    TEST(ap_02_different_first_parameters_are_not_overwritten);
    TEST(sd_05_groups_in_one_vector_have_each_their_own_centre);
    TEST(sd_08_an_exchange_conserves_node_and_centre_on_a_star);
    TEST(sd_09_what_is_evaluated_is_the_centre);
    TEST(sd_14_a_phase_ends_after_the_iterations_of_all_together);
    TEST(sd_15_each_worker_has_a_learning_rate_of_its_own);
}
