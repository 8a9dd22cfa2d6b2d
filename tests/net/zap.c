/* The thread that says who may come in, asked as libzmq asks. */
#include "net/zap.h"

#include <string.h>
#include <zmq.h>

#include "net/prove.h"
#include "net/sockets.h"
#include "tests/check.h"

enum { FRAMES = 7, PLACE_BYTES = 64 };

static struct bans bans;
static struct zap *zap;
static void *context, *asker;
static struct key_pair node;

static void set_up(void)
{
    int linger = 0, patience = 10000;

    bans_init(&bans);
    context = zmq_ctx_new();
    CHECK_OK(key_pair_make(&node, NULL));
    CHECK_OK(zap_open(context, &bans, &zap, NULL));
    asker = zmq_socket(context, ZMQ_REQ);
    (void)zmq_setsockopt(asker, ZMQ_LINGER, &linger, sizeof linger);
    (void)zmq_setsockopt(asker, ZMQ_RCVTIMEO, &patience, sizeof patience);
    CHECK_EQUAL(0, zmq_connect(asker, "inproc://zeromq.zap.01"));
}

static void tear_down(void)
{
    (void)zmq_close(asker);
    zap_close(&zap);
    (void)zmq_ctx_term(context);
    bans_free(&bans);
}

/* A request that is right, but for what the test changes. */
struct question {
    const char *frames[FRAMES + 1];
    size_t sizes[FRAMES + 1];
    unsigned count;
};

static struct question about(const struct key *key)
{
    struct question question = {
        {"1.0", "1", ZAP_DOMAIN, "192.0.2.1", "", "CURVE",
         (const char *)key->bytes, "more"},
        {3, 1, sizeof ZAP_DOMAIN - 1, 9, 0, 5, KEY_BYTES, 4},
        FRAMES};

    return question;
}

/* Asks; true when the answer is 200 and of this user, and well-formed. */
static bool answered(const struct question *question, const char *code,
                     char user[PLACE_BYTES])
{
    char frames[6][PLACE_BYTES] = {""};
    unsigned count = 0;
    int more = 1;
    size_t size = sizeof more;

    for (unsigned i = 0; i < question->count; i++)
        (void)zmq_send(asker, question->frames[i], question->sizes[i],
                       i + 1 < question->count ? ZMQ_SNDMORE : 0);
    while (more && count < 6) {
        if (zmq_recv(asker, frames[count++], PLACE_BYTES - 1, 0) < 0)
            return false;
        (void)zmq_getsockopt(asker, ZMQ_RCVMORE, &more, &size);
    }
    memcpy(user, frames[4], PLACE_BYTES);
    return count == 6 && !more && strcmp(frames[0], "1.0") == 0 &&
           strcmp(frames[2], code) == 0 && !frames[5][0];
}

static bool is_refused(const struct question *question)
{
    char user[PLACE_BYTES];

    return answered(question, "400", user) && !user[0];
}

static bool is_let_in(const struct question *question, uint64_t as)
{
    char user[PLACE_BYTES];

    return answered(question, "200", user) && zap_user(user) == as;
}

static void whose_key_is_known_is_let_in_under_its_hash(void)
{
    struct question question = about(&node.shown);

    set_up();
    question = about(&node.shown);
    CHECK(is_refused(&question)); /* nobody has been allowed yet */
    zap_allow(zap, &node.shown, 1, NULL);
    CHECK(is_let_in(&question, key_hash(&node.shown)));
    CHECK_EQUAL(ZAP_NODE, zap_role(zap, key_hash(&node.shown)));
    zap_allow(zap, NULL, 0, NULL);
    CHECK(is_refused(&question));
    CHECK_EQUAL(ZAP_NOBODY, zap_role(zap, key_hash(&node.shown)));
    zap_allow(zap, NULL, 0, &node.shown);
    CHECK(is_let_in(&question, key_hash(&node.shown)));
    CHECK_EQUAL(ZAP_ENROLS, zap_role(zap, key_hash(&node.shown)));
    tear_down();
}

static void one_of_many_keys_is_found_and_no_other(void)
{
    enum { MANY = 1000 };
    static struct key keys[MANY];
    struct key other = {{1, 2, 3}};
    struct question question;

    for (unsigned i = 0; i < MANY; i++) {
        keys[i].bytes[0] = (uint8_t)i;
        keys[i].bytes[31] = (uint8_t)(i >> 8);
    }
    set_up();
    zap_allow(zap, keys, MANY, NULL);
    for (unsigned i = 0; i < MANY; i += 37) {
        question = about(&keys[i]);
        CHECK(is_let_in(&question, key_hash(&keys[i])));
    }
    question = about(&other);
    CHECK(is_refused(&question));
    tear_down();
}

static void what_is_no_proper_question_is_answered_no(void)
{
    struct question right, wrong;

    set_up();
    zap_allow(zap, &node.shown, 1, NULL);
    right = about(&node.shown);
    for (unsigned i = 0; i < FRAMES; i++) {
        wrong = right;
        wrong.frames[i] = "another text that is longer than thirty-two bytes";
        wrong.sizes[i] = i == 4 ? 0 : strlen(wrong.frames[i]);
        if (i != 1 && i != 3 && i != 4)
            CHECK(is_refused(&wrong));
    }
    for (unsigned count = 2; count <= FRAMES + 1; count++) {
        wrong = right;
        wrong.count = count;
        if (count != FRAMES)
            CHECK(is_refused(&wrong));
    }
    wrong = right;
    wrong.sizes[6] = KEY_BYTES - 1;
    CHECK(is_refused(&wrong));
    wrong = right;
    wrong.frames[5] = "NULL";
    wrong.sizes[5] = 4;
    CHECK(is_refused(&wrong));
    CHECK(is_let_in(&right, key_hash(&node.shown)));
    tear_down();
}

