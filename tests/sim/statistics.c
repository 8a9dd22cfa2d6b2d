/* Tensors that are statistics of the data and not trained, such as those of
 * BatchNorm, in a star: two nodes whose data differ. They and what is trained
 * lie in chunks of four as they come. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum {
    MEANS = 3, /* two */
    VARIANCES = 5,
    COUNT = 7, /* batches; one */
    ELEMENTS = 11,
    NODES = 2
};

/* Its statistics follow a node's data by a tenth of the way per iteration. */
struct data {
    float mean, variance;
};

/* What a node has offered last, and all it has counted by itself. */
struct seen {
    float last[ELEMENTS];
    uint64_t steps;
    bool negative;
    const struct data *moves; /* by itself: where gradients are offered nobody
                                 else moves statistics */
};

static struct seen seen[NODES];

static void follow(const struct data *data, const float *x, float *by)
{
    for (size_t i = MEANS; i < VARIANCES; i++)
        by[i] = 0.1f * (x[i] - data->mean);
    for (size_t i = VARIANCES; i < COUNT; i++)
        by[i] = 0.1f * (x[i] - data->variance);
    by[COUNT] = -1;
}

static double descend(const void *context, uint64_t iteration, const float *x,
                      size_t elements, float *gradient)
{
    (void)iteration;
    for (size_t i = 0; i < elements; i++)
        gradient[i] = -0.25f;
    follow(context, x, gradient);
    return 1;
}

static void move(const struct data *data, float *x)
{
    float by[ELEMENTS];

    follow(data, x, by);
    for (size_t i = MEANS; i <= COUNT; i++)
        x[i] -= by[i];
}

static void look(void *observer, const struct trainer_look *looked)
{
    struct seen *one = observer;

    if (looked->moment == TRAINER_STEPPED) {
        one->steps++;
        if (one->moves)
            move(one->moves, looked->x);
    }
    if (looked->moment == TRAINER_OFFERED)
        memcpy(one->last, looked->x, sizeof one->last);
    one->negative |= looked->x[VARIANCES] < 0 || looked->x[VARIANCES + 1] < 0;
}

static const struct data unlike[NODES] = {{4, 9}, {-2, 0.01f}};

static void shape(struct lab *lab)
{
    static const struct tensor tensors[] = {
        {.name = "w", .rank = 2, .shape = {3, 1}},
        {.name = "mean", .rank = 1, .shape = {2}, .kind = TENSOR_AVERAGED},
        {.name = "var", .rank = 2, .shape = {1, 2}, .kind = TENSOR_AVERAGED},
        {.name = "count", .rank = 0, .kind = TENSOR_LARGEST},
        {.name = "b", .rank = 1, .shape = {3}},
    };

    schema_destroy(&lab->schema);
    lab->schema = schema_new();
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        CHECK_OK(schema_add_tensor(lab->schema, &tensors[i], NULL));
    CHECK_EQUAL(ELEMENTS, lab->schema->elements);
    lab->config.schema = lab->schema;
    lab->start[VARIANCES] = lab->start[VARIANCES + 1] = 10;
}

static struct lab *begin(const char *policy, uint64_t every, uint64_t delay)
{
    struct lab *lab = lab_new(ELEMENTS);

    memset(seen, 0, sizeof seen);
    shape(lab);
    lab->config.hub.policy = preset_find(policy)->policy;
    lab->config.hub.every = every;
    lab->config.hub.delay = delay;
    lab->config.hub.nodes = NODES;
    return lab;
}

/* The second node has three times as many samples and takes `slower` times as
 * long for an iteration. */
static void add_nodes(struct lab *lab, unsigned slower)
{
    static const char *const names[NODES] = {"n1", "n2"};

    for (unsigned i = 0; i < NODES; i++) {
        const struct model model = {
            descend, &unlike[i], 1, (nanos)(i ? slower : 1) * 100 * MILLISECOND,
            look,    &seen[i]};

        lab->samples = i ? 3 : 1;
        (void)lab_add(lab, names[i], &model);
    }
}

