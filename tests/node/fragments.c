/* A node that offers fragments. */
#include "tests/check.h"
#include "tests/node/solo.h"

/* ---- REBASE is exact, chunk by chunk ---- */

#define DRIFT 0.25

/* After T iterations the centre has got a T in each chunk offered then, and
 * the node is where the newest result was, plus its own drift since that was
 * offered, whatever the other fragments do. */
static void check_exact(struct solo *solo)
{
    for (uint64_t i = 1; i <= 150; i++) {
        double own[FIXTURE_CHUNKS];

        for (unsigned c = 0; c < FIXTURE_CHUNKS; c++)
            own[c] = solo->own[c];
        solo_step(solo, DRIFT);
        for (unsigned c = 0; c < FIXTURE_CHUNKS; c++) {
            double since = DRIFT * (double)(i - solo->base_taken[c]);
            size_t at = (size_t)c * SOLO_CHUNK;

            if (solo->own[c] != own[c])
                CHECK_NEAR(DRIFT * (double)i, solo->own[c], 0);
            CHECK_NEAR(solo->base[c] + since, (double)solo->x[at], 0);
        }
    }
    CHECK(solo->applied > 2);
}

static unsigned check_delay(uint64_t delay, enum miss miss, uint64_t jitter)
{
    unsigned skipped = 0;

    for (uint32_t fragments = 1; fragments <= 5; fragments++) {
        struct solo solo;

        solo_open(&solo, 6, delay, fragments, 0);
        solo.f->welcome.miss = miss;
        node_fixture_welcomes(solo.f, START_GO);
        solo.others = 0.5;
        solo.latency = delay ? delay - 1 : 0;
        solo.jitter = jitter;
        check_exact(&solo);
        skipped += solo.skipped;
        solo_close(&solo);
    }
    return skipped;
}

static void a_rebase_of_fragments_is_exact_for_every_delay(void)
{
    static const uint64_t delays[] = {0, 1, 3, 6, 9, 15};

    for (unsigned i = 0; i < 6; i++)
        CHECK_EQUAL(0, check_delay(delays[i], MISS_LATE, 0));
}

static void it_is_exact_with_late_and_skipped_results(void)
{
    CHECK_EQUAL(0, check_delay(3, MISS_LATE, 4));
    CHECK_EQUAL(0, check_delay(15, MISS_LATE, 9));
    CHECK(check_delay(3, MISS_SKIP, 4) > 20);
    CHECK(check_delay(15, MISS_SKIP, 9) > 20);
}

/* ---- what travels ---- */

static void only_the_chunks_of_a_fragment_travel(void)
{
    struct solo solo;
    struct node_fixture *f;

    solo_open(&solo, 6, 2, 2, 0);
    f = solo.f;
    f->ungranted = true;
    for (int i = 1; i <= 3; i++) {
        CHECK(!node_fixture_sent(f, MSG_OFFER));
        solo_step(&solo, 1);
        if (i == 3)
            CHECK_EQUAL(1, solo.agenda.pacer.fragment);
    }
    node_fixture_grants(f, 1, FIXTURE_CHUNKS);
    CHECK_EQUAL(1, node_fixture_chunks(f, 1));
    CHECK_NEAR(3, node_fixture_chunk(f, 1, 1), 0);
    solo_close(&solo);
}

static void a_verdict_counts_for_the_chunks_of_its_fragment(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_local_offer taken = {
        .exchange = 1, .fragment = 0, .fragments = 2};
    struct blob *values = hand_floats(f->hand.pool, 6, 3);
    struct node_view view;

    f->welcome.fragments = 2;
    node_fixture_ready(f, 1);
    CHECK_EQUAL(2, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.fragments);
    CHECK_EQUAL(
        4, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.chunk_elements);
    node_fixture_takes(f, &taken, values);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_OFFER)->offer.fragment);
    CHECK_EQUAL(2, node_fixture_chunks(f, 1));
    node_fixture_verdicts(f, 1, 0, 1, VERDICT_MERGED);
    node_fixture_verdicts(f, 1, 1, 2, VERDICT_EXPIRED);
    node_look(f->node, &view);
    CHECK_EQUAL(0, view.in_flight);
    taken.exchange = 2;
    taken.fragment = FRAGMENT_ALL;
    blob_unref(&values);
    values = hand_floats(f->hand.pool, FIXTURE_ELEMENTS, 4);
    node_fixture_takes(f, &taken, values);
    CHECK_EQUAL(FRAGMENT_ALL, node_fixture_sent(f, MSG_OFFER)->offer.fragment);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 1), 0);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 2), 0);
    blob_unref(&values);
    node_fixture_destroy(&f);
}

