/* What nodes say of themselves (hub/finish.c, hub/rounds.c). */
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

/* Merges so many exchanges of the only node. */
static void trains(struct hub_fixture *f, struct fake_node *node,
                   uint64_t first, unsigned count, double score)
{
    for (uint64_t i = first; i < first + count; i++) {
        struct msg_offer offer = {
            .exchange = i, .samples = 1, .score = score, .base_version = i - 1};

        fake_node_offer(f, node, &offer);
        fake_node_delivers_all(f, node, i, 0);
        fake_node_returns(f, node, i);
        hand_wait(&f->hand, 100 * MILLISECOND);
    }
}

/* Nobody is there to contradict it, but its exchanges are. */
static void one_alone_must_have_trained_what_it_says(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.iterations = 100;
    f->config.every = 10;
    a = fake_node_alone(f);
    fake_node_pings(f, &a, (uint64_t)1 << 63);
    trains(f, &a, 1, 4, 1);
    hand_wait(&f->hand, SECOND);
    CHECK(!hub_fixture_look(f)->ending);
    trains(f, &a, 5, 1, 1);
    hand_wait(&f->hand, SECOND);
    CHECK_TEXT("100 iterations done", hub_fixture_look(f)->reason);
    hub_fixture_destroy(&f);
}

/* As members of collectives do. */
static void where_nobody_offers_iterations_are_what_is_said(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.iterations = 100;
    f->config.every = 0;
    a = fake_node_alone(f);
    fake_node_pings(f, &a, 100);
    hand_wait(&f->hand, SECOND);
    CHECK_TEXT("100 iterations done", hub_fixture_look(f)->reason);
    hub_fixture_destroy(&f);
}

static void a_goal_is_not_what_one_alone_says_at_once(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.goal = GOAL_LOSS;
    f->config.goal_value = 0.5;
    a = fake_node_alone(f);
    trains(f, &a, 1, 9, -1e200);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK(!hub_fixture_look(f)->ending);
    trains(f, &a, 10, 1, 0.4);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK(hub_fixture_look(f)->ending);
    hub_fixture_destroy(&f);
}

static void iterations_that_one_of_two_makes_up_end_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    f->config.iterations = 100;
    a = fake_node_alone(f);
    b = fake_node_new(f, "b");
    b.hello.iteration = (uint64_t)1 << 63;
    fake_node_hello(f, &b);
    fake_node_attach(f, &b);
    fake_node_pings(f, &b, UINT64_MAX);
    fake_node_pings(f, &a, 99);
    hand_wait(&f->hand, SECOND);
    CHECK(!hub_fixture_look(f)->ending);
    fake_node_pings(f, &a, 100);
    hand_wait(&f->hand, SECOND);
    CHECK_TEXT("100 iterations done", hub_fixture_look(f)->reason);
    hub_fixture_destroy(&f);
}

/* Nor a loss, where nobody has held-out data; and it is not the best for ever.
 */
static void a_loss_that_one_of_two_makes_up_reaches_no_goal(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 1, .samples = 1, .score = -1e200};
    struct fake_node a, b;

    f->config.policy.gate = &gate_async;
    f->config.goal = GOAL_LOSS;
    f->config.goal_value = 0.5;
    a = fake_node_alone(f);
    b = fake_node_comes(f, "b");
    fake_node_offer(f, &b, &offer);
    fake_node_delivers_all(f, &b, 1, 0);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK(!hub_fixture_look(f)->ending);
    CHECK(hub_fixture_look(f)->score >= NO_SCORE);
    fake_node_credits(f, &a, 0, 0);
    offer.base_version = 1;
    offer.score = 2;
    fake_node_offer(f, &a, &offer);
    fake_node_delivers_all(f, &a, 1, 0);
    fake_node_pings(f, &b, 1);
    fake_node_lives(f, &a, 1500 * MILLISECOND);
    CHECK(!hub_fixture_look(f)->ending);
    CHECK_NEAR(2, hub_fixture_look(f)->score, 0);
    hub_fixture_destroy(&f);
}

