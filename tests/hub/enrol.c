/* Keys: who may enrol, and whose a node and its connections are. */
#include <stdio.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

#define KEY_A (UINT64_C(0x1234) << 48)
#define KEY_B (UINT64_C(0x5678) << 48)

enum { FIRST = 1000 };

static peer_id comes_to_enrol(struct hub_fixture *f, peer_id peer,
                              const char *name)
{
    struct msg msg = {.kind = MSG_ENROL};

    msg.enrol.key0 = 10;
    msg.enrol.key1 = 11;
    msg.enrol.key2 = 12;
    msg.enrol.key3 = 13;
    (void)snprintf(msg.enrol.name, sizeof msg.enrol.name, "%s", name);
    hand_join_as(&f->hand, peer, CHANNEL_CONTROL, KEY_ENROLS);
    hand_say(&f->hand, peer, &msg, NULL);
    return peer;
}

static const struct msg_local_enrol *asked(const struct hub_fixture *f)
{
    const struct hand_sent *sent =
        hand_last(&f->hand, PEER_OPERATOR, MSG_LOCAL_ENROL);

    return sent ? &sent->msg.local_enrol : NULL;
}

static void decides(struct hub_fixture *f, uint64_t ticket, enum status status,
                    const char *text)
{
    struct msg msg = {.kind = MSG_LOCAL_ENROLLED};

    msg.local_enrolled.ticket = ticket;
    msg.local_enrolled.status = status;
    (void)snprintf(msg.local_enrolled.text, sizeof msg.local_enrolled.text,
                   "%s", text);
    hand_say(&f->hand, PEER_OPERATOR, &msg, NULL);
}

static void revokes(struct hub_fixture *f, uint64_t key)
{
    struct msg msg = {.kind = MSG_REVOKED};

    msg.revoked.key = key;
    hand_say(&f->hand, PEER_OPERATOR, &msg, NULL);
}

static void a_node_is_enrolled_by_the_operators_word(void)
{
    struct hub_fixture *f = hub_fixture_new();
    peer_id peer;

    hub_fixture_open(f);
    peer = comes_to_enrol(f, FIRST, "pc1");
    if (CHECK(asked(f) != NULL)) {
        CHECK_EQUAL(10, asked(f)->key0);
        CHECK_EQUAL(13, asked(f)->key3);
        CHECK_TEXT("pc1", asked(f)->name);
        CHECK_EQUAL(0, hand_count(&f->hand, peer, MSG_ENROLLED));
        decides(f, asked(f)->ticket, STATUS_OK, "");
    }
    CHECK_EQUAL(7, hand_last(&f->hand, peer, MSG_ENROLLED)->msg.enrolled.run);
    CHECK(hand_dropped(&f->hand, peer));
    CHECK(hand_note(&f->hand, NOTE_ENROLLED) != NULL);
    hub_fixture_destroy(&f);
}

static void a_node_that_is_not_wanted_is_told_why(void)
{
    struct hub_fixture *f = hub_fixture_new();
    peer_id peer;

    hub_fixture_open(f);
    peer = comes_to_enrol(f, FIRST, "pc1");
    decides(f, asked(f)->ticket, STATUS_REFUSED, "the name is taken");
    CHECK_EQUAL(FAREWELL_KEY,
                hand_last(&f->hand, peer, MSG_BYE)->msg.bye.farewell);
    CHECK_TEXT("the name is taken",
               hand_last(&f->hand, peer, MSG_BYE)->msg.bye.text);
    CHECK(hand_dropped(&f->hand, peer));
    CHECK_EQUAL(0, hand_count(&f->hand, peer, MSG_ENROLLED));
    /* A full disk is no reason to give up. */
    peer = comes_to_enrol(f, FIRST + 2, "pc1");
    decides(f, asked(f)->ticket, STATUS_IO, "the disk is full");
    CHECK_EQUAL(FAREWELL_FULL,
                hand_last(&f->hand, peer, MSG_BYE)->msg.bye.farewell);
    hub_fixture_destroy(&f);
}

/* But ask what time it is: tests/hub/probe.c. */
static void the_enrolment_key_can_do_nothing_else(void)
{
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    for (unsigned kind = 0; kind < MSG_KINDS; kind++) {
        struct msg msg = {.kind = kind};
        const struct msg_info *info = msg_info(kind);
        peer_id peer = FIRST + 2 * kind + (info->channel == CHANNEL_BULK);
        struct blob *payload = blob_wrap(f->hand.pool, f->schema->text,
                                         f->schema->text_bytes, NULL, NULL);

        if (kind != MSG_ENROL && kind != MSG_PROBE &&
            info->channel != CHANNEL_LOCAL) {
            hand_join_as(&f->hand, peer, info->channel, KEY_ENROLS);
            hand_say(&f->hand, peer, &msg, info->payload ? payload : NULL);
            CHECK(hand_dropped(&f->hand, peer));
        }
        blob_unref(&payload);
    }
    CHECK_EQUAL(0, hub_fixture_look(f)->count);
    hub_fixture_destroy(&f);
}

