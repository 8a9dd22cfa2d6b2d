/* A centre that got much worse goes back. */
#include <math.h>

#include "tests/check.h"
#include "tests/hub/spoiled.h"

static struct store store;

static void a_centre_twice_as_bad_goes_back(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);
    const struct note *note;

    spoil(f, &store, &a, 1.01);
    note = hand_note(&f->hand, NOTE_ROLLED_BACK);
    if (CHECK(note != NULL)) {
        CHECK_CONTAINS("loss 1.01 at version 2", note->text);
        CHECK_CONTAINS("version 3 is version 1 again, loss 0.5", note->text);
    }
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_NEAR(0.5, hub_fixture_look(f)->score, 0);
    CHECK_NEAR(2, fake_node_takes(f, &a), 0);
    store.loss = 0.4;
    spoiled_give(f, &a, 3, 0.25);
    CHECK_NEAR(2.25, fake_node_result(f, &a, 3, 0), 0);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    fake_node_lives(f, &a, 2 * EACH);
    CHECK_NEAR(0.4, hub_fixture_look(f)->score, 0);
    hub_fixture_destroy(&f);
}

static void it_is_saved_at_once_and_once_more_scored_when_it_has_moved(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);
    unsigned scores = store.scores;

    spoil(f, &store, &a, 1.01);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(3, store.version);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_EQUAL(scores + 1, store.scores);
    hub_fixture_destroy(&f);
}

static void a_loss_that_is_no_number_is_bad(void)
{
    const double losses[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct hub_fixture *f = spoiled_fixture(&store);
        struct fake_node a = spoiled_begin(f, &store, 0.5);

        spoil(f, &store, &a, losses[i]);
        CHECK(is_rolled_back(f));
        CHECK_NEAR(2, fake_node_takes(f, &a), 0);
        hub_fixture_destroy(&f);
    }
}

static bool goes_back(double rollback, double error, double loss)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a;
    bool back;

    f->config.policy.numbers.rollback = rollback;
    store.error = error;
    a = spoiled_begin(f, &store, 0.5);
    spoil(f, &store, &a, loss);
    back = is_rolled_back(f);
    CHECK_EQUAL(back ? 3 : 2, hub_fixture_look(f)->version);
    CHECK_NEAR(back ? 0.5 : loss, hub_fixture_look(f)->score, 0);
    hub_fixture_destroy(&f);
    return back;
}

static void how_much_worse_is_a_number(void)
{
    CHECK(!goes_back(1, 0, 0.99));
    CHECK(goes_back(1, 0, 1.01));
    CHECK(!goes_back(0.1, 0, 0.54));
    CHECK(goes_back(0.1, 0, 0.56));
    CHECK(!goes_back(3, 0, 1.99));
    CHECK(goes_back(3, 0, 2.01));
}

/* Of a difference of 0.1, 3 errors are 3 sqrt(2) e. */
static void what_may_be_chance_is_not_bad(void)
{
    CHECK(!goes_back(0.1, 0.025, 0.6));
    CHECK(goes_back(0.1, 0.023, 0.6));
}

/* Round after round comes to 0.8, which is no accident then. */
static void the_same_loss_again_and_again_is_no_accident(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a;
    unsigned back = 0;

    f->config.policy.numbers.rollback = 0.5;
    a = spoiled_begin(f, &store, 0.5);
    for (uint64_t i = 2; i < 8; i++) {
        hand_forget(&f->hand);
        store.loss = 0.8;
        spoiled_give(f, &a, i, 1);
        fake_node_lives(f, &a, 2 * EACH);
        if (!is_rolled_back(f))
            continue;
        back++;
        CHECK_NEAR(0.5, hub_fixture_look(f)->score, 0);
        (void)fake_node_takes(f, &a);
        fake_node_returns(f, &a, 0);
    }
    CHECK_EQUAL(3, back);
    CHECK_NEAR(0.8, hub_fixture_look(f)->score, 0);
    hub_fixture_destroy(&f);
}

static void off_is_off(void)
{
    CHECK(!goes_back(0, 0, 1e9));
}