static void without_a_trainer_the_nodes_losses_are_the_score(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 1, .samples = 2, .score = 0.5};
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");

    fake_node_offer(f, &a, &offer);
    offer.samples = 1;
    offer.score = 2;
    fake_node_offer(f, &b, &offer);
    fake_node_delivers_all(f, &a, 1, 0);
    fake_node_delivers_all(f, &b, 1, 0);
    fake_node_lives(f, &a, SECOND);
    CHECK_NEAR(2, hub_fixture_look(f)->score, 1e-12);
    hub_fixture_destroy(&f);
}

/* It is no more memory: what is saved is held for that anyway. */
static void without_data_the_best_is_one_that_is_saved(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 1, .samples = 1, .score = 0.5};
    struct fake_node a;

    store_lend(&store, f);
    f->config.evaluate = NULL;
    a = fake_node_alone(f);
    fake_node_offer(f, &a, &offer);
    fake_node_delivers_all(f, &a, 1, 0);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK_NEAR(0.5, hub_fixture_look(f)->score, 0);
    CHECK(hub_fixture_look(f)->best_score >= NO_SCORE);
    fake_node_lives(f, &a, 9 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(store.version, store.best_version);
    CHECK_NEAR(store.theta[0], store.best_first, 0);
    CHECK_NEAR(0.5, hub_fixture_look(f)->best_score, 0);
    fake_node_credits(f, &a, 0, 0);
    offer = (struct msg_offer){.exchange = 2, .samples = 1, .score = 0.75};
    fake_node_offer(f, &a, &offer);
    fake_node_delivers_all(f, &a, 2, 0);
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(2, store.saves);
    CHECK_EQUAL(1, store.bests);
    hub_fixture_destroy(&f);
}

/* It is gone before its next PING is due. */
static void an_offer_tells_how_far_its_node_is(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 1, .samples = 1, .iteration = 400};
    struct fake_node a = fake_node_alone(f);

    fake_node_pings(f, &a, 301);
    fake_node_offer(f, &a, &offer);
    CHECK_EQUAL(400, hub_fixture_node(f, "a")->iteration);
    fake_node_pings(f, &a, 399); /* was on its way for longer */
    CHECK_EQUAL(400, hub_fixture_node(f, "a")->iteration);
    fake_node_says(f, &a, MSG_BYE);
    CHECK_CONTAINS("after 400 iterations",
                   hand_note(&f->hand, NOTE_LEFT)->text);
    CHECK_EQUAL(400, hub_fixture_node(f, "a")->iteration);
    hub_fixture_destroy(&f);
}

/* Nobody's run ends by it: that is what a PING is for. */
static void an_offer_of_2_to_the_63_iterations_ends_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {
        .exchange = 1, .samples = 1, .iteration = (uint64_t)1 << 63};
    struct fake_node a;

    f->config.iterations = 100;
    f->config.every = 10;
    a = fake_node_alone(f);
    fake_node_offer(f, &a, &offer);
    fake_node_lives(f, &a, SECOND);
    CHECK(!hub_fixture_look(f)->ending);
    hub_fixture_destroy(&f);
}

void add_hub_told_tests(CU_pSuite suite)
{
    TEST(one_alone_must_have_trained_what_it_says);
    TEST(where_nobody_offers_iterations_are_what_is_said);
    TEST(a_goal_is_not_what_one_alone_says_at_once);
    TEST(iterations_that_one_of_two_makes_up_end_nothing);
    TEST(a_loss_that_one_of_two_makes_up_reaches_no_goal);
    TEST(without_a_trainer_the_nodes_losses_are_the_score);
    TEST(without_data_the_best_is_one_that_is_saved);
    TEST(an_offer_tells_how_far_its_node_is);
    TEST(an_offer_of_2_to_the_63_iterations_ends_nothing);
}
