/* First parameters, and the centre, over links that are away now and then. */
#include "tests/check.h"
#include "tests/hub/bench.h"

struct both {
    struct bench *bench;
    struct guest a, b;
};

/* The founder has given a chunk, and another one is here that could found. */
static struct both founding(void)
{
    struct both both = {.bench = bench_new()};

    bench_open(both.bench);
    both.a = guest_comes(both.bench, "a");
    both.b = guest_comes(both.bench, "b");
    guest_delivers(both.bench, &both.a, 0, 0, 1);
    return both;
}

static enum start start_of(const struct both *both, const struct guest *guest)
{
    return (enum start)guest_heard(both->bench, guest, MSG_WELCOME)
        ->welcome.start;
}

static void check_founded(struct both *both, struct guest *founder)
{
    CHECK(bench_look(both->bench)->founded);
    both->bench->lineage =
        guest_heard(both->bench, founder, MSG_WELCOME)->welcome.lineage;
}

static void a_founder_may_be_silent_once_it_has_begun(void)
{
    struct both both = founding();

    guest_lives(both.bench, &both.b, 40 * SECOND);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.a));
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    guest_delivers(both.bench, &both.a, 0, 1, 1);
    guest_delivers(both.bench, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    bench_destroy(&both.bench);
}

static void a_founder_that_is_back_goes_on_with_what_is_left(void)
{
    struct both both = founding();
    const struct msg *verdict;

    guest_breaks(both.bench, &both.a);
    guest_lives(both.bench, &both.b, 9 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    guest_comes_again(both.bench, &both.a);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.a));
    verdict = guest_heard(both.bench, &both.a, MSG_VERDICT);
    if (CHECK(verdict != NULL)) {
        CHECK_EQUAL(0, verdict->verdict.exchange);
        CHECK_EQUAL(0, verdict->verdict.first);
        CHECK_EQUAL(1, verdict->verdict.chunks);
        CHECK_EQUAL(VERDICT_MERGED, verdict->verdict.verdict);
    }
    CHECK_EQUAL(1, guest_heard_count(both.bench, &both.a, MSG_VERDICT));
    guest_delivers(both.bench, &both.a, 0, 1, 1);
    guest_delivers(both.bench, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    bench_destroy(&both.bench);
}

/* One that does not know what VERDICT means of exchange 0. */
static void a_founder_may_give_once_more_what_is_here(void)
{
    struct both both = founding();

    guest_breaks(both.bench, &both.a);
    guest_comes_again(both.bench, &both.a);
    hand_forget(&both.bench->hand);
    guest_delivers(both.bench, &both.a, 0, 0, 1);
    CHECK_EQUAL(BENCH_CHUNK_BYTES,
                guest_heard(both.bench, &both.a, MSG_CREDIT)->credit.more);
    CHECK(!hand_dropped(&both.bench->hand, both.a.control));
    guest_delivers(both.bench, &both.a, 0, 1, 1);
    guest_delivers(both.bench, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    bench_destroy(&both.bench);
}

static void another_founds_when_nothing_has_come_for_a_minute(void)
{
    struct both both = founding();

    guest_lives(both.bench, &both.b, 59 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    guest_lives(both.bench, &both.b, 2 * SECOND);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.b));
    guest_founds(both.bench, &both.b, 2);
    bench_destroy(&both.bench);
}

static void another_founds_when_the_founder_stays_away(void)
{
    struct both both = founding();

    guest_breaks(both.bench, &both.a);
    guest_lives(both.bench, &both.b, 9 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    guest_lives(both.bench, &both.b, 2 * SECOND);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.b));
    guest_founds(both.bench, &both.b, 2);
    bench_destroy(&both.bench);
}

static void another_founds_at_once_when_the_founder_says_goodbye(void)
{
    struct both both = founding();

    guest_says(both.bench, &both.a, MSG_BYE);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.b));
    guest_founds(both.bench, &both.b, 2);
    bench_destroy(&both.bench);
}

/* It was started again, or has come by other parameters. */
static void who_is_not_as_it_was_begins_anew(void)
{
    for (unsigned i = 0; i < 3; i++) {
        struct both both = founding();

        guest_breaks(both.bench, &both.a);
        both.a.hello.incarnation += i == 0;
        both.a.hello.lineage += i == 1;
        both.a.hello.base_version += i == 2;
        guest_comes_again(both.bench, &both.a);
        CHECK(!guest_heard(both.bench, &both.a, MSG_VERDICT));
        if (start_of(&both, &both.b) == START_FOUND)
            guest_founds(both.bench, &both.b, 2);
        else
            guest_founds(both.bench, &both.a, 2);
        bench_destroy(&both.bench);
    }
}

