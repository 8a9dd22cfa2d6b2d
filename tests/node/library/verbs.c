/* What star_step does to somebody's tensors, told by a hub that is fake. */
#include <stdio.h>

#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/fake_hub.h"

/* Two tensors that lie apart, with something between them. */
struct model {
    float one[6];
    float between;
    float other[2][2];
    float stepped[FAKE_HUB_ELEMENTS]; /* what the optimizer was given */
    unsigned replaced, reset;         /* how often it was told so */
    struct star_link *link;
    struct star_state state;
};

static void take_step(void *context, const float *gradient, size_t first,
                      size_t count)
{
    struct model *model = context;

    for (size_t i = 0; i < count && first + i < FAKE_HUB_ELEMENTS; i++)
        model->stepped[first + i] = gradient[i];
}

static void note_replaced(void *context, int reset)
{
    struct model *model = context;

    model->replaced++;
    model->reset += reset != 0;
}

static void fill(struct model *model, double value)
{
    for (int i = 0; i < 6; i++)
        model->one[i] = (float)value;
    for (int i = 0; i < 4; i++)
        model->other[i / 2][i % 2] = (float)value;
}

static void attach(struct model *model, struct fake_hub *hub,
                   bool with_optimizer)
{
    const struct star_tensor tensors[] = {
        STAR_TENSOR("one", 1, model->one, NULL, 6),
        STAR_TENSOR("other", 2, model->other[0], NULL, 2, 2)};
    struct star_options options = {.size = sizeof options,
                                   .hub = hub->address,
                                   .quiet = 1,
                                   .replaced = note_replaced,
                                   .context = model};
    char error[256];

    *model =
        (struct model){.between = 77, .state = {.size = sizeof model->state}};
    if (with_optimizer)
        options.step = take_step;
    fill(model, 1);
    CHECK_EQUAL(STAR_OK, star_attach(&options, tensors, 2, &model->link, error,
                                     sizeof error));
}

static void step_once(struct model *model)
{
    CHECK_EQUAL(STAR_GO, star_step(model->link, NULL));
    star_look(model->link, &model->state);
    fake_rest();
}

static bool has_applied(const struct star_state *state)
{
    return state->applied > 0;
}

static bool has_missed(const struct star_state *state)
{
    return state->missed > 0;
}

/* Steps until it is so; false after 30 s. Steps take longer and longer: on a
 * slow machine a result may need more time than d quick ones. */
static bool run_until(struct model *model,
                      bool (*is_so)(const struct star_state *state))
{
    nanos since = net_now();

    while (!is_so(&model->state) && net_now() - since < FAKE_PATIENCE) {
        step_once(model);
        for (nanos i = 0; i < (net_now() - since) / (200 * MILLISECOND); i++)
            fake_rest();
    }
    return is_so(&model->state);
}

static void check_all(const struct model *model, double value)
{
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(value, (double)model->one[i], 0);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(value, (double)model->other[i / 2][i % 2], 0);
    CHECK_NEAR(77, (double)model->between, 0);
}

/* Its tensors are 1 everywhere when a first answer comes. */
static void check_verb(enum verb verb, double becomes, double steps)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    hub->verb = verb;
    hub->weight = 0.5;
    fake_hub_start(hub);
    attach(&model, hub, true);
    CHECK(run_until(&model, has_applied));
    check_all(&model, becomes);
    for (int i = 0; i < FAKE_HUB_ELEMENTS; i++)
        CHECK_NEAR(steps, (double)model.stepped[i], 0);
    CHECK_EQUAL(verb == VERB_REPLACE, model.replaced);
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void rebase_adds_what_the_centre_has_moved(void)
{
    check_verb(VERB_REBASE, 1 + 0.5 * (10 - 1), 0);
}

static void replace_sets_the_tensors(void)
{
    check_verb(VERB_REPLACE, 10, 0);
}

