/* Keys: who may enrol, and whose a node and its connections are. */
#include <stdio.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

#define KEY_A (UINT64_C(0x1234) << 48)
#define KEY_B (UINT64_C(0x5678) << 48)

enum { FIRST = 1000 };

static peer_id comes_to_enrol(struct bench *bench, peer_id peer,
                              const char *name)
{
    struct msg msg = {.kind = MSG_ENROL};

    msg.enrol.key0 = 10;
    msg.enrol.key1 = 11;
    msg.enrol.key2 = 12;
    msg.enrol.key3 = 13;
    (void)snprintf(msg.enrol.name, sizeof msg.enrol.name, "%s", name);
    hand_join_as(&bench->hand, peer, CHANNEL_CONTROL, KEY_ENROLS);
    hand_say(&bench->hand, peer, &msg, NULL);
    return peer;
}

static const struct msg_admit *asked(const struct bench *bench)
{
    const struct hand_sent *sent =
        hand_last(&bench->hand, PEER_OPERATOR, MSG_ADMIT);

    return sent ? &sent->msg.admit : NULL;
}

static void decides(struct bench *bench, uint64_t ticket, enum status status,
                    const char *text)
{
    struct msg msg = {.kind = MSG_ADMITTED};

    msg.admitted.ticket = ticket;
    msg.admitted.status = status;
    (void)snprintf(msg.admitted.text, sizeof msg.admitted.text, "%s", text);
    hand_say(&bench->hand, PEER_OPERATOR, &msg, NULL);
}

static void revokes(struct bench *bench, uint64_t key)
{
    struct msg msg = {.kind = MSG_REVOKED};

    msg.revoked.key = key;
    hand_say(&bench->hand, PEER_OPERATOR, &msg, NULL);
}

static void a_node_is_enrolled_by_the_operators_word(void)
{
    struct bench *bench = bench_new();
    peer_id peer;

    bench_open(bench);
    peer = comes_to_enrol(bench, FIRST, "pc1");
    if (CHECK(asked(bench) != NULL)) {
        CHECK_EQUAL(10, asked(bench)->key0);
        CHECK_EQUAL(13, asked(bench)->key3);
        CHECK_TEXT("pc1", asked(bench)->name);
        CHECK_EQUAL(0, hand_count(&bench->hand, peer, MSG_ENROLLED));
        decides(bench, asked(bench)->ticket, STATUS_OK, "");
    }
    CHECK_EQUAL(7,
                hand_last(&bench->hand, peer, MSG_ENROLLED)->msg.enrolled.run);
    CHECK(hand_dropped(&bench->hand, peer));
    CHECK(hand_note(&bench->hand, NOTE_ENROLLED) != NULL);
    bench_destroy(&bench);
}

static void a_node_that_is_not_wanted_is_told_why(void)
{
    struct bench *bench = bench_new();
    peer_id peer;

    bench_open(bench);
    peer = comes_to_enrol(bench, FIRST, "pc1");
    decides(bench, asked(bench)->ticket, STATUS_REFUSED, "the name is taken");
    CHECK_EQUAL(FAREWELL_KEY,
                hand_last(&bench->hand, peer, MSG_BYE)->msg.bye.farewell);
    CHECK_TEXT("the name is taken",
               hand_last(&bench->hand, peer, MSG_BYE)->msg.bye.text);
    CHECK(hand_dropped(&bench->hand, peer));
    CHECK_EQUAL(0, hand_count(&bench->hand, peer, MSG_ENROLLED));
    /* A full disk is no reason to give up. */
    peer = comes_to_enrol(bench, FIRST + 2, "pc1");
    decides(bench, asked(bench)->ticket, STATUS_IO, "the disk is full");
    CHECK_EQUAL(FAREWELL_FULL,
                hand_last(&bench->hand, peer, MSG_BYE)->msg.bye.farewell);
    bench_destroy(&bench);
}

static void the_enrolment_key_can_do_nothing_else(void)
{
    struct bench *bench = bench_new();

    bench_open(bench);
    for (unsigned kind = 0; kind < MSG_KINDS; kind++) {
        struct msg msg = {.kind = kind};
        const struct msg_info *info = msg_info(kind);
        peer_id peer = FIRST + 2 * kind + (info->channel == CHANNEL_BULK);
        struct blob *payload = blob_wrap(bench->hand.pool, bench->schema->text,
                                         bench->schema->text_bytes, NULL, NULL);

        if (kind != MSG_ENROL && info->channel != CHANNEL_LOCAL) {
            hand_join_as(&bench->hand, peer, info->channel, KEY_ENROLS);
            hand_say(&bench->hand, peer, &msg, info->payload ? payload : NULL);
            CHECK(hand_dropped(&bench->hand, peer));
        }
        blob_unref(&payload);
    }
    CHECK_EQUAL(0, bench_look(bench)->count);
    bench_destroy(&bench);
}

