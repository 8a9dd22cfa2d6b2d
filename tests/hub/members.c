#include <stdlib.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static void the_first_to_attach_founds_the_centre(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    b = fake_node_comes(f, "b");
    CHECK_EQUAL(START_FOUND,
                fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(START_HOLD, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(3 * FIXTURE_CHUNK_BYTES,
                fake_node_heard(f, &a, MSG_GRANT)->grant.credit);
    fake_node_founds(f, &a, 1);
    CHECK_EQUAL(START_GO, fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(START_GO, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    hub_fixture_destroy(&f);
}

static void another_founds_when_the_founder_leaves(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    b = fake_node_comes(f, "b");
    fake_node_breaks(f, &a);
    CHECK_EQUAL(START_FOUND,
                fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    fake_node_founds(f, &b, 2);
    hub_fixture_destroy(&f);
}

static void another_founds_when_the_founder_falls_silent(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    b = fake_node_comes(f, "b");
    hand_wait(&f->hand, 1500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(START_FOUND,
                fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    fake_node_delivers_all(f, &a, 0, 1);
    CHECK(!hub_fixture_look(f)->founded);
    fake_node_founds(f, &b, 2);
    hub_fixture_destroy(&f);
}

/* Its chunks are on their way when it is asked once more, at a chunk a second.
 */
static void a_founder_that_is_asked_again_may_use_its_first_credit(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.down = FIXTURE_CHUNK_BYTES;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_lives(f, &a, 3 * SECOND);
    hand_wait(&f->hand, 4 * SECOND);
    CHECK_EQUAL(START_HOLD, fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    fake_node_delivers_all(f, &a, 0, 1);
    CHECK_EQUAL(START_FOUND,
                fake_node_heard(f, &a, MSG_WELCOME)->welcome.start);
    CHECK(!hand_dropped(&f->hand, a.control));
    fake_node_lives(f, &a, 5 * SECOND);
    fake_node_founds(f, &a, 1);
    hub_fixture_destroy(&f);
}

static void first_parameters_that_are_not_finite_cut_the_founder(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_delivers(f, &a, 0, 0, 1e300);
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK(!hub_fixture_look(f)->founded);
    hub_fixture_destroy(&f);
}

static void a_stranger_is_told_to_say_hello(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a");

    hub_fixture_open(f);
    a.control = f->next_peer++;
    hand_join(&f->hand, a.control, CHANNEL_CONTROL);
    fake_node_offers(f, &a, 1);
    CHECK_EQUAL(FAREWELL_STRANGER, fake_node_farewell(f, &a));
    CHECK(!hand_dropped(&f->hand, a.control));
    hub_fixture_destroy(&f);
}

static void a_member_that_says_what_it_must_not_is_cut(void)
{
    static const enum msg_kind wrong[] = {MSG_GRANT,   MSG_WELCOME, MSG_PONG,
                                          MSG_VERDICT, MSG_RESULT,  MSG_ATTACH,
                                          MSG_STOP,    MSG_VIEW};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hub_fixture *f = hub_fixture_new();
        struct fake_node a;

        hub_fixture_open(f);
        a = fake_node_comes(f, "a");
        fake_node_says(f, &a, wrong[i]);
        CHECK(hand_dropped(&f->hand, a.control));
        CHECK(hand_dropped(&f->hand, a.bulk));
        CHECK(hand_note(&f->hand, NOTE_OFFENCE) != NULL);
        CHECK(hub_fixture_node(f, "a")->gone);
        hub_fixture_destroy(&f);
    }
}

static void a_chunk_without_its_payload_is_an_offence(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_says(f, &a, MSG_CHUNK);
    CHECK(hand_dropped(&f->hand, a.bulk));
    hub_fixture_destroy(&f);
}

/* Nodes that took them in a tournament named none, so that a hub that lost its
 * disk then held all of them for ever. */
static void parameters_without_a_lineage_are_an_offence(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg msg = {.kind = MSG_OFFER};
    struct fake_node a;

    f->config.init = INIT_TOURNAMENT;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    msg.offer.exchange = 1;
    msg.offer.kind = EXCHANGE_PARAMETERS;
    hand_say(&f->hand, a.control, &msg, NULL);
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK_CONTAINS("lineage", hand_note(&f->hand, NOTE_OFFENCE)->text);
    hub_fixture_destroy(&f);
}

static void an_unknown_session_is_cut(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_new(f, "a"), b = fake_node_new(f, "b");

    hub_fixture_open(f);
    fake_node_hello(f, &a);
    b.session = a.session + 1;
    fake_node_attach(f, &b);
    CHECK(hand_dropped(&f->hand, b.bulk));
    fake_node_attach(f, &a);
    CHECK(!hand_dropped(&f->hand, a.bulk));
    b.session = a.session;
    b.bulk = PEER_NONE;
    fake_node_attach(f, &b);
    CHECK(hand_dropped(&f->hand, b.bulk));
    CHECK(!hand_dropped(&f->hand, a.bulk));
    hub_fixture_destroy(&f);
}

static void the_view_is_pushed_at_once_with_a_growing_epoch(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;
    uint64_t epoch;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    epoch = fake_node_heard(f, &a, MSG_VIEW)->view.epoch;
    CHECK_EQUAL(1, fake_node_heard(f, &a, MSG_VIEW)->view.members);
    b = fake_node_comes(f, "b");
    CHECK(fake_node_heard(f, &a, MSG_VIEW)->view.epoch > epoch);
    CHECK_EQUAL(2, fake_node_heard(f, &a, MSG_VIEW)->view.members);
    CHECK_EQUAL(0, fake_node_heard(f, &a, MSG_VIEW)->view.shard);
    CHECK_EQUAL(1, fake_node_heard(f, &b, MSG_VIEW)->view.shard);
    CHECK_EQUAL(2, fake_node_heard(f, &b, MSG_VIEW)->view.shards);
    epoch = fake_node_heard(f, &b, MSG_VIEW)->view.epoch;
    fake_node_says(f, &a, MSG_BYE);
    CHECK(fake_node_heard(f, &b, MSG_VIEW)->view.epoch > epoch);
    CHECK_EQUAL(0, fake_node_heard(f, &b, MSG_VIEW)->view.shard);
    CHECK_EQUAL(1, fake_node_heard(f, &b, MSG_VIEW)->view.members);
    CHECK(hand_note(&f->hand, NOTE_LEFT) != NULL);
    hub_fixture_destroy(&f);
}

static void a_node_is_silent_after_two_seconds_until_it_pings(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    hand_wait(&f->hand, 1900 * MILLISECOND);
    CHECK(!hub_fixture_node(f, "a")->silent);
    hand_wait(&f->hand, 400 * MILLISECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    fake_node_pings(f, &a, 3);
    CHECK(!hub_fixture_node(f, "a")->silent);
    CHECK_EQUAL(3, hub_fixture_node(f, "a")->iteration);
    CHECK(fake_node_heard(f, &a, MSG_PONG) != NULL);
    hub_fixture_destroy(&f);
}

static void a_node_that_is_silent_for_a_minute_is_gone(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    hand_wait(&f->hand, 59 * SECOND);
    CHECK(!hub_fixture_node(f, "a")->gone);
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(hub_fixture_node(f, "a")->gone);
    CHECK(hand_dropped(&f->hand, a.control));
    hub_fixture_destroy(&f);
}

/* What each of so many is told is as many messages as there are nodes. */
static void many_nodes_hear_at_the_next_look_how_many_they_are(void)
{
    enum { MANY = 300 };
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node *nodes = calloc(MANY, sizeof *nodes);
    const struct msg *last = NULL;

    if (!nodes)
        abort();
    hub_fixture_open(f);
    for (unsigned i = 0; i < MANY; i++) {
        nodes[i] = fake_node_new(f, "node");
        fake_node_hello(f, &nodes[i]);
        CHECK_EQUAL(i < 64, fake_node_heard(f, &nodes[0], MSG_VIEW) != NULL);
        hand_forget(&f->hand);
    }
    hand_wait(&f->hand, SECOND);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK_EQUAL(1, fake_node_heard_count(f, &nodes[i], MSG_VIEW));
        last = fake_node_heard(f, &nodes[i], MSG_VIEW);
        CHECK_EQUAL(MANY, last ? last->view.members : 0);
        CHECK_EQUAL(i, last ? last->view.shard : MANY);
    }
    fake_node_says(f, &nodes[7], MSG_BYE);
    CHECK_EQUAL(MANY, hub_fixture_look(f)->count);
    CHECK(f->view.nodes[7].gone && !f->view.nodes[MANY - 1].gone);
    free(nodes);
    hub_fixture_destroy(&f);
}

/* A hundred rounds under way at once, each delivered in another order. */
static void rounds_of_many_nodes_merge_whoever_delivers_first(void)
{
    enum { MANY = 100 };
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[MANY];

    f->config.policy = preset_find("downpour")->policy;
    f->config.policy.exchange = EXCHANGE_DELTA;
    f->config.staleness = 1000;
    hub_fixture_open(f);
    nodes[0] = fake_node_comes(f, "node");
    fake_node_founds(f, &nodes[0], 0);
    for (unsigned i = 1; i < MANY; i++) {
        nodes[i] = fake_node_comes(f, "node");
        hand_forget(&f->hand);
    }
    for (unsigned i = 0; i < MANY; i++)
        fake_node_offers(f, &nodes[i], 1);
    CHECK_EQUAL(0, hub_fixture_look(f)->rounds);
    for (uint32_t chunk = 0; chunk < FIXTURE_CHUNKS; chunk++)
        for (unsigned i = 0; i < MANY; i++) {
            hand_forget(&f->hand);
            fake_node_delivers(f, &nodes[(i * 37 + chunk) % MANY], 1, chunk,
                               0.5);
        }
    CHECK_EQUAL(MANY, hub_fixture_look(f)->version);
    CHECK_EQUAL((uint64_t)MANY * FIXTURE_CHUNKS,
                f->view.verdicts[VERDICT_MERGED]);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_EQUAL(1, f->view.nodes[i].moved.exchanges);
    hub_fixture_destroy(&f);
}

/* A blob of 16 bytes that stands for 2^40 on a link, in both directions. */
static void bytes_of_large_chunks_are_counted(void)
{
    const uint64_t bytes = (uint64_t)1 << 40;
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    struct msg_chunk chunk = {.exchange = 1};
    uint64_t before = hub_fixture_node(f, "a")->moved.up_bytes;

    fake_node_offers(f, &a, 1);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        struct blob *payload =
            hand_floats(f->hand.pool, hub_fixture_length(i), 1);

        payload->wire_bytes = bytes;
        chunk.chunk = i;
        chunk.checksum = payload->checksum;
        fake_node_chunk(f, &a, &chunk, payload);
        blob_unref(&payload);
    }
    CHECK_EQUAL(FIXTURE_CHUNKS * bytes,
                hub_fixture_node(f, "a")->moved.up_bytes - before);
    CHECK_EQUAL(1, f->view.version);
    hub_fixture_destroy(&f);
}

static void strangers_without_end_are_cut(void)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.most = 64;
    hub_fixture_open(f);
    for (peer_id i = 100; i < 400; i++)
        hand_join(&f->hand, i, CHANNEL_CONTROL);
    CHECK(!hand_dropped(&f->hand, 100));
    CHECK(hand_dropped(&f->hand, 399));
    hub_fixture_destroy(&f);
}

void add_hub_members_tests(CU_pSuite suite)
{
    TEST(the_first_to_attach_founds_the_centre);
    TEST(another_founds_when_the_founder_leaves);
    TEST(another_founds_when_the_founder_falls_silent);
    TEST(a_founder_that_is_asked_again_may_use_its_first_credit);
    TEST(first_parameters_that_are_not_finite_cut_the_founder);
    TEST(a_stranger_is_told_to_say_hello);
    TEST(a_member_that_says_what_it_must_not_is_cut);
    TEST(a_chunk_without_its_payload_is_an_offence);
    TEST(parameters_without_a_lineage_are_an_offence);
    TEST(an_unknown_session_is_cut);
    TEST(the_view_is_pushed_at_once_with_a_growing_epoch);
    TEST(a_node_is_silent_after_two_seconds_until_it_pings);
    TEST(a_node_that_is_silent_for_a_minute_is_gone);
    TEST(many_nodes_hear_at_the_next_look_how_many_they_are);
    TEST(rounds_of_many_nodes_merge_whoever_delivers_first);
    TEST(bytes_of_large_chunks_are_counted);
    TEST(strangers_without_end_are_cut);
}
