#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

enum { MOST = 4 };

static const char *const names[MOST] = {"a", "b", "c", "d"};

/* So many nodes, with a centre of all ones; they have offered. */
static void all_offer(struct hub_fixture *f, struct fake_node *nodes,
                      unsigned count)
{
    f->config.nodes = count;
    hub_fixture_open(f);
    for (unsigned i = 0; i < count; i++)
        nodes[i] = fake_node_comes(f, names[i]);
    fake_node_founds(f, &nodes[0], 1);
    for (unsigned i = 0; i < count; i++)
        fake_node_offers(f, &nodes[i], 1);
}

static uint64_t granted(const struct hub_fixture *f,
                        const struct fake_node *node)
{
    return fake_node_heard(f, node, MSG_GRANT)->grant.credit;
}

/* Of the last seconds, from the first one on; not what once was the most. */
static void people_see_the_mean_rate(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    double first = 0, later;

    for (uint64_t i = 1; i <= 10; i++) {
        hand_wait(&f->hand, SECOND);
        fake_node_gives(f, &a, i, 0.5);
        fake_node_pings(f, &a, i);
        if (i == 3)
            first = hub_fixture_node(f, "a")->up_rate;
    }
    later = hub_fixture_node(f, "a")->up_rate;
    CHECK_NEAR(FIXTURE_BYTES, first, 0.5 * FIXTURE_BYTES);
    CHECK_NEAR(FIXTURE_BYTES, later, 0.25 * FIXTURE_BYTES);
    fake_node_lives(f, &a, 30 * SECOND);
    CHECK(hub_fixture_node(f, "a")->up_rate < 0.02 * FIXTURE_BYTES);
    hub_fixture_destroy(&f);
}

static void uploads_share_the_budget(void)
{
    static const struct {
        unsigned nodes;
        uint64_t budget, each;
    } rows[] = {{1, 1000, 48}, {2, 64, 32}, {4, 64, 16}, {4, 100, 16},
                {4, 1, 16},    {4, 0, 48},  {2, 40, 16}};

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hub_fixture *f = hub_fixture_new();
        struct fake_node nodes[MOST];

        f->config.budget = rows[i].budget;
        all_offer(f, nodes, rows[i].nodes);
        for (unsigned j = 0; j < rows[i].nodes; j++)
            CHECK_EQUAL(rows[i].each, granted(f, &nodes[j]));
        hub_fixture_destroy(&f);
    }
}

static void a_share_of_one_chunk_still_merges_all(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[MOST];

    f->config.budget = 1;
    all_offer(f, nodes, MOST);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        for (unsigned j = 0; j < MOST; j++) {
            unsigned more = fake_node_heard_count(f, &nodes[j], MSG_CREDIT);

            /* More only when the last one is merged; "a" has founded. */
            CHECK_EQUAL(j ? i : i + 2, more);
            fake_node_delivers(f, &nodes[j], 1, i, 0.5);
        }
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* Neither can send more: a's chunk is not merged without b's, nor b's without
 * a's. */
static void who_begins_with_the_last_chunk_holds_up_nobody(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[2];

    f->config.window = 1;
    all_offer(f, nodes, 2);
    fake_node_delivers(f, &nodes[0], 1, 0, 0.5);
    fake_node_delivers(f, &nodes[1], 1, 2, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &nodes[0], 1, 0), 0);
    fake_node_delivers(f, &nodes[0], 1, 1, 0.5);
    fake_node_delivers(f, &nodes[0], 1, 2, 0.5);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        CHECK_EQUAL(i < 2 ? VERDICT_EXPIRED : VERDICT_MERGED,
                    fake_node_verdict(f, &nodes[1], 1, i));
        fake_node_credits(f, &nodes[1], 1, i < 2 ? FIXTURE_CHUNK_BYTES : 8);
    }
    hub_fixture_destroy(&f);
}

/* One more than there is credit for may be under way, and overtaken: nothing
 * beyond that. */
