/* k and d while a run goes on (hub/adapt.c): a node whose link takes its time.
 */
#include "tests/check.h"
#include "tests/hub/pair.h"

/* A node and what it has told. */
struct told {
    struct fake_node node;
    uint64_t exchange, iteration, results, taken;
};

static struct told begin(struct hub_fixture *f)
{
    struct told told = {.exchange = 1};

    f->config.every = 20;
    f->config.delay = 4;
    f->config.free_every = f->config.free_delay = true;
    f->config.fragments = 1;
    told.node = fake_node_alone(f);
    return told;
}

/* So many exchanges, `up` each until all is here, and again until credit comes
 * for the result; 10 iterations a second. */
static void trains(struct hub_fixture *f, struct told *told, unsigned count,
                   nanos up, nanos rest)
{
    while (count--) {
        struct msg msg = {.kind = MSG_PING};

        fake_node_offers(f, &told->node, told->exchange);
        hand_wait(&f->hand, up);
        fake_node_delivers_all(f, &told->node, told->exchange, 0);
        hand_wait(&f->hand, up);
        fake_node_returns(f, &told->node, told->exchange++);
        told->iteration += (uint64_t)((2 * up + rest) / (100 * MILLISECOND));
        told->results++;
        told->taken += (uint64_t)(2 * up / (100 * MILLISECOND)) + 1;
        msg.ping.iteration = told->iteration;
        msg.ping.rate = 10;
        msg.ping.accuracy = -1;
        msg.ping.results = told->results;
        msg.ping.taken = told->taken;
        hand_say(&f->hand, told->node.control, &msg, NULL);
        hand_wait(&f->hand, rest);
    }
}

static const struct msg_tune *tuned(const struct hub_fixture *f,
                                    const struct told *told)
{
    const struct msg *msg = fake_node_heard(f, &told->node, MSG_TUNE);

    return msg ? &msg->tune : NULL;
}

static unsigned tunes(const struct hub_fixture *f, const struct told *told)
{
    return fake_node_heard_count(f, &told->node, MSG_TUNE);
}

/* Busy for 0.3 s of 10 iterations a second, up or down: k = 0.3 10 / 0.75 would
 * do; but an exchange takes 7, and k is twice that. */
static void a_node_is_told_after_some_rounds(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct told told = begin(f);
    const struct msg_tune *tune;

    trains(f, &told, 2, 300 * MILLISECOND, 1400 * MILLISECOND);
    CHECK_EQUAL(0, tunes(f, &told));
    trains(f, &told, 6, 300 * MILLISECOND, 1400 * MILLISECOND);
    CHECK_EQUAL(1, tunes(f, &told));
    tune = tuned(f, &told);
    CHECK(tune && tune->every == 14);
    CHECK(tune && tune->delay == 7);
    CHECK_CONTAINS("k 20 -> ", hand_note(&f->hand, NOTE_TEMPO)->text);
    CHECK_EQUAL(tune ? tune->every : 0, hub_fixture_look(f)->every);
    CHECK_EQUAL(7, hub_fixture_look(f)->delay);
    hub_fixture_destroy(&f);
}

static void says_rate(struct hub_fixture *f, const struct fake_node *node,
                      double rate)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.rate = rate;
    msg.ping.accuracy = -1;
    hand_say(&f->hand, node->control, &msg, NULL);
}

/* a = k / (k + d), with k and d of the node. */
static void with_dylu_a_slow_node_has_a_part_of_k_and_d(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node quick, slow;

    f->config.policy = preset_find("auto")->policy;
    f->config.every = 20;
    f->config.delay = 10;
    f->config.dylu = true;
    hub_fixture_open(f);
    quick = fake_node_comes(f, "quick");
    slow = fake_node_comes(f, "slow");
    fake_node_founds(f, &quick, 1);
    says_rate(f, &quick, 10);
    says_rate(f, &slow, 5);
    hand_wait(&f->hand, SECOND); /* it is told with a tick */
    for (uint64_t i = 1; i <= 2; i++) {
        fake_node_gives(f, &quick, i, 1);
        fake_node_gives(f, &slow, i, 1);
    }
    CHECK_NEAR(20. / 30, fake_node_heard(f, &quick, MSG_RESULT)->result.weight,
               1e-6);
    CHECK_NEAR(10. / 15, fake_node_heard(f, &slow, MSG_RESULT)->result.weight,
               1e-6);
    CHECK_EQUAL(10, fake_node_heard(f, &slow, MSG_TUNE)->tune.every);
    CHECK_EQUAL(5, fake_node_heard(f, &slow, MSG_TUNE)->tune.delay);
    hub_fixture_destroy(&f);
}