static unsigned warnings(const struct bench *bench)
{
    unsigned count = 0;

    for (unsigned i = 0; i < bench->hand.note_count; i++)
        count += bench->hand.notes[i].kind == NOTE_BARREN;
    return count;
}

static void a_founding_that_goes_on_for_long_is_told_of_once_a_minute(void)
{
    struct both both = founding();

    guest_breaks(both.bench, &both.b);
    guest_lives(both.bench, &both.a, 59 * SECOND);
    CHECK_EQUAL(0, warnings(both.bench));
    guest_lives(both.bench, &both.a, 2 * SECOND);
    CHECK_EQUAL(1, warnings(both.bench));
    guest_lives(both.bench, &both.a, 120 * SECOND);
    CHECK_EQUAL(3, warnings(both.bench));
    /* And nobody else could give them. */
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.a));
    guest_delivers(both.bench, &both.a, 0, 1, 1);
    guest_delivers(both.bench, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    bench_destroy(&both.bench);
}

/* ---- the other way: the centre is taken ---- */

static void ready_to_take(struct bench *bench, struct guest *guest,
                          uint32_t has)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.chunks = has;
    if (has)
        hand_say(&bench->hand, guest->control, &msg, NULL);
    guest_says(bench, guest, MSG_CREDIT);
}

/* A newcomer has been sent all chunks, and has given credit for `has`. */
static struct both taking(uint32_t has)
{
    struct both both = {.bench = bench_new()};

    bench_open(both.bench);
    both.a = guest_comes(both.bench, "a");
    guest_founds(both.bench, &both.a, 1);
    both.b = guest_new(both.bench, "b");
    both.b.hello.lineage = 77;
    guest_comes_again(both.bench, &both.b);
    CHECK_EQUAL(START_TAKE, start_of(&both, &both.b));
    ready_to_take(both.bench, &both.b, 0);
    for (uint32_t i = 0; i < has; i++)
        guest_credits(both.bench, &both.b, 0, bench_length(i) * sizeof(float));
    guest_breaks(both.bench, &both.b);
    return both;
}

static void who_takes_the_centre_goes_on_after_a_break(void)
{
    static const uint32_t claims[] = {1, 2, 3, UINT32_MAX};

    for (unsigned i = 0; i < 4; i++) {
        struct both both = taking(2);
        uint32_t left = BENCH_CHUNKS - (claims[i] < 2 ? claims[i] : 2);

        guest_comes_again(both.bench, &both.b);
        hand_forget(&both.bench->hand);
        ready_to_take(both.bench, &both.b, claims[i]);
        CHECK_EQUAL(
            BENCH_CHUNKS - left,
            guest_heard(both.bench, &both.b, MSG_VERDICT)->verdict.chunks);
        CHECK_EQUAL(left, guest_heard_count(both.bench, &both.b, MSG_RESULT));
        bench_destroy(&both.bench);
    }
}

static void who_has_all_of_the_centre_is_sent_nothing(void)
{
    struct both both = taking(BENCH_CHUNKS);

    guest_comes_again(both.bench, &both.b);
    hand_forget(&both.bench->hand);
    ready_to_take(both.bench, &both.b, BENCH_CHUNKS);
    CHECK_EQUAL(0, guest_heard_count(both.bench, &both.b, MSG_RESULT));
    guest_offer(both.bench, &both.b,
                &(struct msg_offer){.exchange = 1, .samples = 1});
    CHECK(guest_heard(both.bench, &both.b, MSG_GRANT) != NULL);
    bench_destroy(&both.bench);
}

static void another_process_takes_all_of_the_centre(void)
{
    struct both both = taking(2);

    both.b.hello.incarnation++;
    guest_comes_again(both.bench, &both.b);
    hand_forget(&both.bench->hand);
    ready_to_take(both.bench, &both.b, 2);
    CHECK(!guest_heard(both.bench, &both.b, MSG_VERDICT));
    CHECK_EQUAL(BENCH_CHUNKS,
                guest_heard_count(both.bench, &both.b, MSG_RESULT));
    bench_destroy(&both.bench);
}

void add_hub_state_transfer_tests(CU_pSuite suite)
{
    TEST(a_founder_may_be_silent_once_it_has_begun);
    TEST(a_founder_that_is_back_goes_on_with_what_is_left);
    TEST(a_founder_may_give_once_more_what_is_here);
    TEST(another_founds_when_nothing_has_come_for_a_minute);
    TEST(another_founds_when_the_founder_stays_away);
    TEST(another_founds_at_once_when_the_founder_says_goodbye);
    TEST(who_is_not_as_it_was_begins_anew);
    TEST(a_founding_that_goes_on_for_long_is_told_of_once_a_minute);
    TEST(who_takes_the_centre_goes_on_after_a_break);
    TEST(who_has_all_of_the_centre_is_sent_nothing);
    TEST(another_process_takes_all_of_the_centre);
}
