/* Connections that say something and never become anybody's. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

enum { FIRST = 1000, MANY = 1000, AT_ONCE = 256 };

static struct hub_fixture *open_fixture(void)
{
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    return f;
}

/* A word of that kind, with a payload if it has one. */
static void says(struct hub_fixture *f, peer_id peer, enum msg_kind kind)
{
    struct msg msg = {.kind = kind};
    struct blob *payload = hand_floats(f->hand.pool, 4, 1);

    hand_say(&f->hand, peer, &msg, msg_info(kind)->payload ? payload : NULL);
    blob_unref(&payload);
}

static void who_says_everything_but_hello_is_cut_in_time(void)
{
    static const enum msg_kind words[] = {MSG_PING, MSG_CHUNK, MSG_KEPT};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct hub_fixture *f = open_fixture();

        hand_join(&f->hand, FIRST, msg_info(words[i])->channel);
        for (unsigned j = 0; j < 28; j++) {
            says(f, FIRST, words[i]);
            hand_wait(&f->hand, SECOND);
        }
        CHECK(!hand_dropped(&f->hand, FIRST));
        hand_wait(&f->hand, 3 * SECOND);
        CHECK(hand_dropped(&f->hand, FIRST));
        CHECK_CONTAINS("1 cut that in 30 s",
                       hand_note(&f->hand, NOTE_REFUSED)->text);
        hub_fixture_destroy(&f);
    }
}

static void who_was_given_the_second_port_is_told_and_no_offender(void)
{
    static const struct {
        enum msg_kind word;
        uint64_t key;
    } cases[] = {{MSG_HELLO, KEY_NONE},   {MSG_ENROL, KEY_NONE},
                 {MSG_JOIN, KEY_NONE},    {MSG_PROBE, KEY_NONE},
                 {MSG_ENROL, KEY_ENROLS}, {MSG_PROBE, KEY_ENROLS}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hub_fixture *f = hub_fixture_new();
        const struct hand_sent *bye;

        f->config.port = 7541;
        hub_fixture_open(f);
        hand_join_as(&f->hand, FIRST, CHANNEL_BULK, cases[i].key);
        says(f, FIRST, cases[i].word);
        bye = hand_last(&f->hand, FIRST, MSG_BYE);
        CHECK(bye != NULL);
        if (bye)
            CHECK_EQUAL(FAREWELL_PORT, bye->msg.bye.farewell);
        if (bye)
            CHECK_CONTAINS("give :7541", bye->msg.bye.text);
        CHECK(hand_dropped(&f->hand, FIRST));
        CHECK(hand_note(&f->hand, NOTE_OFFENCE) == NULL);
        hub_fixture_destroy(&f);
    }
}

static void who_has_become_a_node_is_not(void)
{
    struct hub_fixture *f = open_fixture();
    struct fake_node a = fake_node_comes(f, "a");

    fake_node_lives(f, &a, 70 * SECOND);
    CHECK(!hand_dropped(&f->hand, a.control));
    CHECK(!hand_dropped(&f->hand, a.bulk));
    hub_fixture_destroy(&f);
}

static void who_must_attach_again_has_the_same_time(void)
{
    struct hub_fixture *f = open_fixture();
    struct fake_node a = fake_node_comes(f, "a"), b = fake_node_comes(f, "b");

    hand_wait(&f->hand, SECOND);
    for (unsigned i = 0; i < 2; i++) {
        fake_node_lives(f, &a, 20 * SECOND);
        fake_node_pings(f, &b, 1);
    }
    fake_node_hello(f, &a);
    fake_node_hello(f, &b);
    fake_node_lives(f, &a, 20 * SECOND);
    fake_node_attach(f, &a);
    fake_node_pings(f, &b, 1);
    CHECK(!hand_dropped(&f->hand, b.bulk));
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK(hand_dropped(&f->hand, b.bulk));
    CHECK(!hand_dropped(&f->hand, b.control));
    CHECK(!hand_dropped(&f->hand, a.bulk));
    hub_fixture_destroy(&f);
}