static void enrol_twice_is_an_offence(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg msg = {.kind = MSG_ENROL};
    peer_id peer;

    hub_fixture_open(f);
    peer = comes_to_enrol(f, FIRST, "pc1");
    hand_say(&f->hand, peer, &msg, NULL);
    CHECK(hand_dropped(&f->hand, peer));
    decides(f, asked(f)->ticket, STATUS_OK, "");
    CHECK_EQUAL(0, hand_count(&f->hand, peer, MSG_ENROLLED));
    hub_fixture_destroy(&f);
}

static void who_has_a_key_of_its_own_cannot_enrol_others(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg msg = {.kind = MSG_ENROL};

    hub_fixture_open(f);
    hand_join_as(&f->hand, FIRST, CHANNEL_CONTROL, KEY_A);
    hand_say(&f->hand, FIRST, &msg, NULL);
    CHECK(asked(f) == NULL);
    hub_fixture_destroy(&f);
}

static void those_that_wait_are_bounded(void)
{
    enum { MOST = 64 };
    struct hub_fixture *f = hub_fixture_new();
    peer_id last = FIRST;

    hub_fixture_open(f);
    for (unsigned i = 0; i <= MOST; i++)
        last = comes_to_enrol(f, FIRST + 2 * i, "pc");
    CHECK_EQUAL(MOST, hand_count(&f->hand, PEER_OPERATOR, MSG_LOCAL_ENROL));
    CHECK_EQUAL(FAREWELL_FULL,
                hand_last(&f->hand, last, MSG_BYE)->msg.bye.farewell);
    /* One that goes makes room. */
    hand_leave(&f->hand, FIRST);
    (void)comes_to_enrol(f, last + 2, "pc");
    CHECK_EQUAL(MOST + 1, hand_count(&f->hand, PEER_OPERATOR, MSG_LOCAL_ENROL));
    hub_fixture_destroy(&f);
}

static void a_name_becomes_one_that_a_file_can_have(void)
{
    static const char *const names[][2] = {
        {"../../etc/passwd", "x._.._etc_passwd"},
        {"pc 1\n\x1b[31m", "pc_1___31m"},
        {"", "node"},
        {".hidden", "xhidden"},
        {"-rf", "xrf"},
        {"a-name-of-more-than-thirty-nine-letters-it-is",
         "a-name-of-more-than-thirty-nine-letters"}};
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)comes_to_enrol(f, FIRST + 2 * i, names[i][0]);
        CHECK_TEXT(names[i][1], asked(f)->name);
    }
    hub_fixture_destroy(&f);
}

static struct fake_node comes_as(struct hub_fixture *f, const char *name,
                                 uint64_t key)
{
    struct fake_node node = fake_node_new(f, name);

    node.key = key;
    fake_node_hello(f, &node);
    fake_node_attach(f, &node);
    return node;
}

/* Another process that says it is the same node. */
static struct fake_node claims(struct hub_fixture *f,
                               const struct fake_node *node, uint64_t key)
{
    struct fake_node other = *node;

    other.control = other.bulk = PEER_NONE;
    other.session = 0;
    other.key = key;
    other.hello.incarnation++;
    fake_node_hello(f, &other);
    return other;
}

/* It is taken for what its key is, and node b is not touched. */
static void key_a_claims_node_b(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node b, a;

    hub_fixture_open(f);
    b = comes_as(f, "b", KEY_B);
    a = claims(f, &b, KEY_A);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    CHECK(!hand_dropped(&f->hand, b.control));
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &b));
    CHECK_EQUAL(2, hub_fixture_look(f)->count);
    CHECK_TEXT("b", hub_fixture_look(f)->nodes[0].name);
    CHECK_TEXT("b-1234", hub_fixture_look(f)->nodes[1].name);
    hub_fixture_destroy(&f);
}

/* Names cost nothing. */
static void one_key_is_one_node_whatever_it_is_called(void)
{
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    for (unsigned i = 0; i < 100; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "mal%u", i);
        (void)comes_as(f, name, KEY_A);
    }
    CHECK_EQUAL(1, hub_fixture_look(f)->count);
    CHECK_TEXT("mal99", hub_fixture_look(f)->nodes[0].name);
    hub_fixture_destroy(&f);
}

static void knows(struct hub_fixture *f, uint64_t key, const char *name)
{
    struct msg msg = {.kind = MSG_KNOWN};

    msg.known.key = key;
    (void)snprintf(msg.known.name, sizeof msg.known.name, "%s", name);
    hand_say(&f->hand, PEER_OPERATOR, &msg, NULL);
}

