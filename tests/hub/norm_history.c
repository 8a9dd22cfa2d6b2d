/* Updates that come alone are measured by those before them. */
#include "hub/norm_history.h"

#include <math.h>

#include "hub/state.h"
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

/* An exchange of ten equal values at this iteration, 0: it is not said, that
 * says its true length; what chunk 0 of the centre is then. */
static double gives_at(struct hub_fixture *f, struct fake_node *node,
                       uint64_t exchange, uint64_t iteration, double value)
{
    struct msg_offer offer = {.exchange = exchange,
                              .iteration = iteration,
                              .base_version = hub_fixture_look(f)->version,
                              .samples = 1,
                              .norm = fabs(value) * sqrt(FIXTURE_ELEMENTS),
                              .score = NO_SCORE};
    double centre;

    hand_forget(&f->hand);
    fake_node_offer(f, node, &offer);
    fake_node_delivers_all(f, node, exchange, value);
    centre = fake_node_result(f, node, exchange, 0);
    fake_node_returns(f, node, exchange);
    return centre;
}

static double gives(struct hub_fixture *f, struct fake_node *node,
                    uint64_t exchange, double value)
{
    return gives_at(f, node, exchange, 0, value);
}

static struct hub_fixture *hub_fixture_of(const char *preset)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.policy = preset_find(preset)->policy;
    return f;
}

/* Node a, which founds, beside another one that has nothing to offer: what a
 * offers counts for half. */
static struct fake_node one_of_two(struct hub_fixture *f)
{
    struct fake_node a = fake_node_alone(f);

    (void)fake_node_comes(f, "b");
    return a;
}

static void one_of_two_may_offer_twice_what_it_usually_does(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    struct fake_node a = one_of_two(f);

    CHECK_NEAR(51, gives(f, &a, 1, 100), 0); /* nothing is known */
    for (uint64_t i = 2; i <= UINT64_C(2) * NORMS_KEPT; i++)
        (void)gives(f, &a, i, 1);
    CHECK_NEAR(59.5, gives(f, &a, 100, 2), 1e-4);
    CHECK_NEAR(60.5, gives(f, &a, 101, 1e6), 1e-4);
    hub_fixture_destroy(&f);
}

/* As with a warm-up, the i-th is i^2 times as long as the first. */
static void the_updates_of_one_alone_may_grow(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    struct fake_node a = fake_node_alone(f);
    double centre = 0;

    for (uint64_t i = 1; i <= 4; i++)
        centre = gives(f, &a, i, (double)(i * i));
    CHECK_NEAR(1 + 1 + 4 + 9 + 16, centre, 1e-5);
    hub_fixture_destroy(&f);
}

/* Theirs stay as long as they were, while those of the others grow. */
static void those_that_are_gone_have_one_vote(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct fake_node node[5] = {fake_node_alone(f)};
    double before, after;

    for (unsigned i = 1; i < 5; i++)
        node[i] = fake_node_comes(f, names[i]);
    for (unsigned i = 0; i < 5; i++)
        (void)gives(f, &node[i], 1, 0.01);
    for (unsigned i = 2; i < 5; i++)
        fake_node_breaks(f, &node[i]);
    for (uint64_t i = 2; i < 2 + NORMS_KEPT; i++)
        for (unsigned j = 0; j < 2; j++)
            (void)gives(f, &node[j], i, 0.019);
    before = gives(f, &node[0], 2 + NORMS_KEPT, 0.036);
    after = gives(f, &node[1], 2 + NORMS_KEPT, 0.036);
    CHECK_NEAR(0.018, after - before, 1e-6);
    hub_fixture_destroy(&f);
}

/* Who has just founded the run offers what it has learnt since, and k
 * iterations later three times as much: nothing of it may be lost. */
static void a_short_first_offer_is_no_measure(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    struct fake_node a;

    f->config.every = 20;
    a = one_of_two(f);
    CHECK_NEAR(1.35, gives_at(f, &a, 1, 7, 0.7), 1e-6);
    CHECK_NEAR(2.35, gives_at(f, &a, 2, 27, 2), 1e-6);
    CHECK_NEAR(3.35, gives_at(f, &a, 3, 47, 2), 1e-6);
    /* of what is whole, there is a measure */
    CHECK_NEAR(5.35, gives_at(f, &a, 4, 67, 1e6), 1e-4);
    hub_fixture_destroy(&f);
}

/* Of k = 20 it is ten times as long as of k = 2. */
static void what_is_usual_grows_with_k(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    struct fake_node a;

    f->config.every = 2;
    a = one_of_two(f);
    for (uint64_t i = 1; i <= NORMS_KEPT; i++)
        (void)gives_at(f, &a, i, 2 * i, 0.2);
    f->hub->adapt.every = 20;
    CHECK_NEAR(1.8 + 1, gives_at(f, &a, 20, 36, 2), 1e-6);
    CHECK_NEAR(2.8 + 2, gives_at(f, &a, 21, 56, 1e6), 1e-4);
    hub_fixture_destroy(&f);
}

static void a_giant_among_three_cannot_raise_the_measure(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b"),
                     c = fake_node_comes(f, "c");
    double before, after;

    for (uint64_t i = 1; i <= NORMS_KEPT; i++) {
        (void)gives(f, &a, i, 0.3);
        (void)gives(f, &b, i, 0.3);
        (void)gives(f, &c, i, 1e9);
    }
    before = gives(f, &a, 100, 0);
    after = gives(f, &c, 100, 1e9);
    CHECK_NEAR(0.2, after - before, 1e-3); /* 2 x 0.3 / 3 */
    hub_fixture_destroy(&f);
}

static void fragments_are_measured_apart(void)
{
    struct hub_fixture *f = hub_fixture_of("async");
    struct fake_node a;
    double first;

    f->config.fragments = 2;
    a = one_of_two(f);
    for (uint64_t i = 1; i <= 4; i++) {
        struct msg_offer offer = {.exchange = i,
                                  .fragment = (uint32_t)(i % 2),
                                  .base_version = hub_fixture_look(f)->version,
                                  .samples = 1,
                                  .norm = i % 2 ? 2 : 200 * sqrt(6),
                                  .score = NO_SCORE};

        hand_forget(&f->hand);
        fake_node_offer(f, &a, &offer);
        if (i % 2) {
            fake_node_delivers(f, &a, i, 1, 1);
        } else {
            fake_node_delivers(f, &a, i, 0, 200);
            fake_node_delivers(f, &a, i, 2, 200);
        }
        first = fake_node_result(f, &a, i, i % 2);
        fake_node_returns(f, &a, i);
    }
    CHECK_NEAR(201, first, 1e-3);
    hub_fixture_destroy(&f);
}

void add_hub_norm_history_tests(CU_pSuite suite)
{
    TEST(one_of_two_may_offer_twice_what_it_usually_does);
    TEST(the_updates_of_one_alone_may_grow);
    TEST(those_that_are_gone_have_one_vote);
    TEST(a_short_first_offer_is_no_measure);
    TEST(what_is_usual_grows_with_k);
    TEST(a_giant_among_three_cannot_raise_the_measure);
    TEST(fragments_are_measured_apart);
}
