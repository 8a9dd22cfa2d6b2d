#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static void a_hello_is_answered_with_the_settings(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a");
    const struct msg_welcome *welcome;

    f->config.every = 20;
    f->config.delay = 4;
    hub_fixture_open(f);
    fake_node_hello(f, &a);
    welcome = &fake_node_heard(f, &a, MSG_WELCOME)->welcome;
    CHECK_EQUAL(7, welcome->run);
    CHECK_EQUAL(20, welcome->every);
    CHECK_EQUAL(4, welcome->delay);
    CHECK_EQUAL(4, welcome->chunk_elements);
    CHECK_EQUAL(START_HOLD, welcome->start);
    hub_fixture_destroy(&f);
}

static void another_protocol_version_is_refused(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a");

    hub_fixture_open(f);
    a.hello.protocol_min = a.hello.protocol_max = PROTOCOL_MAX + 1;
    fake_node_hello(f, &a);
    CHECK_EQUAL(FAREWELL_VERSION, fake_node_farewell(f, &a));
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) == NULL);
    hand_forget(&f->hand);
    a = fake_node_new(f, "b");
    a.hello.protocol_min = a.hello.protocol_max = PROTOCOL_MIN - 1;
    fake_node_hello(f, &a);
    CHECK_EQUAL(FAREWELL_VERSION, fake_node_farewell(f, &a));
    hub_fixture_destroy(&f);
}

static void a_node_of_the_former_protocol_is_spoken_to_in_it(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a");

    hub_fixture_open(f);
    a.hello.protocol_min = a.hello.protocol_max = PROTOCOL_MIN;
    fake_node_hello(f, &a);
    CHECK_EQUAL(PROTOCOL_MIN,
                fake_node_heard(f, &a, MSG_WELCOME)->welcome.protocol);
    hand_forget(&f->hand);
    a = fake_node_new(f, "b");
    a.hello.protocol_max = PROTOCOL_MAX + 1;
    fake_node_hello(f, &a);
    CHECK_EQUAL(PROTOCOL_MAX,
                fake_node_heard(f, &a, MSG_WELCOME)->welcome.protocol);
    hub_fixture_destroy(&f);
}

static void a_node_without_the_run_s_codec_is_refused(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a");

    f->config.codec_up = CODEC_SPARSE;
    hub_fixture_open(f);
    a.hello.protocol_min = a.hello.protocol_max = PROTOCOL_TOLD - 1;
    fake_node_hello(f, &a);
    CHECK_EQUAL(FAREWELL_VERSION, fake_node_farewell(f, &a));
    CHECK_CONTAINS("codec sparse", fake_node_heard(f, &a, MSG_BYE)->bye.text);
    hub_fixture_destroy(&f);
}

/* The run would have the model that came of damage, or of a lie. */
static void a_schema_of_another_hash_is_refused(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a");

    hub_fixture_open(f);
    a.hello.schema = f->schema->hash + 1;
    fake_node_hello(f, &a);
    CHECK_EQUAL(FAREWELL_SCHEMA, fake_node_farewell(f, &a));
    CHECK_CONTAINS("hash", fake_node_heard(f, &a, MSG_BYE)->bye.text);
    CHECK(!hub_fixture_node(f, "a"));
    hub_fixture_destroy(&f);
}

static void another_model_is_refused_by_its_first_tensor(void)
{
    struct hub_fixture *f = hub_fixture_new(), *other = hub_fixture_new();
    struct fake_node a, b = fake_node_new(f, "b");
    struct schema *ours = f->schema;
    const uint64_t shape[1] = {3};

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    CHECK_OK(schema_add(other->schema, "extra", 1, shape, NULL));
    f->schema = other->schema;
    fake_node_hello(f, &b);
    f->schema = ours;
    CHECK_EQUAL(FAREWELL_SCHEMA, fake_node_farewell(f, &b));
    CHECK_CONTAINS("\"extra\"", fake_node_heard(f, &b, MSG_BYE)->bye.text);
    CHECK(!hub_fixture_node(f, "b"));
    CHECK(!hand_dropped(&f->hand, a.control));
    hub_fixture_destroy(&other);
    hub_fixture_destroy(&f);
}