static void who_sends_without_credit_is_cut(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[2];
    struct hub_uploads uploads;

    f->config.budget = 1;
    all_offer(f, nodes, 2);
    fake_node_delivers(f, &nodes[1], 1, 0, 0.5);
    fake_node_delivers(f, &nodes[1], 1, 1, 0.5);
    CHECK(!hub_fixture_node(f, "b")->gone);
    hub_look_at_uploads(f->hub, &uploads);
    CHECK_EQUAL(2 * FIXTURE_CHUNK_BYTES, uploads.held);
    CHECK_EQUAL(1, uploads.partial);
    fake_node_delivers(f, &nodes[1], 1, 2, 0.5);
    CHECK(hub_fixture_node(f, "b")->gone);
    fake_node_delivers_all(f, &nodes[0], 1, 1);
    CHECK_NEAR(2, fake_node_result(f, &nodes[0], 1, 2), 0);
    hub_fixture_destroy(&f);
}

static void a_rule_that_sees_the_whole_is_outside_of_the_budget(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[MOST];

    f->config.policy = preset_find("krum")->policy;
    f->config.budget = 1;
    all_offer(f, nodes, MOST);
    for (unsigned j = 0; j < MOST; j++)
        CHECK_EQUAL(FIXTURE_CHUNKS * FIXTURE_CHUNK_BYTES,
                    granted(f, &nodes[j]));
    hub_fixture_destroy(&f);
}

/* What comes twice counts once, so that there is credit for the rest. */
static void first_parameters_that_come_twice_are_not_the_last(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.window = 1;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    f->hand.holds_jobs = true;
    fake_node_delivers(f, &a, 0, 0, 1);
    fake_node_delivers(f, &a, 0, 0, 1);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK_EQUAL(1, fake_node_heard_count(f, &a, MSG_CREDIT));
    fake_node_delivers(f, &a, 0, 1, 1);
    CHECK_EQUAL(2, fake_node_heard_count(f, &a, MSG_CREDIT));
    fake_node_delivers(f, &a, 0, 2, 1);
    CHECK(hub_fixture_look(f)->founded);
    hub_fixture_destroy(&f);
}

/* It says that a message takes so long there and back. */
static void says_trip(struct hub_fixture *f, struct fake_node *node, nanos trip)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.round_trip = trip;
    msg.ping.accuracy = -1;
    hand_say(&f->hand, node->control, &msg, NULL);
}

/* Results that a node is sent without giving credit back, of exchanges that
 * take `span` each: what its window is. */
static unsigned results_on_their_way(nanos trip, nanos span)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    unsigned count;

    f->config.window = 0;
    f->config.staleness = 1000;
    a = fake_node_alone(f);
    for (uint64_t i = 1; i <= 40; i++) {
        says_trip(f, &a, trip);
        fake_node_gives(f, &a, i, 0);
        fake_node_credits(f, &a, i, FIXTURE_BYTES);
        hand_wait(&f->hand, span);
    }
    hand_forget(&f->hand);
    for (uint64_t i = 41; i <= 100; i++)
        fake_node_gives(f, &a, i, 0);
    count = fake_node_heard_count(f, &a, MSG_RESULT);
    hub_fixture_destroy(&f);
    return count;
}

/* 40 bytes each 100 ms are 400 bytes per second; of those 1.5 round trips. */
static void an_automatic_window_holds_what_the_link_holds(void)
{
    unsigned near = results_on_their_way(MILLISECOND, 100 * MILLISECOND);
    unsigned far = results_on_their_way(SECOND, 100 * MILLISECOND);

    CHECK_EQUAL(5, near); /* 64 bytes: 16, 16, 8, 16, 16 */
    CHECK(far >= 600 / FIXTURE_CHUNK_BYTES && far <= 800 / 8);
}

void add_hub_flow_tests(CU_pSuite suite)
{
    TEST(people_see_the_mean_rate);
    TEST(uploads_share_the_budget);
    TEST(a_share_of_one_chunk_still_merges_all);
    TEST(who_begins_with_the_last_chunk_holds_up_nobody);
    TEST(who_sends_without_credit_is_cut);
    TEST(a_rule_that_sees_the_whole_is_outside_of_the_budget);
    TEST(first_parameters_that_come_twice_are_not_the_last);
    TEST(an_automatic_window_holds_what_the_link_holds);
}
