/* Bytes on the wire: a sign of life, and progress (hub/heard.c). */
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static struct fake_node *pinging[2];

static void ping(struct hub_fixture *f, struct fake_node *node)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.accuracy = -1;
    msg.ping.rate = 10;
    hand_say(&f->hand, node->control, &msg, NULL);
}

/* So many seconds pass; both say PING. */
static void seconds_pass(struct hub_fixture *f, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        hand_wait(&f->hand, SECOND);
        for (unsigned j = 0; j < 2; j++)
            if (pinging[j])
                ping(f, pinging[j]);
    }
}

static void arrives(struct hub_fixture *f, struct fake_node *node,
                    uint64_t bytes)
{
    struct msg msg = {.kind = MSG_ARRIVING};

    msg.arriving.bytes = bytes;
    msg.arriving.whole = 1600;
    hand_say(&f->hand, node->bulk, &msg, NULL);
}

static void bytes_are_a_sign_of_life(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    for (unsigned i = 1; i <= 20; i++) {
        hand_wait(&f->hand, SECOND);
        arrives(f, &a, 80 * (uint64_t)i);
        CHECK(fake_node_heard(f, &a, MSG_PONG) != NULL);
        hand_forget(&f->hand);
    }
    CHECK(!hub_fixture_node(f, "a")->silent);
    hand_wait(&f->hand, 3 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    arrives(f, &a, 100);
    CHECK(!hub_fixture_node(f, "a")->silent);
    hub_fixture_destroy(&f);
}

/* Each offer stands for one sample; what nobody merges does not count. */
static void nodes_are_told_how_many_samples_were_merged(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    for (uint64_t i = 1; i <= 3; i++) {
        fake_node_pings(f, &a, 1);
        CHECK_EQUAL(i - 1, fake_node_heard(f, &a, MSG_PONG)->pong.samples);
        hand_forget(&f->hand);
        fake_node_gives(f, &a, i, 0.5);
    }
    fake_node_gives(f, &a, 3, 0.5);
    fake_node_pings(f, &a, 1);
    CHECK_EQUAL(3, fake_node_heard(f, &a, MSG_PONG)->pong.samples);
    hub_fixture_destroy(&f);
}

/* Of several the median's word bounds what each may say. */
static void who_says_too_much_is_believed_in_part(void)
{
    const struct candidate list[] = {
        {.samples = 30}, {.samples = 1e18}, {.samples = 20}};
    double samples[3];

    policy_samples(list, 3, samples);
    CHECK_NEAR(30, samples[0], 0);
    CHECK_NEAR(300, samples[1], 0);
    CHECK_NEAR(20, samples[2], 0);
}

static void who_is_far_away_may_be_silent_for_longer(void)
{
    struct msg far = {.kind = MSG_PING,
                      .ping = {.accuracy = -1, .round_trip = 4 * SECOND}};
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    hand_say(&f->hand, a.control, &far, NULL);
    hand_wait(&f->hand, 9 * SECOND);
    CHECK(!hub_fixture_node(f, "a")->silent);
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    far.ping.round_trip = INT64_MAX;
    hand_say(&f->hand, a.control, &far, NULL);
    CHECK(!hub_fixture_node(f, "a")->silent);
    hand_wait(&f->hand, 33 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    hub_fixture_destroy(&f);
}

/* What it is sent goes through the queue that holds back its PINGs. */
static void who_takes_long_to_fetch_may_be_silent_meanwhile(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    pinging[0] = &a;
    pinging[1] = NULL;
    fake_node_founds(f, &a, 1);
    fake_node_gives(f, &a, 1, 0);
    seconds_pass(f, 8);
    fake_node_returns(f, &a, 1);
    fake_node_gives(f, &a, 2, 0);
    hand_wait(&f->hand, 9 * SECOND);
    CHECK(!hub_fixture_node(f, "a")->silent);
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    hub_fixture_destroy(&f);
}

/* All others wait for one that the policy has chosen, and whose link carries
 * a hundred bytes in twenty seconds. */
static struct hub_fixture *a_uploads(struct fake_node *a, struct fake_node *b)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.policy.select = &select_best;
    hub_fixture_open(f);
    *a = fake_node_comes(f, "a");
    *b = fake_node_comes(f, "b");
    pinging[0] = a;
    pinging[1] = b;
    fake_node_founds(f, a, 1);
    fake_node_offers(f, b, 1);
    fake_node_offers(f, a, 1);
    return f;
}

static void a_chunk_may_take_minutes_as_long_as_bytes_come(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = a_uploads(&a, &b);

    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        for (unsigned bytes = 100; bytes < 1600; bytes += 100) {
            seconds_pass(f, 20);
            arrives(f, &a, bytes);
        }
        if (i == 0)
            CHECK_CONTAINS("waits for a to upload, for 300 s: 31 % is here, "
                           "the rest takes 660 s",
                           hub_fixture_look(f)->state);
        fake_node_delivers(f, &a, 1, i, 1);
    }
    CHECK_EQUAL(1, hub_fixture_look(f)->rounds);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 1, 0));
    hub_fixture_destroy(&f);
}