/* The trainer has not heard yet that there are others now. */
static void what_is_not_the_runs_fragment_is_not_offered(void)
{
    static const struct msg_local_offer wrong[] = {
        {.exchange = 1, .fragment = 0, .fragments = 1},
        {.exchange = 1, .fragment = 2, .fragments = 2},
        {.exchange = 1, .fragment = 1, .fragments = 2}};

    for (unsigned i = 0; i < 3; i++) {
        struct node_fixture *f = node_fixture_new();
        struct blob *values = hand_floats(f->hand.pool, 6, 3);

        f->welcome.fragments = 2;
        node_fixture_ready(f, 1);
        /* fragment 1 has 4 elements */
        node_fixture_takes(f, &wrong[i], values);
        CHECK(!node_fixture_sent(f, MSG_OFFER));
        CHECK(node_fixture_forgot(f, 1));
        blob_unref(&values);
        node_fixture_destroy(&f);
    }
}

/* Its progress comes with the next, and so do its samples: once, of an
 * iteration's fragments. */
static void what_is_not_offered_counts_with_what_is(void)
{
    static const struct msg_local_offer offers[] = {{.exchange = 1,
                                                     .iteration = 7,
                                                     .samples = 8,
                                                     .fragment = 0,
                                                     .fragments = 3},
                                                    {.exchange = 2,
                                                     .iteration = 7,
                                                     .samples = 8,
                                                     .fragment = 1,
                                                     .fragments = 3},
                                                    {.exchange = 3,
                                                     .iteration = 9,
                                                     .samples = 5,
                                                     .fragment = 1,
                                                     .fragments = 2}};
    struct node_fixture *f = node_fixture_new();
    struct blob *values = hand_floats(f->hand.pool, FIXTURE_CHUNK, 3);

    f->welcome.fragments = 2;
    node_fixture_ready(f, 1);
    for (unsigned i = 0; i < 3; i++)
        node_fixture_takes(f, &offers[i], values);
    CHECK_EQUAL(3, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(8 + 5, node_fixture_sent(f, MSG_OFFER)->offer.samples);
    blob_unref(&values);
    node_fixture_destroy(&f);
}

/* Tells the machine of ten iterations a second. */
static void run_for_a_second(struct node_fixture *f)
{
    struct msg progress = {.kind = MSG_LOCAL_PING};

    progress.local_ping.iteration = 10;
    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&f->hand, SECOND);
    progress.local_ping.iteration = 20;
    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
}

/* Fragment 0 of two has 2 chunks; up to the next turn there are k / F = 4
 * iterations, 0.4 s, of which nine tenths are used. With a short d it is half
 * of that. */
static void p8_a_fragment_is_spread_up_to_the_next_ones_turn(void)
{
    static const struct {
        uint64_t delay;
        nanos spacing;
    } cases[] = {{40, 180 * MILLISECOND}, {2, 45 * MILLISECOND}, {0, 0}};

    for (unsigned i = 0; i < 3; i++) {
        struct node_fixture *f = node_fixture_new();
        struct msg_local_offer taken = {
            .exchange = 1, .fragment = 0, .fragments = 2};
        struct blob *values = hand_floats(f->hand.pool, 6, 3);

        f->welcome.fragments = 2;
        f->welcome.every = 8;
        f->welcome.delay = cases[i].delay;
        node_fixture_ready(f, 1);
        run_for_a_second(f);
        node_fixture_takes(f, &taken, values);
        if (cases[i].spacing) {
            CHECK_EQUAL(1, node_fixture_chunks(f, 1));
            hand_wait(&f->hand, cases[i].spacing - MILLISECOND);
            CHECK_EQUAL(1, node_fixture_chunks(f, 1));
            hand_wait(&f->hand, MILLISECOND);
        }
        CHECK_EQUAL(2, node_fixture_chunks(f, 1));
        blob_unref(&values);
        node_fixture_destroy(&f);
    }
}