static void what_was_refused_is_told_with_its_reason_and_origin(void)
{
    struct question question;
    struct zap_refusal refusal;
    unsigned missed, count = 0;

    set_up();
    question = about(&node.shown);
    for (unsigned i = 0; i < 100; i++)
        CHECK(is_refused(&question));
    while (zap_refusal(zap, &refusal, &missed)) {
        struct origin from = origin_parse("192.0.2.1");

        CHECK_EQUAL(REFUSAL_KEY, refusal.why);
        CHECK_EQUAL(origin_host(&from), origin_host(&refusal.from));
        count += 1 + missed;
    }
    CHECK_EQUAL(100, count);
    zap_allow(zap, &node.shown, 1, NULL);
    for (int i = 0; i < BAN_STRIKES; i++)
        (void)bans_strike(&bans, net_now(), key_hash(&node.shown));
    CHECK(is_refused(&question));
    CHECK(zap_refusal(zap, &refusal, &missed));
    CHECK_EQUAL(REFUSAL_BANNED, refusal.why);
    tear_down();
}

static void a_user_that_is_no_hash_is_nobody(void)
{
    CHECK_EQUAL(0x0123456789abcdef, zap_user("0123456789abcdef"));
    CHECK_EQUAL(0, zap_user(""));
    CHECK_EQUAL(0, zap_user("0123456789abcde"));
    CHECK_EQUAL(0, zap_user("0123456789abcdef0"));
    CHECK_EQUAL(0, zap_user("0123456789ABCDEF"));
    CHECK_EQUAL(0, zap_user("0123456789abcdeg"));
}

static void a_door_that_is_shut_proves_it(void)
{
    struct net_keys keys = {.on = true};

    CHECK_OK(key_pair_make(&keys.own, NULL));
    set_up();
    CHECK_OK(prove_refusal(context, &keys, NULL));
    CHECK_OK(prove_refusal(context, &keys, NULL));
    tear_down();
}

static void where_nobody_answers_the_door_is_shut_and_that_is_said(void)
{
    struct net_keys keys = {.on = true};
    struct why why;

    CHECK_OK(key_pair_make(&keys.own, NULL));
    set_up();
    zap_close(&zap);
    CHECK_STATUS(STATUS_CONFIG, prove_refusal(context, &keys, &why));
    CHECK_CONTAINS("nobody answers whether a key is known", why.text);
    tear_down();
}

/* In place of ours: says yes to the first who asks. */
static void *say_yes(void *of)
{
    char frames[FRAMES][PLACE_BYTES];

    for (unsigned i = 0; i < FRAMES; i++)
        if (zmq_recv(of, frames[i], PLACE_BYTES, 0) < 0)
            return NULL;
    (void)zmq_send(of, "1.0", 3, ZMQ_SNDMORE);
    (void)zmq_send(of, frames[1], 1, ZMQ_SNDMORE);
    (void)zmq_send(of, "200", 3, ZMQ_SNDMORE);
    (void)zmq_send(of, "OK", 2, ZMQ_SNDMORE);
    (void)zmq_send(of, "", 0, ZMQ_SNDMORE);
    (void)zmq_send(of, "", 0, 0);
    return NULL;
}

static void a_door_that_lets_strangers_in_is_noticed(void)
{
    struct net_keys keys = {.on = true};
    void *handler;
    int patience = 10000;
    pthread_t thread;
    struct why why;

    CHECK_OK(key_pair_make(&keys.own, NULL));
    context = zmq_ctx_new();
    handler = zmq_socket(context, ZMQ_REP);
    (void)zmq_setsockopt(handler, ZMQ_RCVTIMEO, &patience, sizeof patience);
    CHECK_EQUAL(0, zmq_bind(handler, "inproc://zeromq.zap.01"));
    if (CHECK_EQUAL(0, pthread_create(&thread, NULL, say_yes, handler))) {
        CHECK_STATUS(STATUS_CONFIG, prove_refusal(context, &keys, &why));
        CHECK_CONTAINS("a key that nobody knows was let in", why.text);
        (void)pthread_join(thread, NULL);
    }
    (void)zmq_close(handler);
    (void)zmq_ctx_term(context);
}

void add_net_zap_tests(CU_pSuite suite)
{
    TEST(whose_key_is_known_is_let_in_under_its_hash);
    TEST(one_of_many_keys_is_found_and_no_other);
    TEST(what_is_no_proper_question_is_answered_no);
    TEST(what_was_refused_is_told_with_its_reason_and_origin);
    TEST(a_user_that_is_no_hash_is_nobody);
    TEST(a_door_that_is_shut_proves_it);
    TEST(where_nobody_answers_the_door_is_shut_and_that_is_said);
    TEST(a_door_that_lets_strangers_in_is_noticed);
}
