/* First parameters, and the centre, over links that are away now and then. */
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

struct both {
    struct hub_fixture *f;
    struct fake_node a, b;
};

/* The founder has given a chunk, and another one is here that could found. */
static struct both founding(void)
{
    struct both both = {.f = hub_fixture_new()};

    hub_fixture_open(both.f);
    both.a = fake_node_comes(both.f, "a");
    both.b = fake_node_comes(both.f, "b");
    fake_node_delivers(both.f, &both.a, 0, 0, 1);
    return both;
}

static enum start start_of(const struct both *both,
                           const struct fake_node *node)
{
    return (enum start)fake_node_heard(both->f, node, MSG_WELCOME)
        ->welcome.start;
}

static void check_founded(struct both *both, struct fake_node *founder)
{
    CHECK(hub_fixture_look(both->f)->founded);
    both->f->lineage =
        fake_node_heard(both->f, founder, MSG_WELCOME)->welcome.lineage;
}

static void a_founder_may_be_silent_once_it_has_begun(void)
{
    struct both both = founding();

    fake_node_lives(both.f, &both.b, 40 * SECOND);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.a));
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    fake_node_delivers(both.f, &both.a, 0, 1, 1);
    fake_node_delivers(both.f, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    hub_fixture_destroy(&both.f);
}

static void a_founder_that_is_back_goes_on_with_what_is_left(void)
{
    struct both both = founding();
    const struct msg *verdict;

    fake_node_breaks(both.f, &both.a);
    fake_node_lives(both.f, &both.b, 9 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    fake_node_comes_again(both.f, &both.a);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.a));
    verdict = fake_node_heard(both.f, &both.a, MSG_VERDICT);
    if (CHECK(verdict != NULL)) {
        CHECK_EQUAL(0, verdict->verdict.exchange);
        CHECK_EQUAL(0, verdict->verdict.first);
        CHECK_EQUAL(1, verdict->verdict.chunks);
        CHECK_EQUAL(VERDICT_MERGED, verdict->verdict.verdict);
    }
    CHECK_EQUAL(1, fake_node_heard_count(both.f, &both.a, MSG_VERDICT));
    fake_node_delivers(both.f, &both.a, 0, 1, 1);
    fake_node_delivers(both.f, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    hub_fixture_destroy(&both.f);
}

/* One that does not know what VERDICT means of exchange 0. */
static void a_founder_may_give_once_more_what_is_here(void)
{
    struct both both = founding();

    fake_node_breaks(both.f, &both.a);
    fake_node_comes_again(both.f, &both.a);
    hand_forget(&both.f->hand);
    fake_node_delivers(both.f, &both.a, 0, 0, 1);
    CHECK_EQUAL(FIXTURE_CHUNK_BYTES,
                fake_node_heard(both.f, &both.a, MSG_CREDIT)->credit.more);
    CHECK(!hand_dropped(&both.f->hand, both.a.control));
    fake_node_delivers(both.f, &both.a, 0, 1, 1);
    fake_node_delivers(both.f, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    hub_fixture_destroy(&both.f);
}

static void another_founds_when_nothing_has_come_for_a_minute(void)
{
    struct both both = founding();

    fake_node_lives(both.f, &both.b, 59 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    fake_node_lives(both.f, &both.b, 2 * SECOND);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.b));
    fake_node_founds(both.f, &both.b, 2);
    hub_fixture_destroy(&both.f);
}

static void another_founds_when_the_founder_stays_away(void)
{
    struct both both = founding();

    fake_node_breaks(both.f, &both.a);
    fake_node_lives(both.f, &both.b, 9 * SECOND);
    CHECK_EQUAL(START_HOLD, start_of(&both, &both.b));
    fake_node_lives(both.f, &both.b, 2 * SECOND);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.b));
    fake_node_founds(both.f, &both.b, 2);
    hub_fixture_destroy(&both.f);
}

static void another_founds_at_once_when_the_founder_says_goodbye(void)
{
    struct both both = founding();

    fake_node_says(both.f, &both.a, MSG_BYE);
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.b));
    fake_node_founds(both.f, &both.b, 2);
    hub_fixture_destroy(&both.f);
}

/* It was started again, or has come by other parameters. */
static void who_is_not_as_it_was_begins_anew(void)
{
    for (unsigned i = 0; i < 3; i++) {
        struct both both = founding();

        fake_node_breaks(both.f, &both.a);
        both.a.hello.incarnation += i == 0;
        both.a.hello.lineage += i == 1;
        both.a.hello.base_version += i == 2;
        fake_node_comes_again(both.f, &both.a);
        CHECK(!fake_node_heard(both.f, &both.a, MSG_VERDICT));
        if (start_of(&both, &both.b) == START_FOUND)
            fake_node_founds(both.f, &both.b, 2);
        else
            fake_node_founds(both.f, &both.a, 2);
        hub_fixture_destroy(&both.f);
    }
}

