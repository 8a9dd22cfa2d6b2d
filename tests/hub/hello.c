#include "tests/check.h"
#include "tests/hub/bench.h"

static void a_hello_is_answered_with_the_settings(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_new(bench, "a");
    const struct msg_welcome *welcome;

    bench->config.every = 20;
    bench->config.delay = 4;
    bench_open(bench);
    guest_hello(bench, &a);
    welcome = &guest_heard(bench, &a, MSG_WELCOME)->welcome;
    CHECK_EQUAL(7, welcome->run);
    CHECK_EQUAL(20, welcome->every);
    CHECK_EQUAL(4, welcome->delay);
    CHECK_EQUAL(4, welcome->chunk_elements);
    CHECK_EQUAL(START_HOLD, welcome->start);
    bench_destroy(&bench);
}

static void another_protocol_version_is_refused(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_new(bench, "a");

    bench_open(bench);
    a.hello.protocol_min = a.hello.protocol_max = PROTOCOL_MAX + 1;
    guest_hello(bench, &a);
    CHECK_EQUAL(FAREWELL_VERSION, guest_farewell(bench, &a));
    CHECK(guest_heard(bench, &a, MSG_WELCOME) == NULL);
    hand_forget(&bench->hand);
    a = guest_new(bench, "b");
    a.hello.protocol_min = a.hello.protocol_max = PROTOCOL_MIN - 1;
    guest_hello(bench, &a);
    CHECK_EQUAL(FAREWELL_VERSION, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

/* The run would have the model that came of damage, or of a lie. */
static void a_schema_of_another_hash_is_refused(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_new(bench, "a");

    bench_open(bench);
    a.hello.schema = bench->schema->hash + 1;
    guest_hello(bench, &a);
    CHECK_EQUAL(FAREWELL_SCHEMA, guest_farewell(bench, &a));
    CHECK_CONTAINS("hash", guest_heard(bench, &a, MSG_BYE)->bye.text);
    CHECK(!bench_node(bench, "a"));
    bench_destroy(&bench);
}

static void another_model_is_refused_by_its_first_tensor(void)
{
    struct bench *bench = bench_new(), *other = bench_new();
    struct guest a, b = guest_new(bench, "b");
    struct schema *ours = bench->schema;
    const uint64_t shape[1] = {3};

    bench_open(bench);
    a = guest_comes(bench, "a");
    CHECK_OK(schema_add(other->schema, "extra", 1, shape, NULL));
    bench->schema = other->schema;
    guest_hello(bench, &b);
    bench->schema = ours;
    CHECK_EQUAL(FAREWELL_SCHEMA, guest_farewell(bench, &b));
    CHECK_CONTAINS("\"extra\"", guest_heard(bench, &b, MSG_BYE)->bye.text);
    CHECK(!bench_node(bench, "b"));
    CHECK(!hand_dropped(&bench->hand, a.control));
    bench_destroy(&other);
    bench_destroy(&bench);
}

static void an_older_incarnation_is_refused_while_a_newer_is_here(void)
{
    struct bench *bench = bench_new();
    struct guest a, old;

    bench_open(bench);
    a = guest_new(bench, "a");
    a.hello.incarnation = 5;
    guest_hello(bench, &a);
    old = a;
    old.control = old.bulk = PEER_NONE;
    old.hello.incarnation = 4;
    guest_hello(bench, &old);
    CHECK_EQUAL(FAREWELL_REPLACED, guest_farewell(bench, &old));
    CHECK(!hand_dropped(&bench->hand, a.control));
    bench_destroy(&bench);
}

/* The clock was set back, and the PC was switched off without a word. */
static void a_lower_incarnation_replaces_one_that_is_silent(void)
{
    struct bench *bench = bench_new();
    struct guest a, next;

    bench_open(bench);
    a = guest_new(bench, "a");
    a.hello.incarnation = 5;
    guest_hello(bench, &a);
    hand_wait(&bench->hand, 3 * SECOND);
    CHECK(bench_node(bench, "a")->silent);
    next = a;
    next.control = next.bulk = PEER_NONE;
    next.hello.incarnation = 4;
    hand_forget(&bench->hand);
    guest_hello(bench, &next);
    CHECK(guest_heard(bench, &next, MSG_WELCOME) != NULL);
    CHECK_EQUAL(FAREWELL_REPLACED, guest_farewell(bench, &a));
    CHECK_EQUAL(1, bench_look(bench)->count);
    bench_destroy(&bench);
}

static void a_lower_incarnation_follows_one_that_is_gone(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_new(bench, "a");
    a.hello.incarnation = 5;
    guest_hello(bench, &a);
    guest_breaks(bench, &a);
    a.hello.incarnation = 4;
    hand_forget(&bench->hand);
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_WELCOME) != NULL);
    CHECK(!bench_node(bench, "a")->gone);
    bench_destroy(&bench);
}

static void a_newer_incarnation_replaces_the_older(void)
{
    struct bench *bench = bench_new();
    struct guest a, next;

    bench_open(bench);
    a = guest_comes(bench, "a");
    next = a;
    next.hello.incarnation = 2;
    guest_comes_again(bench, &next);
    CHECK_EQUAL(FAREWELL_REPLACED, guest_farewell(bench, &a));
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK(!hand_dropped(&bench->hand, next.control));
    CHECK_EQUAL(1, bench_look(bench)->count);
    CHECK(hand_note(&bench->hand, NOTE_REJOINED) != NULL);
    bench_destroy(&bench);
}