static void gradients_are_offered_whole(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.fragments = 2;
    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.fragments);
    node_fixture_offers(f, 1, 3);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 1));
    node_fixture_destroy(&f);
}

/* ---- T14: Streaming DiLoCo's published fixture ---- */

enum { STEPS = 16 };

/* Two fragments, k = 6, tau = 0, a step of -2 per iteration, outer plain SGD
 * with rate 2. The paper's layer 0 goes first: our fragment 1. */
static void check_fixture(double alpha, const double layer0[STEPS],
                          const double layer1[STEPS])
{
    struct solo solo;

    solo_open(&solo, 6, 0, 2, 1);
    solo.verb = VERB_PULL;
    solo.f->weight = 1 - alpha;
    solo.gain = 2;
    for (unsigned i = 1; i < STEPS; i++) {
        solo_step(&solo, -2);
        CHECK_NEAR(layer0[i], (double)solo.x[SOLO_CHUNK], 0);
        CHECK_NEAR(layer1[i], (double)solo.x[0], 0);
        CHECK_NEAR(layer1[i], (double)solo.x[FIXTURE_ELEMENTS - 1], 0);
    }
    CHECK_EQUAL(5, solo.applied);
    solo_close(&solo);
}

static void t14_alpha_0_takes_the_outer_parameters(void)
{
    static const double layer0[STEPS] = {1,   -1,  -3,  -11, -13, -15,
                                         -17, -19, -21, -35, -37, -39,
                                         -41, -43, -45, -59};
    static const double layer1[STEPS] = {1,   -1,  -3,  -5,  -7,  -9,
                                         -23, -25, -27, -29, -31, -33,
                                         -47, -49, -51, -53};

    check_fixture(0, layer0, layer1);
}

static void t14_alpha_half_mixes_and_offers_from_the_outer_parameters(void)
{
    static const double layer0[STEPS] = {
        1,   -1,    -3,    -8,    -10,   -12,   -14,   -16,
        -18, -24.5, -26.5, -28.5, -30.5, -32.5, -34.5, -40.25};
    static const double layer1[STEPS] = {1,   -1,  -3,  -5,  -7,  -9,
                                         -17, -19, -21, -23, -25, -27,
                                         -32, -34, -36, -38};

    check_fixture(0.5, layer0, layer1);
}

static void t14_alpha_1_is_training_alone(void)
{
    double alone[STEPS];

    for (int i = 0; i < STEPS; i++)
        alone[i] = 1 - 2 * i;
    check_fixture(1, alone, alone);
}

/* With tau = 2 a mix keeps a part of what was done meanwhile, too. */
static void t14_a_late_mix_measures_from_the_outer_parameters(void)
{
    struct solo solo;
    double x = 1, base = 1, theta = 1, fresh = 0;

    solo_open(&solo, 6, 2, 1, 1);
    solo.verb = VERB_PULL;
    solo.f->weight = 0.5;
    solo.gain = 2;
    for (unsigned i = 1; i <= 60; i++) {
        solo_step(&solo, -2);
        x -= 2;
        if (i >= 8 && i % 6 == 2) {
            x = 0.5 * x + 0.5 * fresh;
            base = fresh;
        }
        if (i % 6 == 0)
            fresh = theta += 2 * (x - base);
        CHECK_NEAR(x, (double)solo.x[0], 1e-2);
    }
    solo_close(&solo);
}

void add_node_fragments_tests(CU_pSuite suite)
{
    TEST(a_rebase_of_fragments_is_exact_for_every_delay);
    TEST(it_is_exact_with_late_and_skipped_results);
    TEST(only_the_chunks_of_a_fragment_travel);
    TEST(a_verdict_counts_for_the_chunks_of_its_fragment);
    TEST(what_is_not_the_runs_fragment_is_not_offered);
    TEST(what_is_not_offered_counts_with_what_is);
    TEST(p8_a_fragment_is_spread_up_to_the_next_ones_turn);
    TEST(gradients_are_offered_whole);
    TEST(t14_alpha_0_takes_the_outer_parameters);
    TEST(t14_alpha_half_mixes_and_offers_from_the_outer_parameters);
    TEST(t14_alpha_1_is_training_alone);
    TEST(t14_a_late_mix_measures_from_the_outer_parameters);
}