static void an_older_incarnation_is_refused_while_a_newer_is_here(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, old;

    hub_fixture_open(f);
    a = fake_node_new(f, "a");
    a.hello.incarnation = 5;
    fake_node_hello(f, &a);
    old = a;
    old.control = old.bulk = PEER_NONE;
    old.hello.incarnation = 4;
    fake_node_hello(f, &old);
    CHECK_EQUAL(FAREWELL_REPLACED, fake_node_farewell(f, &old));
    CHECK(!hand_dropped(&f->hand, a.control));
    hub_fixture_destroy(&f);
}

/* The clock was set back, and the PC was switched off without a word. */
static void a_lower_incarnation_replaces_one_that_is_silent(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, next;

    hub_fixture_open(f);
    a = fake_node_new(f, "a");
    a.hello.incarnation = 5;
    fake_node_hello(f, &a);
    hand_wait(&f->hand, 3 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    next = a;
    next.control = next.bulk = PEER_NONE;
    next.hello.incarnation = 4;
    hand_forget(&f->hand);
    fake_node_hello(f, &next);
    CHECK(fake_node_heard(f, &next, MSG_WELCOME) != NULL);
    CHECK_EQUAL(FAREWELL_REPLACED, fake_node_farewell(f, &a));
    CHECK_CONTAINS("give one of them another --name",
                   fake_node_heard(f, &a, MSG_BYE)->bye.text);
    CHECK_EQUAL(1, hub_fixture_look(f)->count);
    hub_fixture_destroy(&f);
}

static void a_lower_incarnation_follows_one_that_is_gone(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_new(f, "a");
    a.hello.incarnation = 5;
    fake_node_hello(f, &a);
    fake_node_breaks(f, &a);
    a.hello.incarnation = 4;
    hand_forget(&f->hand);
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_WELCOME) != NULL);
    CHECK(!hub_fixture_node(f, "a")->gone);
    hub_fixture_destroy(&f);
}

static void a_newer_incarnation_replaces_the_older(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, next;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    next = a;
    next.hello.incarnation = 2;
    fake_node_comes_again(f, &next);
    CHECK_EQUAL(FAREWELL_REPLACED, fake_node_farewell(f, &a));
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK(!hand_dropped(&f->hand, next.control));
    CHECK_EQUAL(1, hub_fixture_look(f)->count);
    CHECK(hand_note(&f->hand, NOTE_REJOINED) != NULL);
    hub_fixture_destroy(&f);
}

static void a_connection_cannot_become_another_node(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    for (int half = 0; half < 2; half++) {
        f = half ? hub_fixture_new() : f;
        hub_fixture_open(f);
        a = fake_node_comes(f, "a");
        *(half ? &a.hello.node_low : &a.hello.node_high) += 100;
        fake_node_hello(f, &a);
        CHECK(hand_dropped(&f->hand, a.control));
        CHECK_EQUAL(1, hub_fixture_look(f)->count);
        CHECK(hub_fixture_node(f, "a")->gone);
        hub_fixture_destroy(&f);
    }
}

static void a_hub_that_is_full_says_so(void)
{
    struct hub_fixture *f = hub_fixture_new();
    enum { MOST = 70 };
    struct fake_node nodes[MOST], late;

    f->config.most = MOST;
    hub_fixture_open(f);
    for (unsigned i = 0; i < MOST; i++) {
        nodes[i] = fake_node_new(f, "node");
        fake_node_hello(f, &nodes[i]);
        hand_forget(&f->hand);
    }
    late = fake_node_new(f, "late");
    fake_node_hello(f, &late);
    CHECK_EQUAL(FAREWELL_FULL, fake_node_farewell(f, &late));
    fake_node_says(f, &nodes[9], MSG_BYE);
    fake_node_hello(f, &late);
    CHECK(fake_node_heard(f, &late, MSG_WELCOME) != NULL);
    hub_fixture_destroy(&f);
}