static void a_node_that_comes_later_is_welcomed_with_them(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct told told = begin(f);
    struct fake_node late;
    const struct msg *welcome;

    trains(f, &told, 8, 300 * MILLISECOND, 1400 * MILLISECOND);
    late = fake_node_comes(f, "late");
    welcome = fake_node_heard(f, &late, MSG_WELCOME);
    CHECK_EQUAL(hub_fixture_look(f)->every, welcome->welcome.every);
    CHECK_EQUAL(7, welcome->welcome.delay);
    hub_fixture_destroy(&f);
}

static void it_changes_once_a_minute_at_most(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct told told = begin(f);
    uint64_t first;

    trains(f, &told, 8, 300 * MILLISECOND, 1400 * MILLISECOND);
    first = hub_fixture_look(f)->every;
    trains(f, &told, 20, 100 * MILLISECOND, 1800 * MILLISECOND);
    CHECK_EQUAL(1, tunes(f, &told));
    trains(f, &told, 20, 100 * MILLISECOND, 1800 * MILLISECOND);
    CHECK_EQUAL(2, tunes(f, &told));
    CHECK(hub_fixture_look(f)->every < first);
    hub_fixture_destroy(&f);
}

static void full_links_too_wait_for_the_minute(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct told told = begin(f);
    uint64_t first;

    trains(f, &told, 8, 300 * MILLISECOND, 1400 * MILLISECOND);
    first = hub_fixture_look(f)->every;
    trains(f, &told, 12, 3 * SECOND, 0);
    CHECK_EQUAL(1, tunes(f, &told));
    trains(f, &told, 12, 3 * SECOND, 0);
    CHECK_EQUAL(2, tunes(f, &told));
    CHECK(hub_fixture_look(f)->every >= 2 * first);
    CHECK(hub_fixture_look(f)->delay > 7);
    hub_fixture_destroy(&f);
}

static void what_is_fixed_stays(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct told told;

    f->config.every = 20;
    f->config.delay = 4;
    told.node = fake_node_alone(f);
    told = (struct told){.node = told.node, .exchange = 1};
    trains(f, &told, 20, 300 * MILLISECOND, 1400 * MILLISECOND);
    CHECK_EQUAL(0, tunes(f, &told));
    CHECK_EQUAL(20, hub_fixture_look(f)->every);
    CHECK_EQUAL(4, hub_fixture_look(f)->delay);
    hub_fixture_destroy(&f);
}

/* Numbers that a node makes up do no harm. */
static void nonsense_of_a_node_is_bounded(void)
{
    static const uint64_t results[] = {1, UINT64_MAX, 0, 5, 1ULL << 63};
    struct hub_fixture *f = hub_fixture_new();
    struct told told = begin(f);

    for (unsigned i = 0; i < 200; i++) {
        struct msg msg = {.kind = MSG_PING};

        trains(f, &told, 1, 100 * MILLISECOND, 800 * MILLISECOND);
        msg.ping.accuracy = -1;
        msg.ping.rate = i % 3 ? 1e300 : 1e-300;
        msg.ping.results = results[i % 5];
        msg.ping.taken = results[(i + 2) % 5];
        msg.ping.missed = results[(i + 1) % 5];
        msg.ping.exchanging = i % 2 ? INT64_MAX : INT64_MIN;
        hand_say(&f->hand, told.node.control, &msg, NULL);
    }
    CHECK(hub_fixture_look(f)->every >= 1);
    CHECK(hub_fixture_look(f)->every <= 1000000);
    CHECK(hub_fixture_look(f)->delay <= 1000000);
    hub_fixture_destroy(&f);
}

/* Beside who offers nothing; rounds do not wait for it. */
static struct told begin_beside(struct hub_fixture *f, struct fake_node *other)
{
    struct told told;

