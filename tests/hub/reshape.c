/* The model of a hub that has merged nothing is that of whoever comes first,
 * and may be another one when that node comes again. */
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

/* Adds so many elements to the model that nodes come with. */
static void enlarge(struct hub_fixture *f, uint64_t elements)
{
    CHECK_OK(schema_add(f->schema, "more", 1, &elements, NULL));
}

/* A hub in a tournament asks for its parameters. */
static void enter(struct hub_fixture *f, struct fake_node *node)
{
    const struct msg_offer offer = {.exchange = 1,
                                    .iteration = 1,
                                    .samples = 1,
                                    .score = 1,
                                    .kind = EXCHANGE_PARAMETERS,
                                    .lineage = 5};

    fake_node_offer(f, node, &offer);
    CHECK(fake_node_heard(f, node, MSG_GRANT) != NULL);
}

/* It has asked a, which breaks off. */
static struct fake_node break_off(struct hub_fixture *f)
{
    struct fake_node a;

    f->config.init = INIT_TOURNAMENT;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    enter(f, &a);
    fake_node_breaks(f, &a);
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    hand_forget(&f->hand);
    return a;
}

/* Found by a review: those of the smaller model were read as if they had as
 * many chunks as the larger. */
static void with_another_model_nobody_is_told_of_former_exchanges(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = break_off(f);

    enlarge(f, 1000);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(FIXTURE_ELEMENTS + 1000, hub_schema(f->hub)->elements);
    CHECK_EQUAL(0, fake_node_heard_count(f, &a, MSG_VERDICT));
    hub_fixture_destroy(&f);
}

static void another_process_may_come_with_a_larger_model(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = break_off(f);

    enlarge(f, 1000);
    a.hello.incarnation++;
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    enter(f, &a);
    hub_fixture_destroy(&f);
}

/* What is being checked is of the smaller model, and reads what the hub knows
 * of it. */
static void another_model_waits_for_what_is_being_checked(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    f->hand.holds_jobs = true;
    fake_node_delivers(f, &a, 0, FIXTURE_CHUNKS - 1, 1);
    fake_node_breaks(f, &a);
    hand_forget(&f->hand);
    enlarge(f, 1000);
    fake_node_comes_again(f, &a);
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) == NULL);
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &a));
    hand_work(&f->hand);
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    CHECK_EQUAL(FIXTURE_ELEMENTS + 1000, hub_schema(f->hub)->elements);
    hub_fixture_destroy(&f);
}

/* Nothing of the model changes for those who are checked. */
static void the_same_model_does_not_wait(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    f->hand.holds_jobs = true;
    fake_node_delivers(f, &a, 0, 0, 1);
    fake_node_breaks(f, &a);
    hand_forget(&f->hand);
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    fake_node_founds(f, &a, 2);
    hub_fixture_destroy(&f);
}

void add_hub_reshape_tests(CU_pSuite suite)
{
    TEST(with_another_model_nobody_is_told_of_former_exchanges);
    TEST(another_process_may_come_with_a_larger_model);
    TEST(another_model_waits_for_what_is_being_checked);
    TEST(the_same_model_does_not_wait);
}
