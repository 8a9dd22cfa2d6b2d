/* A node says that another hub has taken the run over, and is to prove it. */
#include <stdio.h>
#include <string.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

#define LIFE (UINT64_C(1) << 32)

static struct hub_fixture *keyed_fixture(void)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.seal.key[0] = 9;
    return f;
}

/* A hub at work with node a. */
static struct hub_fixture *at_work(struct fake_node *a)
{
    struct hub_fixture *f = keyed_fixture();

    *a = fake_node_alone(f);
    fake_node_gives(f, a, 1, 0.5);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    return f;
}

/* It knows of a later life of the hub, and keeps version 5 of it. */
static struct fake_node doubter(struct hub_fixture *f)
{
    struct fake_node node = fake_node_new(f, "b");

    node.hello.run = 7;
    node.hello.epoch = LIFE;
    node.hello.kept = 1 + 5;
    return node;
}

/* A manifest of the run and of version 5, under that key. */
static void proves(struct hub_fixture *f, const struct fake_node *node,
                   uint64_t run, uint64_t epoch,
                   const unsigned char key[MANIFEST_KEY_BYTES])
{
    const float values[CODEC_GRAIN] = {1};
    struct msg msg = {.kind = MSG_KEPT};
    char state[256];
    uint32_t size = (uint32_t)snprintf(
        state, sizeof state,
        "run %llu\nepoch %llu\nversion 5\nlineage 5\nchunk 4\n"
        "exact 0 0 0\nbest 0 0\n",
        (unsigned long long)run, (unsigned long long)epoch);
    struct blob *payload =
        blob_new(f->hand.pool, manifest_bytes(FIXTURE_CHUNKS, size));

    manifest_begin(payload->bytes, FIXTURE_CHUNKS, state, size);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        manifest_add(payload->bytes, i, 5, values,
                     hub_fixture_length(i) * sizeof *values);
    manifest_seal(payload->bytes, key);
    msg.kept.version = 5;
    hand_say(&f->hand, node->bulk, &msg, payload);
    blob_unref(&payload);
}

/* Exchange 2 of node a is merged: it was not disturbed. */
static void goes_on(struct hub_fixture *f, struct fake_node *a)
{
    CHECK(!hub_fixture_look(f)->superseded);
    CHECK(!hub_ended(f->hub));
    fake_node_gives(f, a, 2, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, a, 2, 0));
    CHECK_EQUAL(2, hub_fixture_look(f)->version);
}

static void a_hub_that_was_superseded_steps_down(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    fake_node_comes_again(f, &b);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &b));
    CHECK(!hub_fixture_look(f)->superseded);
    proves(f, &b, 7, LIFE | 3, f->config.seal.key);
    CHECK(hand_note(&f->hand, NOTE_SUPERSEDED) != NULL);
    CHECK(hub_fixture_look(f)->superseded);
    CHECK(hub_ended(f->hub));
    CHECK(hand_dropped(&f->hand, a.control));
    CHECK(hand_dropped(&f->hand, b.control));
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &a));
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &b));
    hub_fixture_destroy(&f);
}

static void a_forged_proof_is_an_offence(void)
{
    const unsigned char key[MANIFEST_KEY_BYTES] = {1};
    struct fake_node a, b;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    fake_node_comes_again(f, &b);
    proves(f, &b, 7, LIFE, key);
    CHECK(hand_note(&f->hand, NOTE_OFFENCE) != NULL);
    CHECK(hand_dropped(&f->hand, b.control));
    goes_on(f, &a);
    hub_fixture_destroy(&f);
}

/* Any stranger could have made it. */
static void without_keys_what_another_has_sealed_ends_no_hub(void)
{
    const unsigned char key[MANIFEST_KEY_BYTES] = {0};
    struct fake_node a, b;
    struct hub_fixture *f = keyed_fixture();

    f->config.seal.keyless = true;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 0.5);
    b = doubter(f);
    fake_node_comes_again(f, &b);
    proves(f, &b, 7, LIFE, key);
    CHECK(hand_note(&f->hand, NOTE_OFFENCE) == NULL);
    CHECK(hand_dropped(&f->hand, b.control));
    CHECK_EQUAL(FAREWELL_SUPERSEDED, fake_node_farewell(f, &b));
    goes_on(f, &a);
    hub_fixture_destroy(&f);
}

