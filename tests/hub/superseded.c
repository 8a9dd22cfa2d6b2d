/* A node says that another hub has taken the run over, and is to prove it. */
#include <stdio.h>
#include <string.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/bench.h"

#define LIFE (UINT64_C(1) << 32)

static struct bench *keyed_bench(void)
{
    struct bench *bench = bench_new();

    bench->config.seal.key[0] = 9;
    return bench;
}

/* A hub at work with guest a. */
static struct bench *at_work(struct guest *a)
{
    struct bench *bench = keyed_bench();

    *a = guest_alone(bench);
    guest_gives(bench, a, 1, 0.5);
    CHECK_EQUAL(1, bench_look(bench)->version);
    return bench;
}

/* It knows of a later life of the hub, and keeps version 5 of it. */
static struct guest doubter(struct bench *bench)
{
    struct guest guest = guest_new(bench, "b");

    guest.hello.run = 7;
    guest.hello.epoch = LIFE;
    guest.hello.kept = 1 + 5;
    return guest;
}

static enum start start_of(const struct bench *bench, const struct guest *guest)
{
    return (enum start)guest_heard(bench, guest, MSG_WELCOME)->welcome.start;
}

/* A manifest of the run and of version 5, under that key. */
static void proves(struct bench *bench, const struct guest *guest, uint64_t run,
                   uint64_t epoch, const unsigned char key[MANIFEST_KEY_BYTES])
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
        blob_new(bench->hand.pool, manifest_bytes(BENCH_CHUNKS, size));

    manifest_begin(payload->bytes, BENCH_CHUNKS, state, size);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        manifest_add(payload->bytes, i, 5, values,
                     bench_length(i) * sizeof *values);
    manifest_seal(payload->bytes, key);
    msg.kept.version = 5;
    hand_say(&bench->hand, guest->bulk, &msg, payload);
    blob_unref(&payload);
}

/* Exchange 2 of guest a is merged: it was not disturbed. */
static void goes_on(struct bench *bench, struct guest *a)
{
    CHECK(!bench_look(bench)->superseded);
    CHECK(!hub_ended(bench->hub));
    guest_gives(bench, a, 2, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, a, 2, 0));
    CHECK_EQUAL(2, bench_look(bench)->version);
}

static void a_hub_that_was_superseded_steps_down(void)
{
    struct guest a, b;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_GIVE, start_of(bench, &b));
    CHECK(!bench_look(bench)->superseded);
    proves(bench, &b, 7, LIFE | 3, bench->config.seal.key);
    CHECK(hand_note(&bench->hand, NOTE_SUPERSEDED) != NULL);
    CHECK(bench_look(bench)->superseded);
    CHECK(hub_ended(bench->hub));
    CHECK(hand_dropped(&bench->hand, a.control));
    CHECK(hand_dropped(&bench->hand, b.control));
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &a));
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &b));
    bench_destroy(&bench);
}

static void a_forged_proof_is_an_offence(void)
{
    const unsigned char key[MANIFEST_KEY_BYTES] = {1};
    struct guest a, b;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    guest_comes_again(bench, &b);
    proves(bench, &b, 7, LIFE, key);
    CHECK(hand_note(&bench->hand, NOTE_OFFENCE) != NULL);
    CHECK(hand_dropped(&bench->hand, b.control));
    goes_on(bench, &a);
    bench_destroy(&bench);
}

/* Any stranger could have made it. */
static void without_keys_what_another_has_sealed_ends_no_hub(void)
{
    const unsigned char key[MANIFEST_KEY_BYTES] = {0};
    struct guest a, b;
    struct bench *bench = keyed_bench();

    bench->config.seal.open = true;
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 0.5);
    b = doubter(bench);
    guest_comes_again(bench, &b);
    proves(bench, &b, 7, LIFE, key);
    CHECK(hand_note(&bench->hand, NOTE_OFFENCE) == NULL);
    CHECK(hand_dropped(&bench->hand, b.control));
    CHECK_EQUAL(FAREWELL_SUPERSEDED, guest_farewell(bench, &b));
    goes_on(bench, &a);
    bench_destroy(&bench);
}

