/* Reviews on somebody's training thread, asked for by a hub that is fake. */
#include <time.h>

#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/fake_hub.h"

#define EVALUATION (20 * MILLISECOND)

/* Somebody who trains: the parameters, and what was asked of them. */
struct person {
    float values[FAKE_HUB_ELEMENTS];
    struct star_link *link;
    struct star_state state;
    int evaluated;
    int outcome; /* of an evaluation */
};

/* The sum of all parameters; takes its time. */
static int evaluate(void *context, const float *values, double *loss,
                    double *error)
{
    const struct timespec time = {0, EVALUATION};
    struct person *person = context;

    person->evaluated++;
    (void)nanosleep(&time, NULL);
    *loss = *error = 0;
    for (int i = 0; i < FAKE_HUB_ELEMENTS; i++)
        *loss += (double)values[i];
    return person->outcome;
}

static void attach(struct person *person, struct fake_hub *hub, bool judges)
{
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, person->values, NULL, FAKE_HUB_ELEMENTS);
    struct star_options options = {.size = sizeof options,
                                   .hub = hub->address,
                                   .quiet = 1,
                                   .context = person};
    char error[256];

    if (judges)
        options.evaluate = evaluate;
    CHECK_EQUAL(STAR_OK, star_attach(&options, &tensor, 1, &person->link, error,
                                     sizeof error));
    CHECK(fake_hub_wait(hub, &hub->bulk, 1));
}

static void step(struct person *person)
{
    fake_rest();
    CHECK_EQUAL(STAR_GO, star_step(person->link, NULL));
    star_look(person->link, &person->state);
}

static struct fake_hub *fake_hub_that_shows(uint64_t delay, bool mute)
{
    struct fake_hub *hub = fake_hub_new();

    hub->shows = true;
    hub->mute = mute;
    hub->value = 3;
    hub->welcome.delay = delay;
    hub->welcome.wait = FAKE_PATIENCE;
    fake_hub_start(hub);
    return hub;
}

static bool has(struct fake_hub *hub, const uint64_t *counter)
{
    bool has;

    (void)pthread_mutex_lock(&hub->fake->lock);
    has = *counter > 0;
    (void)pthread_mutex_unlock(&hub->fake->lock);
    return has;
}

static void train_until(struct person *person, struct fake_hub *hub,
                        const uint64_t *counter)
{
    nanos until = net_now() + FAKE_PATIENCE;

    while (!has(hub, counter) && net_now() < until)
        step(person);
    CHECK(has(hub, counter));
}

static void end(struct person *person, struct fake_hub *hub)
{
    star_detach(&person->link);
    fake_hub_destroy(&hub);
}

static void others_are_evaluated_between_two_iterations(void)
{
    struct person person = {.outcome = 0,
                            .state = {.size = sizeof person.state}};
    struct fake_hub *hub = fake_hub_that_shows(2, false);

    attach(&person, hub, true);
    train_until(&person, hub, &hub->made);
    CHECK_NEAR(3 * FAKE_HUB_ELEMENTS, hub->loss, 0);
    CHECK(person.evaluated > 0);
    CHECK(person.state.inside >= (double)EVALUATION / (double)SECOND);
    end(&person, hub);
}

/* The hub grants nothing before the review is made, and the trainer waits for
 * its result: the review must be made while it does. */
static void who_waits_evaluates_meanwhile(void)
{
    struct person person = {.outcome = 0,
                            .state = {.size = sizeof person.state}};
    struct fake_hub *hub = fake_hub_that_shows(0, true);

    attach(&person, hub, true);
    train_until(&person, hub, &hub->chunks);
    CHECK_EQUAL(0, person.state.missed);
    CHECK(person.evaluated > 0);
    CHECK(person.state.inside >= (double)EVALUATION / (double)SECOND);
    end(&person, hub);
}

/* Its last offer is not granted before it has judged another one. */
static void who_leaves_evaluates_until_it_is_over(void)
{
    struct person person = {.outcome = 0,
                            .state = {.size = sizeof person.state}};
    struct fake_hub *hub = fake_hub_that_shows(2, true);

    hub->welcome.every = 1000000;
    attach(&person, hub, true);
    step(&person);
    for (nanos until = net_now() + FAKE_PATIENCE;
         !person.state.attached && net_now() < until;)
        step(&person);
    CHECK_EQUAL(0, person.evaluated);
    star_detach(&person.link);
    CHECK_EQUAL(1, person.evaluated);
    CHECK(has(hub, &hub->made));
    fake_hub_destroy(&hub);
}

static void who_cannot_says_so(void)
{
    struct person person = {.outcome = 1,
                            .state = {.size = sizeof person.state}};
    struct fake_hub *hub = fake_hub_that_shows(2, false);

    attach(&person, hub, true);
    train_until(&person, hub, &hub->reviewed);
    CHECK(!has(hub, &hub->made));
    end(&person, hub);
}

static void who_judges_nobody_says_so(void)
{
    struct person person = {.outcome = 0,
                            .state = {.size = sizeof person.state}};
    struct fake_hub *hub = fake_hub_that_shows(2, false);

    attach(&person, hub, false);
    train_until(&person, hub, &hub->reviewed);
    CHECK(!has(hub, &hub->made));
    CHECK_EQUAL(0, person.evaluated);
    end(&person, hub);
}

void add_node_library_review_tests(CU_pSuite suite)
{
    TEST(others_are_evaluated_between_two_iterations);
    TEST(who_waits_evaluates_meanwhile);
    TEST(who_leaves_evaluates_until_it_is_over);
    TEST(who_cannot_says_so);
    TEST(who_judges_nobody_says_so);
}