/* Comes to the group for collectives, which may not want it. */
static void joins(struct hub_fixture *f, peer_id peer, uint64_t uuid,
                  uint32_t protocol)
{
    struct msg msg = {.kind = MSG_JOIN};

    msg.join.protocol_min = msg.join.protocol_max = protocol;
    msg.join.node_high = 1;
    msg.join.node_low = uuid;
    hand_join(&f->hand, peer, CHANNEL_CONTROL);
    hand_say(&f->hand, peer, &msg, NULL);
}

static void who_is_no_member_of_the_group_is_cut(void)
{
    struct hub_fixture *f = open_fixture();
    struct msg sit = {.kind = MSG_SIT};
    const struct hand_sent *joined;

    joins(f, FIRST, 1, PROTOCOL_MAX);
    joined = hand_last(&f->hand, FIRST, MSG_JOINED);
    CHECK(joined != NULL);
    sit.sit.session = joined ? joined->msg.joined.session : 0;
    hand_join(&f->hand, FIRST + 1, CHANNEL_BULK);
    hand_say(&f->hand, FIRST + 1, &sit, NULL);
    joins(f, FIRST + 2, 2, PROTOCOL_MAX + 1);
    CHECK_EQUAL(1, hand_count(&f->hand, FIRST + 2, MSG_BYE));
    for (unsigned i = 0; i < 20; i++) {
        hand_wait(&f->hand, 5 * SECOND);
        says(f, FIRST, MSG_PING);
    }
    CHECK(!hand_dropped(&f->hand, FIRST));
    CHECK(!hand_dropped(&f->hand, FIRST + 1));
    CHECK(hand_dropped(&f->hand, FIRST + 2));
    hub_fixture_destroy(&f);
}

static void who_waits_for_the_operator_is_not_cut(void)
{
    struct hub_fixture *f = open_fixture();

    hand_join_as(&f->hand, FIRST, CHANNEL_CONTROL, KEY_ENROLS);
    says(f, FIRST, MSG_ENROL);
    hand_join_as(&f->hand, FIRST + 2, CHANNEL_CONTROL, KEY_ENROLS);
    hand_wait(&f->hand, 60 * SECOND);
    CHECK(!hand_dropped(&f->hand, FIRST));
    CHECK(hand_dropped(&f->hand, FIRST + 2));
    hub_fixture_destroy(&f);
}

static void a_crowd_of_strangers_leaves_room_again(void)
{
    struct hub_fixture *f = hub_fixture_new();
    unsigned cut = 0;
    struct fake_node a;

    f->config.most = MANY / 4;
    hub_fixture_open(f);
    a = fake_node_new(f, "a");
    for (peer_id i = 0; i < MANY; i++)
        hand_join(&f->hand, FIRST + 2 * i, CHANNEL_CONTROL);
    a = fake_node_comes(f, "a");
    CHECK(hand_dropped(&f->hand, a.control));
    hand_wait(&f->hand, 29 * SECOND);
    for (unsigned i = 0; i < 12; i++) {
        hand_forget(&f->hand);
        hand_wait(&f->hand, 250 * MILLISECOND);
        CHECK(f->hand.drop_count <= AT_ONCE);
        cut += f->hand.drop_count;
    }
    CHECK_EQUAL(MANY, cut);
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    hub_fixture_destroy(&f);
}

void add_hub_strangers_tests(CU_pSuite suite)
{
    TEST(who_says_everything_but_hello_is_cut_in_time);
    TEST(who_was_given_the_second_port_is_told_and_no_offender);
    TEST(who_has_become_a_node_is_not);
    TEST(who_must_attach_again_has_the_same_time);
    TEST(who_is_no_member_of_the_group_is_cut);
    TEST(who_waits_for_the_operator_is_not_cut);
    TEST(a_crowd_of_strangers_leaves_room_again);
}