    f->config.policy.gate = &gate_async;
    told = begin(f);
    *other = fake_node_comes(f, "other");
    fake_node_credits(f, other, 0, 0);
    return told;
}

/* It says 30 times an exchange that a result has come, which took 10^12
 * iterations, or fewer than none. */
static void who_lies_often_counts_as_one(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node liar;
    struct told told = begin_beside(f, &liar);
    struct msg msg = {.kind = MSG_PING};

    msg.ping.accuracy = -1;
    for (unsigned i = 0; i < 8; i++) {
        trains(f, &told, 1, 300 * MILLISECOND, 1400 * MILLISECOND);
        for (unsigned j = 0; j < 30; j++) {
            msg.ping.results++;
            msg.ping.taken = j % 5 ? msg.ping.taken + 1000000000000 : 0;
            hand_say(&f->hand, liar.control, &msg, NULL);
        }
    }
    CHECK_EQUAL(14, hub_fixture_look(f)->every);
    CHECK_EQUAL(7, hub_fixture_look(f)->delay);
    hub_fixture_destroy(&f);
}

/* It has evaluated meanwhile. */
static void with_dylu_one_slow_moment_changes_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node quick, other;

    f->config.every = 20;
    f->config.dylu = true;
    hub_fixture_open(f);
    quick = fake_node_comes(f, "quick");
    other = fake_node_comes(f, "other");
    fake_node_founds(f, &quick, 1);
    for (unsigned i = 0; i < 8; i++) {
        says_rate(f, &quick, 10);
        says_rate(f, &other, i % 4 == 3 ? 1.7 : 10);
        hand_wait(&f->hand, SECOND);
    }
    CHECK_EQUAL(0, fake_node_heard_count(f, &other, MSG_TUNE));
    for (unsigned i = 0; i < 3; i++)
        says_rate(f, &other, 5);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(1, fake_node_heard_count(f, &other, MSG_TUNE));
    hub_fixture_destroy(&f);
}

/* Of its three iterations two were whole: eight of those that k is for. */
static void with_dylu_what_a_slow_node_waits_counts_as_time(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg msg = {.kind = MSG_PING};
    struct fake_node slow;
    struct told told;

    f->config.dylu = true;
    told = begin_beside(f, &slow);
    msg.ping.accuracy = -1;
    msg.ping.rate = 2.5;
    for (unsigned i = 0; i < 8; i++) {
        trains(f, &told, 1, 300 * MILLISECOND, 1400 * MILLISECOND);
        msg.ping.results++;
        msg.ping.taken += 3;
        hand_say(&f->hand, slow.control, &msg, NULL);
    }
    CHECK_EQUAL(14, hub_fixture_look(f)->every);
    CHECK_EQUAL(7, hub_fixture_look(f)->delay);
    CHECK_EQUAL(3, fake_node_heard(f, &slow, MSG_TUNE)->tune.every);
    hub_fixture_destroy(&f);
}

static void a_made_up_rate_does_not_set_k(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node liar;
    struct told told = begin_beside(f, &liar);

    for (unsigned i = 0; i < 8; i++) {
        trains(f, &told, 1, 300 * MILLISECOND, 1400 * MILLISECOND);
        pair_pings(f, &liar, 1e300);
    }
    CHECK_EQUAL(1, tunes(f, &told));
    CHECK(hub_fixture_look(f)->every < 100);
    hub_fixture_destroy(&f);
}

void add_hub_adapt_tests(CU_pSuite suite)
{
    TEST(a_node_is_told_after_some_rounds);
    TEST(with_dylu_a_slow_node_has_a_part_of_k_and_d);
    TEST(a_node_that_comes_later_is_welcomed_with_them);
    TEST(it_changes_once_a_minute_at_most);
    TEST(full_links_too_wait_for_the_minute);
    TEST(what_is_fixed_stays);
    TEST(nonsense_of_a_node_is_bounded);
    TEST(who_lies_often_counts_as_one);
    TEST(with_dylu_one_slow_moment_changes_nothing);
    TEST(with_dylu_what_a_slow_node_waits_counts_as_time);
    TEST(a_made_up_rate_does_not_set_k);
}