static unsigned warnings(const struct hub_fixture *f)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->hand.note_count; i++)
        count += f->hand.notes[i].kind == NOTE_BARREN;
    return count;
}

static void a_founding_that_goes_on_for_long_is_told_of_once_a_minute(void)
{
    struct both both = founding();

    fake_node_breaks(both.f, &both.b);
    fake_node_lives(both.f, &both.a, 59 * SECOND);
    CHECK_EQUAL(0, warnings(both.f));
    fake_node_lives(both.f, &both.a, 2 * SECOND);
    CHECK_EQUAL(1, warnings(both.f));
    fake_node_lives(both.f, &both.a, 120 * SECOND);
    CHECK_EQUAL(3, warnings(both.f));
    /* And nobody else could give them. */
    CHECK_EQUAL(START_FOUND, start_of(&both, &both.a));
    fake_node_delivers(both.f, &both.a, 0, 1, 1);
    fake_node_delivers(both.f, &both.a, 0, 2, 1);
    check_founded(&both, &both.a);
    hub_fixture_destroy(&both.f);
}

/* ---- the other way: the centre is taken ---- */

static void ready_to_take(struct hub_fixture *f, struct fake_node *node,
                          uint32_t has)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.chunks = has;
    if (has)
        hand_say(&f->hand, node->control, &msg, NULL);
    fake_node_says(f, node, MSG_CREDIT);
}

/* A newcomer has been sent all chunks, and has given credit for `has`. */
static struct both taking(uint32_t has)
{
    struct both both = {.f = hub_fixture_new()};

    hub_fixture_open(both.f);
    both.a = fake_node_comes(both.f, "a");
    fake_node_founds(both.f, &both.a, 1);
    both.b = fake_node_new(both.f, "b");
    both.b.hello.lineage = 77;
    fake_node_comes_again(both.f, &both.b);
    CHECK_EQUAL(START_TAKE, start_of(&both, &both.b));
    ready_to_take(both.f, &both.b, 0);
    for (uint32_t i = 0; i < has; i++)
        fake_node_credits(both.f, &both.b, 0,
                          hub_fixture_length(i) * sizeof(float));
    fake_node_breaks(both.f, &both.b);
    return both;
}

static void who_takes_the_centre_goes_on_after_a_break(void)
{
    static const uint32_t claims[] = {1, 2, 3, UINT32_MAX};

    for (unsigned i = 0; i < 4; i++) {
        struct both both = taking(2);
        uint32_t left = FIXTURE_CHUNKS - (claims[i] < 2 ? claims[i] : 2);

        fake_node_comes_again(both.f, &both.b);
        hand_forget(&both.f->hand);
        ready_to_take(both.f, &both.b, claims[i]);
        CHECK_EQUAL(
            FIXTURE_CHUNKS - left,
            fake_node_heard(both.f, &both.b, MSG_VERDICT)->verdict.chunks);
        CHECK_EQUAL(left, fake_node_heard_count(both.f, &both.b, MSG_RESULT));
        hub_fixture_destroy(&both.f);
    }
}

static void who_has_all_of_the_centre_is_sent_nothing(void)
{
    struct both both = taking(FIXTURE_CHUNKS);

    fake_node_comes_again(both.f, &both.b);
    hand_forget(&both.f->hand);
    ready_to_take(both.f, &both.b, FIXTURE_CHUNKS);
    CHECK_EQUAL(0, fake_node_heard_count(both.f, &both.b, MSG_RESULT));
    fake_node_offer(both.f, &both.b,
                    &(struct msg_offer){.exchange = 1, .samples = 1});
    CHECK(fake_node_heard(both.f, &both.b, MSG_GRANT) != NULL);
    hub_fixture_destroy(&both.f);
}

static void another_process_takes_all_of_the_centre(void)
{
    struct both both = taking(2);

    both.b.hello.incarnation++;
    fake_node_comes_again(both.f, &both.b);
    hand_forget(&both.f->hand);
    ready_to_take(both.f, &both.b, 2);
    CHECK(!fake_node_heard(both.f, &both.b, MSG_VERDICT));
    CHECK_EQUAL(FIXTURE_CHUNKS,
                fake_node_heard_count(both.f, &both.b, MSG_RESULT));
    hub_fixture_destroy(&both.f);
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