static void pull_goes_a_part_of_the_way(void)
{
    check_verb(VERB_PULL, 0.5 * 1 + 0.5 * 10, 0);
}

static void add_adds_a_multiple(void)
{
    check_verb(VERB_ADD, 1 + 0.5 * 10, 0);
}

static void step_hands_the_gradient_to_the_optimizer(void)
{
    check_verb(VERB_STEP, 1, 10);
}

static void step_without_an_optimizer_is_left_out(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    hub->verb = VERB_STEP;
    fake_hub_start(hub);
    attach(&model, hub, false);
    CHECK(run_until(&model, has_applied));
    check_all(&model, 1);
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void tensors_that_lie_apart_are_offered_as_one_vector(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    fake_hub_start(hub);
    attach(&model, hub, false);
    fill(&model, 3); /* two more than when it was attached */
    CHECK(run_until(&model, has_applied));
    check_all(&model, 10);
    CHECK(fake_hub_wait(hub, &hub->chunks, FAKE_HUB_CHUNKS));
    star_detach(&model.link);
    CHECK_NEAR(0, fake_hub_offered(hub), 0); /* the last offer had nothing new
                                              */
    fake_hub_destroy(&hub);
}

/* AP-10: the optimizer is kept or reset as the run says. */
static void ap_10_who_is_replaced_hears_what_becomes_of_its_optimizer(void)
{
    for (enum optimizer optimizer = 0; optimizer < OPTIMIZER_COUNT;
         optimizer++) {
        struct fake_hub *hub = fake_hub_new();
        struct model model;

        hub->verb = VERB_REPLACE;
        hub->welcome.optimizer = optimizer;
        fake_hub_start(hub);
        attach(&model, hub, false);
        CHECK(run_until(&model, has_applied));
        CHECK_EQUAL(1, model.replaced);
        CHECK_EQUAL(optimizer == OPTIMIZER_RESET, model.reset);
        star_detach(&model.link);
        fake_hub_destroy(&hub);
    }
}

/* SD-3: at first to the starting parameters, then to the newest result. */
static void sd_03_every_step_pulls_to_the_anchor(void)
{
    struct fake_hub *hub = fake_hub_new();
    nanos until = net_now() + FAKE_PATIENCE;
    struct model model;

    hub->mute = true;
    hub->weight = 0;           /* so that nothing else moves them */
    hub->welcome.anchor = 0.5; /* and k = 2 */
    fake_hub_start(hub);
    attach(&model, hub, false);
    do {
        fill(&model, 3);
        step_once(&model);
    } while (model.one[0] == 3 && net_now() < until);
    check_all(&model, 0.75 * 3 + 0.25 * 1);
    fake_hub_speak(hub);
    CHECK(run_until(&model, has_applied));
    fill(&model, 2);
    step_once(&model);
    check_all(&model, 0.75 * 2 + 0.25 * 10);
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void a_result_is_never_applied_before_its_iteration(void)
{
    struct fake_hub *hub = fake_hub_new();
    uint64_t taken[64] = {0}, offered = 0, applied = 0;
    struct model model;

    hub->welcome.every = 5;
    hub->welcome.delay = 12;
    hub->verb = VERB_REPLACE;
    fake_hub_start(hub);
    attach(&model, hub, false);
    for (nanos until = net_now() + FAKE_PATIENCE;
         applied < 8 && offered < 64 && net_now() < until;) {
        step_once(&model);
        while (applied < model.state.applied)
            CHECK(model.state.iteration >= taken[applied++] + 12);
        if (model.state.offered > offered)
            taken[offered++] = model.state.iteration;
    }
    CHECK(applied >= 8);
    CHECK_EQUAL(0, taken[0] % 5);
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void a_wait_ends_when_its_time_is_over(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    hub->mute = true;
    hub->welcome.miss = MISS_WAIT;
    hub->welcome.wait = 20 * MILLISECOND;
    fake_hub_start(hub);
    attach(&model, hub, false);
    CHECK(run_until(&model, has_missed));
    CHECK_EQUAL(0, model.state.applied);
    CHECK_EQUAL(1, model.state.missed);
    CHECK(model.state.waited >= 0.02);
    CHECK(model.state.waited < 20);
    CHECK(model.state.inside < model.state.waited + 1);
    fake_stop(hub->fake); /* else it would wait for its last offer */
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void nobody_waits_for_a_result_when_the_run_ends(void)
{
    struct fake_hub *hub = fake_hub_new();
    nanos began = net_now(), until = began + FAKE_PATIENCE;
    struct model model;

    hub->mute = hub->calls = true;
    hub->welcome.delay = 0;
    hub->welcome.wait = 2 * FAKE_PATIENCE;
    fake_hub_start(hub);
    attach(&model, hub, false);
    while (star_step(model.link, NULL) == STAR_GO && net_now() < until)
        fake_rest();
    CHECK(net_now() < until);
    star_look(model.link, &model.state);
    CHECK_EQUAL(1, model.state.offered);
    CHECK_EQUAL(1, model.state.missed);
    fake_stop(hub->fake); /* else it would wait for its last offer */
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void a_late_result_is_applied_when_it_comes(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    hub->mute = true;
    hub->verb = VERB_REPLACE;
    fake_hub_start(hub);
    attach(&model, hub, false);
    CHECK(run_until(&model, has_missed));
    CHECK_EQUAL(1, model.state.missed);
    CHECK_EQUAL(0, model.state.applied);
    check_all(&model, 1);
    fake_hub_speak(hub);
    CHECK(run_until(&model, has_applied));
    check_all(&model, 10);
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

/* Nothing is here when its time is up, and of what is asked for then the first
 * chunk goes. */
static void a_cut_exchange_is_left_and_the_next_one_is_applied(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    hub->mute = true;
    hub->welcome.miss = MISS_CUT;
    fake_hub_start(hub);
    attach(&model, hub, false);
    CHECK(run_until(&model, has_missed));
    CHECK_EQUAL(0, model.state.applied);
    fake_hub_speak(hub);
    CHECK(run_until(&model, has_applied));
    CHECK(model.state.missed >= 1);
    CHECK_EQUAL(0, (int)(1e6 * model.state.waited));
    star_detach(&model.link);
    fake_hub_destroy(&hub);
}

static void detach_gives_the_last_progress_and_says_goodbye(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct model model;

    fake_hub_start(hub);
    attach(&model, hub, false);
    CHECK(run_until(&model, has_applied));
    fill(&model, 10.5);
    star_detach(&model.link);
    CHECK(model.link == NULL);
    CHECK(fake_hub_wait(hub, &hub->goodbyes, 1));
    CHECK_NEAR(0.5, fake_hub_offered(hub), 0);
    fake_hub_destroy(&hub);
}

void add_node_library_verbs_tests(CU_pSuite suite)
{
    TEST(rebase_adds_what_the_centre_has_moved);
    TEST(replace_sets_the_tensors);
    TEST(pull_goes_a_part_of_the_way);
    TEST(add_adds_a_multiple);
    TEST(step_hands_the_gradient_to_the_optimizer);
    TEST(step_without_an_optimizer_is_left_out);
    TEST(tensors_that_lie_apart_are_offered_as_one_vector);
    TEST(ap_10_who_is_replaced_hears_what_becomes_of_its_optimizer);
    TEST(sd_03_every_step_pulls_to_the_anchor);
    TEST(a_result_is_never_applied_before_its_iteration);
    TEST(a_wait_ends_when_its_time_is_over);
    TEST(nobody_waits_for_a_result_when_the_run_ends);
    TEST(a_late_result_is_applied_when_it_comes);
    TEST(a_cut_exchange_is_left_and_the_next_one_is_applied);
    TEST(detach_gives_the_last_progress_and_says_goodbye);
}
