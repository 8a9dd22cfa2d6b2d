#include "tests/check.h"
#include "tests/hub/bench.h"

enum { MOST = 4 };

static const char *const names[MOST] = {"a", "b", "c", "d"};

/* So many guests, with a centre of all ones; they have offered. */
static void all_offer(struct bench *bench, struct guest *guests, unsigned count)
{
    bench->config.nodes = count;
    bench_open(bench);
    for (unsigned i = 0; i < count; i++)
        guests[i] = guest_comes(bench, names[i]);
    guest_founds(bench, &guests[0], 1);
    for (unsigned i = 0; i < count; i++)
        guest_offers(bench, &guests[i], 1);
}

static uint64_t granted(const struct bench *bench, const struct guest *guest)
{
    return guest_heard(bench, guest, MSG_GRANT)->grant.credit;
}

static void uploads_share_the_budget(void)
{
    static const struct {
        unsigned nodes;
        uint64_t budget, each;
    } rows[] = {{1, 1000, 48}, {2, 64, 32}, {4, 64, 16}, {4, 100, 16},
                {4, 1, 16},    {4, 0, 48},  {2, 40, 16}};

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_new();
        struct guest guests[MOST];

        bench->config.budget = rows[i].budget;
        all_offer(bench, guests, rows[i].nodes);
        for (unsigned j = 0; j < rows[i].nodes; j++)
            CHECK_EQUAL(rows[i].each, granted(bench, &guests[j]));
        bench_destroy(&bench);
    }
}

static void a_share_of_one_chunk_still_merges_all(void)
{
    struct bench *bench = bench_new();
    struct guest guests[MOST];

    bench->config.budget = 1;
    all_offer(bench, guests, MOST);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        for (unsigned j = 0; j < MOST; j++) {
            unsigned more = guest_heard_count(bench, &guests[j], MSG_CREDIT);

            /* More only when the last one is merged; "a" has founded. */
            CHECK_EQUAL(j ? i : i + 2, more);
            guest_delivers(bench, &guests[j], 1, i, 0.5);
        }
    CHECK_EQUAL(1, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* One more than there is credit for may be under way, and overtaken: nothing
 * beyond that. */
static void who_sends_without_credit_is_cut(void)
{
    struct bench *bench = bench_new();
    struct guest guests[2];
    struct hub_uploads uploads;

    bench->config.budget = 1;
    all_offer(bench, guests, 2);
    guest_delivers(bench, &guests[1], 1, 0, 0.5);
    guest_delivers(bench, &guests[1], 1, 1, 0.5);
    CHECK(!bench_node(bench, "b")->gone);
    hub_look_at_uploads(bench->hub, &uploads);
    CHECK_EQUAL(2 * BENCH_CHUNK_BYTES, uploads.held);
    CHECK_EQUAL(1, uploads.partial);
    guest_delivers(bench, &guests[1], 1, 2, 0.5);
    CHECK(bench_node(bench, "b")->gone);
    guest_delivers_all(bench, &guests[0], 1, 1);
    CHECK_NEAR(2, guest_result(bench, &guests[0], 1, 2), 0);
    bench_destroy(&bench);
}

static void a_rule_that_sees_the_whole_is_outside_of_the_budget(void)
{
    struct bench *bench = bench_new();
    struct guest guests[MOST];

    bench->config.policy = preset_find("krum")->policy;
    bench->config.budget = 1;
    all_offer(bench, guests, MOST);
    for (unsigned j = 0; j < MOST; j++)
        CHECK_EQUAL(BENCH_CHUNKS * BENCH_CHUNK_BYTES,
                    granted(bench, &guests[j]));
    bench_destroy(&bench);
}

/* What comes twice counts once, so that there is credit for the rest. */
static void first_parameters_that_come_twice_are_not_the_last(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.window = 1;
    bench_open(bench);
    a = guest_comes(bench, "a");
    bench->hand.holds_jobs = true;
    guest_delivers(bench, &a, 0, 0, 1);
    guest_delivers(bench, &a, 0, 0, 1);
    bench->hand.holds_jobs = false;
    hand_work(&bench->hand);
    CHECK_EQUAL(1, guest_heard_count(bench, &a, MSG_CREDIT));
    guest_delivers(bench, &a, 0, 1, 1);
    CHECK_EQUAL(2, guest_heard_count(bench, &a, MSG_CREDIT));
    guest_delivers(bench, &a, 0, 2, 1);
    CHECK(bench_look(bench)->founded);
    bench_destroy(&bench);
}

/* It says that a message takes so long there and back. */
static void says_trip(struct bench *bench, struct guest *guest, nanos trip)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.round_trip = trip;
    msg.ping.accuracy = -1;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

/* Results that a guest is sent without giving credit back, of exchanges that
 * take `span` each: what its window is. */
static unsigned results_on_their_way(nanos trip, nanos span)
{
    struct bench *bench = bench_new();
    struct guest a;
    unsigned count;

    bench->config.window = 0;
    bench->config.staleness = 1000;
    a = guest_alone(bench);
    for (uint64_t i = 1; i <= 40; i++) {
        says_trip(bench, &a, trip);
        guest_gives(bench, &a, i, 0);
        guest_credits(bench, &a, i, BENCH_BYTES);
        hand_wait(&bench->hand, span);
    }
    hand_forget(&bench->hand);
    for (uint64_t i = 41; i <= 100; i++)
        guest_gives(bench, &a, i, 0);
    count = guest_heard_count(bench, &a, MSG_RESULT);
    bench_destroy(&bench);
    return count;
}

/* 40 bytes each 100 ms are 400 bytes per second; of those 1.5 round trips. */
static void an_automatic_window_holds_what_the_link_holds(void)
{
    unsigned near = results_on_their_way(MILLISECOND, 100 * MILLISECOND);
    unsigned far = results_on_their_way(SECOND, 100 * MILLISECOND);

    CHECK_EQUAL(5, near); /* 64 bytes: 16, 16, 8, 16, 16 */
    CHECK(far >= 600 / BENCH_CHUNK_BYTES && far <= 800 / 8);
}

void add_hub_flow_tests(CU_pSuite suite)
{
    TEST(uploads_share_the_budget);
    TEST(a_share_of_one_chunk_still_merges_all);
    TEST(who_sends_without_credit_is_cut);
    TEST(a_rule_that_sees_the_whole_is_outside_of_the_budget);
    TEST(first_parameters_that_come_twice_are_not_the_last);
    TEST(an_automatic_window_holds_what_the_link_holds);
}