/* It may know of another hub before it keeps anything of it. */
static void a_genuine_manifest_of_this_life_proves_nothing(void)
{
    const uint64_t runs[] = {7, 8}, epochs[] = {LIFE - 1, LIFE};

    for (unsigned i = 0; i < 2; i++) {
        struct guest a, b;
        struct bench *bench = at_work(&a);

        b = doubter(bench);
        guest_comes_again(bench, &b);
        proves(bench, &b, runs[i], epochs[i], bench->config.seal.key);
        CHECK(hand_note(&bench->hand, NOTE_OFFENCE) == NULL);
        CHECK(hand_dropped(&bench->hand, b.control));
        CHECK_CONTAINS("comes in without it",
                       hand_note(&bench->hand, NOTE_REFUSED)->text);
        CHECK_EQUAL(FAREWELL_SUPERSEDED, guest_farewell(bench, &b));
        goes_on(bench, &a);
        bench_destroy(&bench);
    }
}

static void who_keeps_nothing_is_sent_on(void)
{
    struct guest a, b;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    b.hello.kept = 0;
    guest_hello(bench, &b);
    CHECK(hand_dropped(&bench->hand, b.control));
    CHECK_CONTAINS("comes in without it",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    CHECK_EQUAL(FAREWELL_SUPERSEDED, guest_farewell(bench, &b));
    CHECK_EQUAL(0, guest_heard_count(bench, &b, MSG_WELCOME));
    CHECK(hand_note(&bench->hand, NOTE_OFFENCE) == NULL);
    goes_on(bench, &a);
    bench_destroy(&bench);
}

static void rounds_go_on_while_a_proof_is_awaited(void)
{
    struct guest a, b, c;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    guest_comes_again(bench, &b);
    c = doubter(bench);
    guest_comes_again(bench, &c);
    CHECK_EQUAL(START_GIVE, start_of(bench, &c));
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    goes_on(bench, &a);
    proves(bench, &c, 7, LIFE, bench->config.seal.key);
    CHECK(bench_look(bench)->superseded);
    bench_destroy(&bench);
}

/* Nor do its parameters become anything. */
static void who_gives_no_proof_for_so_long_is_dropped(void)
{
    struct guest a, b;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    guest_comes_again(bench, &b);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        guest_delivers(bench, &b, 0, i, 9);
    for (unsigned i = 0; i < 11; i++) {
        CHECK(i == 10 || !hand_dropped(&bench->hand, b.control));
        guest_pings(bench, &b, 1);
        guest_lives(bench, &a, SECOND);
    }
    CHECK(hand_dropped(&bench->hand, b.control));
    CHECK(!hand_dropped(&bench->hand, a.control));
    CHECK_EQUAL(FAREWELL_COUNT, guest_farewell(bench, &b));
    CHECK_CONTAINS("no proof", hand_note(&bench->hand, NOTE_LOST)->text);
    goes_on(bench, &a);
    CHECK_NEAR(2, guest_result(bench, &a, 2, 0), 0);
    bench_destroy(&bench);
}

static void one_proof_is_checked_of_each_session(void)
{
    struct guest a, b;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    guest_comes_again(bench, &b);
    bench->hand.holds_jobs = true;
    for (unsigned i = 0; i < 3; i++)
        proves(bench, &b, 7, LIFE, bench->config.seal.key);
    CHECK_EQUAL(1, bench->hand.job_count);
    hand_work(&bench->hand);
    CHECK(bench_look(bench)->superseded);
    bench_destroy(&bench);
}

static void what_nobody_asked_for_is_not_checked(void)
{
    struct guest a;
    struct bench *bench = at_work(&a);

    proves(bench, &a, 7, LIFE, bench->config.seal.key);
    goes_on(bench, &a);
    bench_destroy(&bench);
}

static void a_higher_epoch_of_another_run_means_nothing(void)
{
    struct guest a, b;
    struct bench *bench = at_work(&a);

    b = doubter(bench);
    b.hello.run = 8;
    guest_hello(bench, &b);
    CHECK_EQUAL(START_TAKE, start_of(bench, &b));
    CHECK_EQUAL(START_GO, start_of(bench, &a));
    goes_on(bench, &a);
    bench_destroy(&bench);
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