static void a_node_that_says_hello_again_stays_in_its_place(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    uint64_t session;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    fake_node_gives(f, &a, 1, 0.5);
    session = a.session;
    a.hello.run = 7;
    a.hello.base_version = 1;
    fake_node_hello(f, &a);
    CHECK(a.session != session);
    fake_node_delivers(f, &a, 2, 0, 1);
    fake_node_attach(f, &a);
    /* What either has sent in the former session is still on its way. */
    fake_node_credits(f, &a, 1, FIXTURE_BYTES);
    CHECK(!hand_dropped(&f->hand, a.control));
    CHECK_EQUAL(1, hub_fixture_look(f)->count);
    fake_node_gives(f, &a, 2, 0.5);
    CHECK_NEAR(2, fake_node_result(f, &a, 2, 0), 0);
    hub_fixture_destroy(&f);
}

/* It takes the centre once; told twice, it would wait for a second one. */
static void who_is_to_take_the_centre_and_offers_first_is_not_told_again(void)
{
    struct hub_fixture *f = hub_fixture_new();
    const struct msg_offer early = {
        .exchange = 1, .iteration = 1, .samples = 1, .score = 1, .lineage = 6};
    struct fake_node b;

    (void)fake_node_alone(f);
    b = fake_node_new(f, "b");
    b.hello.lineage = 6;
    fake_node_comes_again(f, &b);
    CHECK_EQUAL(START_TAKE, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    fake_node_offer(f, &b, &early);
    CHECK_EQUAL(VERDICT_LINEAGE, fake_node_verdict(f, &b, 1, 0));
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_WELCOME));
    fake_node_credits(f, &b, 0, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, fake_node_heard_count(f, &b, MSG_RESULT));
    hub_fixture_destroy(&f);
}

/* Found by the soak: a node attached to another one's session, whose number it
 * knew from before the hub was killed. */
static void no_session_has_the_number_of_one_before_a_restart(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node before, after;

    hub_fixture_open(f);
    before = fake_node_comes(f, "a");
    hub_fixture_destroy(&f);
    f = hub_fixture_new();
    hub_fixture_open(f);
    f->hand.now += 2 * SECOND;
    after = fake_node_new(f, "b");
    fake_node_hello(f, &after);
    CHECK(before.session != after.session);
    hub_fixture_destroy(&f);
}

/* Whoever comes first: the model is the hub's. */
static void a_hub_that_knows_its_model_takes_no_other(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct schema *other = schema_new(), *own = f->schema;
    const uint64_t shape[1] = {7};
    struct fake_node a, b;

    CHECK_EQUAL(STATUS_OK, schema_add(other, "v", 1, shape, NULL));
    f->config.schema = own;
    hub_fixture_open(f);
    f->schema = other;
    a = fake_node_new(f, "a");
    fake_node_hello(f, &a);
    CHECK_EQUAL(FAREWELL_SCHEMA, fake_node_farewell(f, &a));
    f->schema = own;
    b = fake_node_comes(f, "b");
    fake_node_founds(f, &b, 1);
    CHECK(hub_fixture_look(f)->founded);
    hub_fixture_destroy(&f);
    schema_destroy(&other);
}

void add_hub_hello_tests(CU_pSuite suite)
{
    TEST(no_session_has_the_number_of_one_before_a_restart);
    TEST(a_hello_is_answered_with_the_settings);
    TEST(another_protocol_version_is_refused);
    TEST(a_node_of_the_former_protocol_is_spoken_to_in_it);
    TEST(a_node_without_the_run_s_codec_is_refused);
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