static void a_byte_now_and_then_is_no_progress(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = a_uploads(&a, &b);

    for (unsigned bytes = 1; bytes <= 40; bytes++) {
        seconds_pass(f, 1);
        arrives(f, &a, bytes);
    }
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &a, 1, 0));
    hub_fixture_destroy(&f);
}

static void so_may_first_parameters(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    pinging[0] = &a;
    pinging[1] = NULL;
    for (unsigned bytes = 100; bytes < 1600; bytes += 100) {
        seconds_pass(f, 50);
        arrives(f, &a, bytes);
    }
    fake_node_founds(f, &a, 1);
    CHECK(hub_fixture_look(f)->founded);
    CHECK(!hand_note(&f->hand, NOTE_SUSPECT));
    hub_fixture_destroy(&f);
}

/* A counter that fell to 0 and rose again would be added twice. */
static void what_a_node_counts_goes_on_over_its_sessions(void)
{
    struct msg told = {.kind = MSG_PING,
                       .ping = {.sent = 1,
                                .accuracy = -1,
                                .missed = 7,
                                .waited = 5 * SECOND,
                                .compute = 9 * SECOND}};
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    CHECK(!hub_fixture_node(f, "a")->told);
    hand_say(&f->hand, a.control, &told, NULL);
    fake_node_breaks(f, &a);
    fake_node_comes_again(f, &a);
    CHECK(hub_fixture_node(f, "a")->told);
    CHECK_EQUAL(7, hub_fixture_node(f, "a")->missed);
    CHECK_EQUAL(5 * SECOND, hub_fixture_node(f, "a")->waited);
    CHECK_EQUAL(9 * SECOND, hub_fixture_node(f, "a")->spent[SPENT_COMPUTE]);
    fake_node_breaks(f, &a);
    a.hello.incarnation++; /* another process of it */
    fake_node_comes_again(f, &a);
    CHECK(!hub_fixture_node(f, "a")->told);
    CHECK_EQUAL(7, hub_fixture_node(f, "a")->missed);
    hand_say(&f->hand, a.control, &told, NULL);
    CHECK_EQUAL(14, hub_fixture_node(f, "a")->missed);
    CHECK_EQUAL(10 * SECOND, hub_fixture_node(f, "a")->waited);
    CHECK_EQUAL(18 * SECOND, hub_fixture_node(f, "a")->spent[SPENT_COMPUTE]);
    hub_fixture_destroy(&f);
}

void add_hub_heard_tests(CU_pSuite suite)
{
    TEST(bytes_are_a_sign_of_life);
    TEST(who_is_far_away_may_be_silent_for_longer);
    TEST(who_takes_long_to_fetch_may_be_silent_meanwhile);
    TEST(a_chunk_may_take_minutes_as_long_as_bytes_come);
    TEST(a_byte_now_and_then_is_no_progress);
    TEST(nodes_are_told_how_many_samples_were_merged);
    TEST(who_says_too_much_is_believed_in_part);
    TEST(so_may_first_parameters);
    TEST(what_a_node_counts_goes_on_over_its_sessions);
}