static void enrol_twice_is_an_offence(void)
{
    struct bench *bench = bench_new();
    struct msg msg = {.kind = MSG_ENROL};
    peer_id peer;

    bench_open(bench);
    peer = comes_to_enrol(bench, FIRST, "pc1");
    hand_say(&bench->hand, peer, &msg, NULL);
    CHECK(hand_dropped(&bench->hand, peer));
    decides(bench, asked(bench)->ticket, STATUS_OK, "");
    CHECK_EQUAL(0, hand_count(&bench->hand, peer, MSG_ENROLLED));
    bench_destroy(&bench);
}

static void who_has_a_key_of_its_own_cannot_enrol_others(void)
{
    struct bench *bench = bench_new();
    struct msg msg = {.kind = MSG_ENROL};

    bench_open(bench);
    hand_join_as(&bench->hand, FIRST, CHANNEL_CONTROL, KEY_A);
    hand_say(&bench->hand, FIRST, &msg, NULL);
    CHECK(asked(bench) == NULL);
    bench_destroy(&bench);
}

static void those_that_wait_are_bounded(void)
{
    enum { MOST = 64 };
    struct bench *bench = bench_new();
    peer_id last = FIRST;

    bench_open(bench);
    for (unsigned i = 0; i <= MOST; i++)
        last = comes_to_enrol(bench, FIRST + 2 * i, "pc");
    CHECK_EQUAL(MOST, hand_count(&bench->hand, PEER_OPERATOR, MSG_ADMIT));
    CHECK_EQUAL(FAREWELL_FULL,
                hand_last(&bench->hand, last, MSG_BYE)->msg.bye.farewell);
    /* One that goes makes room. */
    hand_leave(&bench->hand, FIRST);
    (void)comes_to_enrol(bench, last + 2, "pc");
    CHECK_EQUAL(MOST + 1, hand_count(&bench->hand, PEER_OPERATOR, MSG_ADMIT));
    bench_destroy(&bench);
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
    struct bench *bench = bench_new();

    bench_open(bench);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)comes_to_enrol(bench, FIRST + 2 * i, names[i][0]);
        CHECK_TEXT(names[i][1], asked(bench)->name);
    }
    bench_destroy(&bench);
}

static struct guest comes_as(struct bench *bench, const char *name,
                             uint64_t key)
{
    struct guest guest = guest_new(bench, name);

    guest.key = key;
    guest_hello(bench, &guest);
    guest_attach(bench, &guest);
    return guest;
}

/* Another process that says it is the same node. */
static struct guest claims(struct bench *bench, const struct guest *node,
                           uint64_t key)
{
    struct guest other = *node;

    other.control = other.bulk = PEER_NONE;
    other.session = 0;
    other.key = key;
    other.hello.incarnation++;
    guest_hello(bench, &other);
    return other;
}

/* It is taken for what its key is, and node b is not touched. */
static void key_a_claims_node_b(void)
{
    struct bench *bench = bench_new();
    struct guest b, a;

    bench_open(bench);
    b = comes_as(bench, "b", KEY_B);
    a = claims(bench, &b, KEY_A);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    CHECK(!hand_dropped(&bench->hand, b.control));
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &b));
    CHECK_EQUAL(2, bench_look(bench)->count);
    CHECK_TEXT("b", bench_look(bench)->nodes[0].name);
    CHECK_TEXT("b-1234", bench_look(bench)->nodes[1].name);
    bench_destroy(&bench);
}

/* Names cost nothing. */
static void one_key_is_one_node_whatever_it_is_called(void)
{
    struct bench *bench = bench_new();

    bench_open(bench);
    for (unsigned i = 0; i < 100; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "mal%u", i);
        (void)comes_as(bench, name, KEY_A);
    }
    CHECK_EQUAL(1, bench_look(bench)->count);
    CHECK_TEXT("mal99", bench_look(bench)->nodes[0].name);
    bench_destroy(&bench);
}