/* The newest version is what the nodes have offered last, mixed. */
static void check_newest(const struct lab *lab)
{
    const float *centre = lab_values(lab, lab->version);
    const float *one = seen[0].last, *other = seen[1].last;

    for (size_t i = MEANS; i < COUNT; i++)
        CHECK_NEAR(((double)one[i] + 3 * (double)other[i]) / 4,
                   (double)centre[i], 1e-5);
    CHECK_NEAR(fmax((double)one[COUNT], (double)other[COUNT]),
               (double)centre[COUNT], 0);
}

/* Whatever becomes of what is trained. */
static void they_are_averaged_by_samples_and_the_largest_counts(void)
{
    static const char *const policies[] = {"mean", "diloco", "adam", "auto",
                                           "streaming"};

    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct lab *lab = begin(policies[i], 5, 0);

        lab_open(lab, i);
        add_nodes(lab, 3);
        for (uint64_t round = 1; round < 12; round++) {
            CHECK(lab_run_rounds(lab, round));
            check_newest(lab);
            CHECK_NEAR(5 * (double)round, (double)lab_values(lab, round)[COUNT],
                       0);
        }
        CHECK(!seen[0].negative && !seen[1].negative);
        CHECK_EQUAL(0, lab->unmerged);
        lab_destroy(&lab);
    }
}

static void with_the_best_one_they_are_its_own(void)
{
    struct lab *lab = begin("best", 5, 0);

    lab_open(lab, 1);
    add_nodes(lab, 1);
    CHECK(lab_run_rounds(lab, 4));
    for (size_t i = MEANS; i <= COUNT; i++)
        CHECK(lab_values(lab, 4)[i] == seen[0].last[i] ||
              lab_values(lab, 4)[i] == seen[1].last[i]);
    lab_destroy(&lab);
}

static void where_parameters_are_offered_they_are_as_these(void)
{
    struct lab *lab = begin("easgd", 5, 0);

    lab_open(lab, 1);
    add_nodes(lab, 1);
    CHECK(lab_run_rounds(lab, 30));
    for (uint64_t version = 2; version <= 30; version++) {
        CHECK(lab_values(lab, version)[VARIANCES] >= 0);
        CHECK(lab_values(lab, version)[COUNT] >=
              lab_values(lab, version - 1)[COUNT]);
        CHECK_NEAR(floor((double)lab_values(lab, version)[COUNT]),
                   (double)lab_values(lab, version)[COUNT], 0);
    }
    CHECK((double)lab_values(lab, 30)[COUNT] > 100 &&
          (double)lab_values(lab, 30)[COUNT] <= (double)seen[0].steps);
    lab_destroy(&lab);
}