/* Orders and files mean one node by it. */
static void a_node_has_the_name_that_its_key_is_known_by(void)
{
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    (void)comes_as(f, "pc1", KEY_B);
    knows(f, KEY_A, "pc1");
    (void)comes_as(f, "mal", KEY_A);
    CHECK_TEXT("pc1-5678", hub_fixture_look(f)->nodes[0].name);
    CHECK_TEXT("pc1", hub_fixture_look(f)->nodes[1].name);
    revokes(f, KEY_A);
    (void)comes_as(f, "free", KEY_A);
    CHECK_TEXT("free", hub_fixture_look(f)->nodes[1].name);
    hub_fixture_destroy(&f);
}

static void two_of_one_name_are_told_apart_whoever_comes_first(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_new(f, "debian");
    b = fake_node_new(f, "debian");
    b.hello.node_high = UINT64_C(0xabcd) << 48;
    fake_node_hello(f, &a);
    fake_node_hello(f, &b);
    CHECK_TEXT("debian", hub_fixture_look(f)->nodes[0].name);
    CHECK_TEXT("debian-abcd", hub_fixture_look(f)->nodes[1].name);
    fake_node_breaks(f, &a);
    fake_node_breaks(f, &b);
    fake_node_comes_again(f, &b);
    fake_node_comes_again(f, &a);
    CHECK_TEXT("debian", hub_fixture_look(f)->nodes[0].name);
    CHECK_TEXT("debian-abcd", hub_fixture_look(f)->nodes[1].name);
    hub_fixture_destroy(&f);
}

static void a_name_shows_all_that_is_in_it(void)
{
    struct hub_fixture *f = hub_fixture_new();

    hub_fixture_open(f);
    (void)comes_as(f,
                   "a\xe2\x80\xae"
                   "b\n\xff",
                   KEY_NONE);
    CHECK_TEXT("a?b??", hub_fixture_look(f)->nodes[0].name);
    hub_fixture_destroy(&f);
}

static void of_two_nodes_with_one_key_the_newest_wins(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node old, new;

    hub_fixture_open(f);
    old = comes_as(f, "a", KEY_A);
    new = claims(f, &old, KEY_A);
    CHECK(fake_node_heard(f, &new, MSG_WELCOME) != NULL);
    CHECK_EQUAL(FAREWELL_REPLACED, fake_node_farewell(f, &old));
    hub_fixture_destroy(&f);
}

static void a_session_is_attached_to_with_its_own_key_only(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a"), thief;

    hub_fixture_open(f);
    a.key = KEY_A;
    fake_node_hello(f, &a);
    thief = a;
    thief.key = KEY_B;
    fake_node_attach(f, &thief);
    CHECK(hand_dropped(&f->hand, thief.bulk));
    fake_node_attach(f, &a);
    CHECK(!hand_dropped(&f->hand, a.bulk));
    fake_node_founds(f, &a, 1);
    hub_fixture_destroy(&f);
}

static void a_revoked_key_is_told_so(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b, next;

    hub_fixture_open(f);
    a = comes_as(f, "a", KEY_A);
    b = comes_as(f, "b", KEY_B);
    revokes(f, KEY_A);
    CHECK_EQUAL(FAREWELL_KEY, fake_node_farewell(f, &a));
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK(hand_dropped(&f->hand, a.bulk));
    CHECK(!hand_dropped(&f->hand, b.control));
    next = claims(f, &a, KEY_A + 1);
    CHECK(fake_node_heard(f, &next, MSG_WELCOME) != NULL);
    hub_fixture_destroy(&f);
}

/* What was told to one says nothing of what others were told. */
static void a_session_is_another_one_with_another_secret(void)
{
    uint64_t sessions[3];

    for (unsigned i = 0; i < 3; i++) {
        struct hub_fixture *f = hub_fixture_new();
        struct fake_node a;

        f->config.secret[1] = i / 2;
        hub_fixture_open(f);
        a = comes_as(f, "a", KEY_A);
        sessions[i] = a.session;
        hub_fixture_destroy(&f);
    }
    CHECK(sessions[0] == sessions[1]);
    CHECK(sessions[0] != sessions[2]);
}

void add_hub_enrol_tests(CU_pSuite suite)
{
    TEST(a_node_is_enrolled_by_the_operators_word);
    TEST(a_node_that_is_not_wanted_is_told_why);
    TEST(the_enrolment_key_can_do_nothing_else);
    TEST(enrol_twice_is_an_offence);
    TEST(who_has_a_key_of_its_own_cannot_enrol_others);
    TEST(those_that_wait_are_bounded);
    TEST(a_name_becomes_one_that_a_file_can_have);
    TEST(key_a_claims_node_b);
    TEST(one_key_is_one_node_whatever_it_is_called);
    TEST(a_node_has_the_name_that_its_key_is_known_by);
    TEST(two_of_one_name_are_told_apart_whoever_comes_first);
    TEST(a_name_shows_all_that_is_in_it);
    TEST(of_two_nodes_with_one_key_the_newest_wins);
    TEST(a_session_is_attached_to_with_its_own_key_only);
    TEST(a_revoked_key_is_told_so);
    TEST(a_session_is_another_one_with_another_secret);
}