static void a_connection_cannot_become_another_node(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    for (int half = 0; half < 2; half++) {
        bench = half ? bench_new() : bench;
        bench_open(bench);
        a = guest_comes(bench, "a");
        *(half ? &a.hello.node_low : &a.hello.node_high) += 100;
        guest_hello(bench, &a);
        CHECK(hand_dropped(&bench->hand, a.control));
        CHECK_EQUAL(1, bench_look(bench)->count);
        CHECK(bench_node(bench, "a")->gone);
        bench_destroy(&bench);
    }
}

static void a_hub_that_is_full_says_so(void)
{
    struct bench *bench = bench_new();
    enum { MOST = 70 };
    struct guest guests[MOST], late;

    bench->config.most = MOST;
    bench_open(bench);
    for (unsigned i = 0; i < MOST; i++) {
        guests[i] = guest_new(bench, "node");
        guest_hello(bench, &guests[i]);
        hand_forget(&bench->hand);
    }
    late = guest_new(bench, "late");
    guest_hello(bench, &late);
    CHECK_EQUAL(FAREWELL_FULL, guest_farewell(bench, &late));
    guest_says(bench, &guests[9], MSG_BYE);
    guest_hello(bench, &late);
    CHECK(guest_heard(bench, &late, MSG_WELCOME) != NULL);
    bench_destroy(&bench);
}

static void a_node_that_says_hello_again_stays_in_its_place(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    uint64_t session;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    guest_gives(bench, &a, 1, 0.5);
    session = a.session;
    a.hello.run = 7;
    a.hello.base_version = 1;
    guest_hello(bench, &a);
    CHECK(a.session != session);
    guest_delivers(bench, &a, 2, 0, 1);
    guest_attach(bench, &a);
    /* What either has sent in the former session is still on its way. */
    guest_credits(bench, &a, 1, BENCH_BYTES);
    CHECK(!hand_dropped(&bench->hand, a.control));
    CHECK_EQUAL(1, bench_look(bench)->count);
    guest_gives(bench, &a, 2, 0.5);
    CHECK_NEAR(2, guest_result(bench, &a, 2, 0), 0);
    bench_destroy(&bench);
}

/* It takes the centre once; told twice, it would wait for a second one. */
static void who_is_to_take_the_centre_and_offers_first_is_not_told_again(void)
{
    struct bench *bench = bench_new();
    const struct msg_offer early = {
        .exchange = 1, .iteration = 1, .samples = 1, .score = 1, .lineage = 6};
    struct guest b;

    (void)guest_alone(bench);
    b = guest_new(bench, "b");
    b.hello.lineage = 6;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_TAKE, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    guest_offer(bench, &b, &early);
    CHECK_EQUAL(VERDICT_LINEAGE, guest_verdict(bench, &b, 1, 0));
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_WELCOME));
    guest_credits(bench, &b, 0, 0);
    CHECK_EQUAL(BENCH_CHUNKS, guest_heard_count(bench, &b, MSG_RESULT));
    bench_destroy(&bench);
}

/* Found by the soak: a node attached to another one's session, whose number it
 * knew from before the hub was killed. */
static void no_session_has_the_number_of_one_before_a_restart(void)
{
    struct bench *bench = bench_new();
    struct guest before, after;

    bench_open(bench);
    before = guest_comes(bench, "a");
    bench_destroy(&bench);
    bench = bench_new();
    bench_open(bench);
    bench->hand.now += 2 * SECOND;
    after = guest_new(bench, "b");
    guest_hello(bench, &after);
    CHECK(before.session != after.session);
    bench_destroy(&bench);
}

/* Whoever comes first: the model is the hub's. */
static void a_hub_that_knows_its_model_takes_no_other(void)
{
    struct bench *bench = bench_new();
    struct schema *other = schema_new(), *own = bench->schema;
    const uint64_t shape[1] = {7};
    struct guest a, b;

    CHECK_EQUAL(STATUS_OK, schema_add(other, "v", 1, shape, NULL));
    bench->config.schema = own;
    bench_open(bench);
    bench->schema = other;
    a = guest_new(bench, "a");
    guest_hello(bench, &a);
    CHECK_EQUAL(FAREWELL_SCHEMA, guest_farewell(bench, &a));
    bench->schema = own;
    b = guest_comes(bench, "b");
    guest_founds(bench, &b, 1);
    CHECK(bench_look(bench)->founded);
    bench_destroy(&bench);
    schema_destroy(&other);
}

void add_hub_hello_tests(CU_pSuite suite)
{
    TEST(no_session_has_the_number_of_one_before_a_restart);
    TEST(a_hello_is_answered_with_the_settings);
    TEST(another_protocol_version_is_refused);
    TEST(a_schema_of_another_hash_is_refused);
    TEST(another_model_is_refused_by_its_first_tensor);
    TEST(an_older_incarnation_is_refused_while_a_newer_is_here);
    TEST(a_lower_incarnation_replaces_one_that_is_silent);
    TEST(a_lower_incarnation_follows_one_that_is_gone);
    TEST(a_newer_incarnation_replaces_the_older);
    TEST(a_connection_cannot_become_another_node);
    TEST(a_hub_that_is_full_says_so);
    TEST(a_node_that_says_hello_again_stays_in_its_place);
    TEST(a_hub_that_knows_its_model_takes_no_other);
    TEST(who_is_to_take_the_centre_and_offers_first_is_not_told_again);
}