/* Whoever offers when, and however late results come. */
static void variances_stay_above_zero_and_counts_do_not_add_up(void)
{
    static const struct {
        const char *policy;
        uint64_t every, delay;
        enum codec_id codec;
        unsigned slower;
    } cases[] = {
        {"diloco", 5, 5, CODEC_RAW, 1},  {"diloco", 5, 13, CODEC_INT8, 3},
        {"mean", 10, 3, CODEC_INT4, 2},  {"async", 5, 0, CODEC_RAW, 4},
        {"async", 5, 9, CODEC_INT8, 1},  {"downpour", 3, 6, CODEC_RAW, 5},
        {"delayed", 5, 5, CODEC_RAW, 3}, {"streaming", 6, 3, CODEC_RAW, 1},
        {"robust", 5, 5, CODEC_RAW, 1},  {"krum", 5, 2, CODEC_RAW, 1},
        {"adam", 4, 4, CODEC_SIGN, 2},   {"verified", 4, 4, CODEC_RAW, 1},
        {"soup", 4, 0, CODEC_RAW, 1},    {"multi-krum", 4, 0, CODEC_RAW, 1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab *lab =
            begin(cases[i].policy, cases[i].every, cases[i].delay);
        uint64_t most;

        lab->config.hub.codec_up = cases[i].codec;
        if (i % 2)
            lab->config.hub.codec_down = cases[i].codec;
        lab_open(lab, i);
        add_nodes(lab, cases[i].slower);
        CHECK(lab_run_rounds(lab, 60));
        most = seen[0].steps > seen[1].steps ? seen[0].steps : seen[1].steps;
        for (uint64_t version = 1; version <= 60; version++) {
            const float *centre = lab_values(lab, version);

            CHECK(centre[VARIANCES] >= 0 && centre[VARIANCES + 1] >= 0);
            CHECK(centre[COUNT] == floorf(centre[COUNT]));
            CHECK(version == 1 ||
                  centre[COUNT] >= lab_values(lab, version - 1)[COUNT]);
        }
        CHECK((double)lab_values(lab, 60)[COUNT] <= (double)most);
        CHECK((double)lab_values(lab, 60)[COUNT] > 0.2 * (double)most);
        CHECK(lab_values(lab, 60)[MEANS] > -2 &&
              lab_values(lab, 60)[MEANS] < 4);
        CHECK(lab_values(lab, 60)[VARIANCES] < 9);
        CHECK(!seen[0].negative && !seen[1].negative);
        lab_destroy(&lab);
    }
}

/* They have no gradient: in its place nodes offer them as they are. */
static void beside_gradients_they_are_averaged_too(void)
{
    struct lab *lab = begin("ddp", 1, 0);

    lab_open(lab, 1);
    add_nodes(lab, 1);
    for (unsigned i = 0; i < NODES; i++)
        seen[i].moves = &unlike[i];
    CHECK(lab_run_rounds(lab, 40));
    check_newest(lab);
    CHECK_NEAR(40, (double)lab_values(lab, 40)[COUNT], 0);
    CHECK_NEAR(-0.5, (double)lab_values(lab, 40)[MEANS], 0.2);
    CHECK_NEAR(40 * 0.1 * 0.25, (double)lab_values(lab, 40)[0], 1e-4);
    lab_destroy(&lab);
}

/* A file of tensors does not say what they are; the state beside it does. */
static void a_run_that_goes_on_knows_them(void)
{
    struct lab *lab = begin("diloco", 5, 2);
    struct schema *plain = schema_new();
    struct hub_saved saved = {.schema = plain};
    struct pool *pool = pool_new();
    struct hub *hub;
    struct why why;

    lab_open(lab, 1);
    add_nodes(lab, 1);
    CHECK(lab_run(lab, 15 * SECOND));
    world_crash(lab->world, WORLD_HUB, true);
    CHECK(lab_run(lab, 2 * SECOND));
    world_start(lab->world, WORLD_HUB);
    CHECK(lab_run(lab, 15 * SECOND));
    CHECK(lab_look(lab)->version > 20);
    CHECK(!seen[0].negative && !seen[1].negative);
    for (unsigned i = 0; i < lab->schema->count; i++)
        CHECK_OK(schema_add(plain, lab->schema->tensors[i].name,
                            lab->schema->tensors[i].rank,
                            lab->schema->tensors[i].shape, NULL));
    saved.theta = world_saved(lab->world)->theta;
    saved.state = world_saved(lab->world)->state;
    hub = hub_new(&lab->config.hub, pool);
    CHECK_OK(hub_restore(hub, &saved, &why));
    CHECK(hub_schema(hub)->hash == lab->schema->hash);
    CHECK(hub_schema(hub)->hash != plain->hash);
    hub_destroy(&hub);
    pool_destroy(&pool);
    schema_destroy(&plain);
    lab_destroy(&lab);
}

void add_sim_statistics_tests(CU_pSuite suite)
{
    TEST(they_are_averaged_by_samples_and_the_largest_counts);
    TEST(with_the_best_one_they_are_its_own);
    TEST(where_parameters_are_offered_they_are_as_these);
    TEST(variances_stay_above_zero_and_counts_do_not_add_up);
    TEST(beside_gradients_they_are_averaged_too);
    TEST(a_run_that_goes_on_knows_them);
}