/* It may know of another hub before it keeps anything of it. */
static void a_genuine_manifest_of_this_life_proves_nothing(void)
{
    const uint64_t runs[] = {7, 8}, epochs[] = {LIFE - 1, LIFE};

    for (unsigned i = 0; i < 2; i++) {
        struct fake_node a, b;
        struct hub_fixture *f = at_work(&a);

        b = doubter(f);
        fake_node_comes_again(f, &b);
        proves(f, &b, runs[i], epochs[i], f->config.seal.key);
        CHECK(hand_note(&f->hand, NOTE_OFFENCE) == NULL);
        CHECK(hand_dropped(&f->hand, b.control));
        CHECK_CONTAINS("comes in without it",
                       hand_note(&f->hand, NOTE_REFUSED)->text);
        CHECK_EQUAL(FAREWELL_SUPERSEDED, fake_node_farewell(f, &b));
        goes_on(f, &a);
        hub_fixture_destroy(&f);
    }
}

static void who_keeps_nothing_is_sent_on(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    b.hello.kept = 0;
    fake_node_hello(f, &b);
    CHECK(hand_dropped(&f->hand, b.control));
    CHECK_CONTAINS("comes in without it",
                   hand_note(&f->hand, NOTE_REFUSED)->text);
    CHECK_EQUAL(FAREWELL_SUPERSEDED, fake_node_farewell(f, &b));
    CHECK_EQUAL(0, fake_node_heard_count(f, &b, MSG_WELCOME));
    CHECK(hand_note(&f->hand, NOTE_OFFENCE) == NULL);
    goes_on(f, &a);
    hub_fixture_destroy(&f);
}

static void rounds_go_on_while_a_proof_is_awaited(void)
{
    struct fake_node a, b, c;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    fake_node_comes_again(f, &b);
    c = doubter(f);
    fake_node_comes_again(f, &c);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &c));
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    goes_on(f, &a);
    proves(f, &c, 7, LIFE, f->config.seal.key);
    CHECK(hub_fixture_look(f)->superseded);
    hub_fixture_destroy(&f);
}

/* Nor do its parameters become anything. */
static void who_gives_no_proof_for_so_long_is_dropped(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    fake_node_comes_again(f, &b);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(f, &b, 0, i, 9);
    for (unsigned i = 0; i < 11; i++) {
        CHECK(i == 10 || !hand_dropped(&f->hand, b.control));
        fake_node_pings(f, &b, 1);
        fake_node_lives(f, &a, SECOND);
    }
    CHECK(hand_dropped(&f->hand, b.control));
    CHECK(!hand_dropped(&f->hand, a.control));
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &b));
    CHECK_CONTAINS("no proof", hand_note(&f->hand, NOTE_LOST)->text);
    goes_on(f, &a);
    CHECK_NEAR(2, fake_node_result(f, &a, 2, 0), 0);
    hub_fixture_destroy(&f);
}

static void one_proof_is_checked_of_each_session(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    fake_node_comes_again(f, &b);
    f->hand.holds_jobs = true;
    for (unsigned i = 0; i < 3; i++)
        proves(f, &b, 7, LIFE, f->config.seal.key);
    CHECK_EQUAL(1, f->hand.job_count);
    hand_work(&f->hand);
    CHECK(hub_fixture_look(f)->superseded);
    hub_fixture_destroy(&f);
}

static void what_nobody_asked_for_is_not_checked(void)
{
    struct fake_node a;
    struct hub_fixture *f = at_work(&a);

    proves(f, &a, 7, LIFE, f->config.seal.key);
    goes_on(f, &a);
    hub_fixture_destroy(&f);
}

static void a_higher_epoch_of_another_run_means_nothing(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = at_work(&a);

    b = doubter(f);
    b.hello.run = 8;
    fake_node_hello(f, &b);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    goes_on(f, &a);
    hub_fixture_destroy(&f);
}

void add_hub_superseded_tests(CU_pSuite suite)
{
    TEST(a_hub_that_was_superseded_steps_down);
    TEST(a_forged_proof_is_an_offence);
    TEST(without_keys_what_another_has_sealed_ends_no_hub);
    TEST(a_genuine_manifest_of_this_life_proves_nothing);
    TEST(who_keeps_nothing_is_sent_on);
    TEST(rounds_go_on_while_a_proof_is_awaited);
    TEST(who_gives_no_proof_for_so_long_is_dropped);
    TEST(one_proof_is_checked_of_each_session);
    TEST(what_nobody_asked_for_is_not_checked);
    TEST(a_higher_epoch_of_another_run_means_nothing);
}