static void knows(struct bench *bench, uint64_t key, const char *name)
{
    struct msg msg = {.kind = MSG_KNOWN};

    msg.known.key = key;
    (void)snprintf(msg.known.name, sizeof msg.known.name, "%s", name);
    hand_say(&bench->hand, PEER_OPERATOR, &msg, NULL);
}

/* Orders and files mean one node by it. */
static void a_node_has_the_name_that_its_key_is_known_by(void)
{
    struct bench *bench = bench_new();

    bench_open(bench);
    (void)comes_as(bench, "pc1", KEY_B);
    knows(bench, KEY_A, "pc1");
    (void)comes_as(bench, "mal", KEY_A);
    CHECK_TEXT("pc1-5678", bench_look(bench)->nodes[0].name);
    CHECK_TEXT("pc1", bench_look(bench)->nodes[1].name);
    revokes(bench, KEY_A);
    (void)comes_as(bench, "free", KEY_A);
    CHECK_TEXT("free", bench_look(bench)->nodes[1].name);
    bench_destroy(&bench);
}

static void two_of_one_name_are_told_apart_whoever_comes_first(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench_open(bench);
    a = guest_new(bench, "debian");
    b = guest_new(bench, "debian");
    b.hello.node_high = UINT64_C(0xabcd) << 48;
    guest_hello(bench, &a);
    guest_hello(bench, &b);
    CHECK_TEXT("debian", bench_look(bench)->nodes[0].name);
    CHECK_TEXT("debian-abcd", bench_look(bench)->nodes[1].name);
    guest_breaks(bench, &a);
    guest_breaks(bench, &b);
    guest_comes_again(bench, &b);
    guest_comes_again(bench, &a);
    CHECK_TEXT("debian", bench_look(bench)->nodes[0].name);
    CHECK_TEXT("debian-abcd", bench_look(bench)->nodes[1].name);
    bench_destroy(&bench);
}

static void a_name_shows_all_that_is_in_it(void)
{
    struct bench *bench = bench_new();

    bench_open(bench);
    (void)comes_as(bench,
                   "a\xe2\x80\xae"
                   "b\n\xff",
                   KEY_NONE);
    CHECK_TEXT("a?b??", bench_look(bench)->nodes[0].name);
    bench_destroy(&bench);
}

static void of_two_nodes_with_one_key_the_newest_wins(void)
{
    struct bench *bench = bench_new();
    struct guest old, new;

    bench_open(bench);
    old = comes_as(bench, "a", KEY_A);
    new = claims(bench, &old, KEY_A);
    CHECK(guest_heard(bench, &new, MSG_WELCOME) != NULL);
    CHECK_EQUAL(FAREWELL_REPLACED, guest_farewell(bench, &old));
    bench_destroy(&bench);
}

static void a_session_is_attached_to_with_its_own_key_only(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_new(bench, "a"), thief;

    bench_open(bench);
    a.key = KEY_A;
    guest_hello(bench, &a);
    thief = a;
    thief.key = KEY_B;
    guest_attach(bench, &thief);
    CHECK(hand_dropped(&bench->hand, thief.bulk));
    guest_attach(bench, &a);
    CHECK(!hand_dropped(&bench->hand, a.bulk));
    guest_founds(bench, &a, 1);
    bench_destroy(&bench);
}

static void a_revoked_key_is_told_so(void)
{
    struct bench *bench = bench_new();
    struct guest a, b, next;

    bench_open(bench);
    a = comes_as(bench, "a", KEY_A);
    b = comes_as(bench, "b", KEY_B);
    revokes(bench, KEY_A);
    CHECK_EQUAL(FAREWELL_KEY, guest_farewell(bench, &a));
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK(hand_dropped(&bench->hand, a.bulk));
    CHECK(!hand_dropped(&bench->hand, b.control));
    next = claims(bench, &a, KEY_A + 1);
    CHECK(guest_heard(bench, &next, MSG_WELCOME) != NULL);
    bench_destroy(&bench);
}

/* What was told to one says nothing of what others were told. */
static void a_session_is_another_one_with_another_secret(void)
{
    uint64_t sessions[3];

    for (unsigned i = 0; i < 3; i++) {
        struct bench *bench = bench_new();
        struct guest a;

        bench->config.secret[1] = i / 2;
        bench_open(bench);
        a = comes_as(bench, "a", KEY_A);
        sessions[i] = a.session;
        bench_destroy(&bench);
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