/* The mean of what nodes say of themselves falls, and rises a hundredfold. */
static void what_nodes_say_is_no_reason(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct msg_offer offer = {.samples = 1};
    struct fake_node a;

    f->config.evaluate = NULL;
    a = fake_node_alone(f);
    for (unsigned i = 1; i <= 2; i++) {
        offer.exchange = i;
        offer.base_version = i - 1;
        offer.score = i == 1 ? 0.5 : 50;
        fake_node_offer(f, &a, &offer);
        fake_node_delivers_all(f, &a, i, 1);
        fake_node_lives(f, &a, 2 * EACH);
        CHECK_NEAR(offer.score, hub_fixture_look(f)->score, 0);
    }
    CHECK(!is_rolled_back(f));
    CHECK_EQUAL(2, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void the_good_one_is_the_newest_and_not_the_best(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.1);

    for (unsigned i = 0; i < 5; i++) {
        store.loss *= 1.9;
        spoiled_give(f, &a, 2 + i, 1);
        fake_node_lives(f, &a, 2 * EACH);
    }
    CHECK(!is_rolled_back(f));
    store.loss *= 2.1;
    spoiled_give(f, &a, 7, 1);
    fake_node_lives(f, &a, 2 * EACH);
    CHECK(is_rolled_back(f));
    CHECK_NEAR(7, fake_node_takes(f, &a), 0);
    hub_fixture_destroy(&f);
}

static void state_vectors_are_zeros_again(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a;

    f->config.policy = preset_find("diloco")->policy;
    a = spoiled_begin(f, &store, 0.5);
    spoil(f, &store, &a, 5);
    CHECK_EQUAL(3, store.version);
    CHECK_EQUAL(0, store.slots);
    (void)fake_node_takes(f, &a);
    spoiled_give(f, &a, 3, 1);
    CHECK_NEAR(2.33 + 0.7 * 1.9, fake_node_result(f, &a, 3, 0), 1e-5);
    hub_fixture_destroy(&f);
}

static void the_last_version_is_looked_at_before_it_is_saved(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);

    store.loss = 5;
    hub_fixture_stop(f);
    fake_node_gives_last(f, &a, 2, 100);
    hand_wait(&f->hand, SECOND);
    CHECK(hub_fixture_look(f)->ended);
    CHECK(is_rolled_back(f));
    CHECK_EQUAL(1, store.finals);
    CHECK_EQUAL(3, store.version);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_NEAR(0.5, hub_fixture_look(f)->score, 0);
    hub_fixture_destroy(&f);
}

static void the_operator_may_order_it(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);
    uint64_t ticket;

    spoiled_give(f, &a, 2, 100);
    ticket = hub_fixture_order(f, COMMAND_ROLLBACK, "");
    hub_fixture_answered(f, ticket, STATUS_OK, "version 1 again");
    CHECK_CONTAINS("by order at version 2: version 3 is version 1 again",
                   hand_note(&f->hand, NOTE_ROLLED_BACK)->text);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_NEAR(2, fake_node_takes(f, &a), 0);
    spoiled_give(f, &a, 3, 0.25);
    CHECK_NEAR(2.25, fake_node_result(f, &a, 3, 0), 0);
    hub_fixture_destroy(&f);
}

static void without_a_good_version_an_order_says_so(void)
{
    struct hub_fixture *f = hub_fixture_new();

    (void)fake_node_alone(f);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_ROLLBACK, ""),
                         STATUS_CONFIG, "--data");
    hub_fixture_destroy(&f);
    f = spoiled_fixture(&store);
    (void)fake_node_alone(f);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_ROLLBACK, ""),
                         STATUS_AGAIN, "no version has been scored yet");
    hub_fixture_destroy(&f);
    f = spoiled_fixture(&store);
    (void)spoiled_begin(f, &store, 0.5);
    hub_fixture_answered(f, hub_fixture_order(f, COMMAND_ROLLBACK, ""),
                         STATUS_AGAIN, "version 1, the centre's");
    hub_fixture_destroy(&f);
}

void add_hub_rollback_tests(CU_pSuite suite)
{
    TEST(a_centre_twice_as_bad_goes_back);
    TEST(it_is_saved_at_once_and_once_more_scored_when_it_has_moved);
    TEST(a_loss_that_is_no_number_is_bad);
    TEST(how_much_worse_is_a_number);
    TEST(what_may_be_chance_is_not_bad);
    TEST(the_same_loss_again_and_again_is_no_accident);
    TEST(off_is_off);
    TEST(what_nodes_say_is_no_reason);
    TEST(the_good_one_is_the_newest_and_not_the_best);
    TEST(state_vectors_are_zeros_again);
    TEST(the_operator_may_order_it);
    TEST(without_a_good_version_an_order_says_so);
    TEST(the_last_version_is_looked_at_before_it_is_saved);
}
