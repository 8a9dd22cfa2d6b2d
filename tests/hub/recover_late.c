/* Who comes to a hub that has looked for its newest centre already. */
#include <stdio.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store;

/* As after a reboot of the hub's PC: nodes notice late that it is back. */
static void the_first_node_may_come_late(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    hand_wait(&bench->hand, 20 * SECOND);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* The hub has looked for its newest centre, and only b was there, which is to
 * take the one from the disk. */
static struct bench *go_on_with(struct guest *a, struct guest *b,
                                struct treasure *treasure)
{
    struct bench *bench = treasure_resume(&store, a, treasure);

    *b = guest_other(bench);
    guest_lives(bench, b, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, b));
    return bench;
}

static void who_has_more_is_asked_as_long_as_nothing_is_merged(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = go_on_with(&a, &b, &treasure);

    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static uint64_t life_told(const struct bench *bench, const struct guest *guest)
{
    return epoch_life(guest_heard(bench, guest, MSG_WELCOME)->welcome.epoch);
}

/* So that a node looks again at what it was told of its exchanges, also one
 * that is away when the hub finds the newer centre. */
static void a_newer_centre_is_another_lifes_to_who_was_told_of_less(void)
{
    for (unsigned away = 0; away < 2; away++) {
        struct treasure treasure;
        struct guest a, b;
        struct bench *bench = go_on_with(&a, &b, &treasure);
        uint64_t before = life_told(bench, &b);

        if (away)
            guest_breaks(bench, &b);
        guest_comes_again(bench, &a);
        if (away)
            guest_lives(bench, &a, HUB_RECOVERY + SECOND);
        treasure_given(bench, &a, &treasure);
        CHECK_EQUAL(4, bench_look(bench)->version);
        if (away)
            guest_comes_again(bench, &b);
        CHECK_EQUAL(before + 1, life_told(bench, &b));
        bench_destroy(&bench);
    }
}

static void once_something_is_merged_what_is_lost_is_told(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = go_on_with(&a, &b, &treasure);

    guest_credits(bench, &b, 0, 0); /* takes the centre */
    guest_gives(bench, &b, 1, 1);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_CONTAINS("it keeps version 4",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    bench_destroy(&bench);
}

/* b's connection breaks while c uploads: it is told what will be merged. */
static void once_somebody_is_told_that_it_is_merged_it_is(void)
{
    struct treasure treasure;
    struct guest a, b, c;
    struct bench *bench = go_on_with(&a, &b, &treasure);
    uint64_t before = bench_look(bench)->version;

    c = guest_comes(bench, "c");
    guest_credits(bench, &b, 0, 0); /* takes the centre */
    guest_credits(bench, &c, 0, 0);
    guest_offers(bench, &b, 1);
    guest_offers(bench, &c, 1);
    guest_delivers_all(bench, &b, 1, 1);
    guest_breaks(bench, &b);
    guest_comes_again(bench, &b);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 0));
    guest_comes_again(bench, &a);
    CHECK_CONTAINS("it keeps version 4",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    guest_delivers_all(bench, &c, 1, 1);
    CHECK_EQUAL(before + 1, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* A node that offers before it may, as Byzantine nodes do: what is merged
 * meanwhile would be lost with the centre that is looked for. */
static void nothing_is_merged_while_the_hub_looks(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    const struct msg_offer strange = {.exchange = 1, .lineage = 77};

    b = guest_other(bench);
    guest_offer(bench, &b, &strange);
    CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &b, 1, 0));
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    bench_destroy(&bench);
}

/* Eight say that they keep more than the one that does; they have nothing to
 * show. They cost the time of one. */
static void those_who_say_they_keep_more_do_not_add_up(void)
{
    enum { BYZANTINE = 8 };
    struct treasure treasure;
    struct guest a, byzantine[BYZANTINE];
    struct bench *bench = treasure_resume(&store, &a, &treasure);
    unsigned asked = 0;
    char name[8];
    nanos since = bench->hand.now;

    for (unsigned i = 0; i < BYZANTINE; i++) {
        (void)snprintf(name, sizeof name, "l%u", i);
        byzantine[i] = guest_new(bench, name);
        byzantine[i].hello.run = a.hello.run;
        byzantine[i].hello.epoch = a.hello.epoch;
        byzantine[i].hello.kept = a.hello.kept + 1 + i;
        guest_hello(bench, &byzantine[i]);
        guest_attach(bench, &byzantine[i]);
    }
    guest_comes_again(bench, &a);
    while (bench_look(bench)->recovering &&
           bench->hand.now - since < 60 * SECOND) {
        for (unsigned i = 0; i < BYZANTINE; i++)
            guest_pings(bench, &byzantine[i], 1);
        guest_lives(bench, &a, SECOND);
        if (!guest_heard(bench, &a, MSG_WELCOME) ||
            treasure_start(bench, &a) != START_GIVE)
            continue;
        if (asked++)
            treasure_given(bench, &a, &treasure);
        else
            treasure_proves(bench, &a, &treasure);
        hand_forget(&bench->hand);
    }
    CHECK(!bench_look(bench)->recovering);
    CHECK_EQUAL(treasure.version, bench_look(bench)->version);
    CHECK((bench->hand.now - since) / SECOND <= 20);
    bench_destroy(&bench);
}

/* It says HELLO anew when the hub has waited for long, and attaches then. */
static void who_comes_late_has_time_to_attach(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY + 4 * SECOND);
    guest_hello(bench, &a);
    guest_lives(bench, &a, 4 * SECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_attach(bench, &a);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* A process that is stopped for longer than the hub waits for whom it knows. */
static void who_was_silent_has_time_to_attach(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    hand_wait(&bench->hand, HUB_RECOVERY + 4 * SECOND);
    guest_lives(bench, &a, 4 * SECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_attach(bench, &a);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* What a node has sent meanwhile is read after the hub has looked at the time.
 */
static void a_hub_that_has_slept_reads_before_it_gives_up(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = treasure_resume(&store, &a, &treasure);

    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    guest_lives(bench, &a, SECOND);
    bench->hand.now += 30 * SECOND;
    guest_pings(bench, &a, 1);
    guest_attach(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(4, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* The hub has only just sent all that its rate allows: the centre, to a. */
static void no_rate_keeps_a_node_from_the_first_to_keep(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest guest[3];

    bench->config.up = 100;
    bench_open(bench);
    for (unsigned i = 0; i < 3; i++)
        guest[i] = guest_comes(bench, (const char *[]){"a", "b", "c"}[i]);
    guest_founds(bench, &guest[0], 1);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(1, treasure_count(bench, &guest[i]));
    bench_destroy(&bench);
}

/* Results come first at any time, and each takes all that the rate allows. */
static void no_rate_keeps_a_node_from_later_ones_to_keep(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest a;

    bench->config.up = 100;
    bench->config.keeping = 0;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    for (uint64_t i = 1; i <= 6; i++) {
        guest_lives(bench, &a, 60 * SECOND);
        guest_gives(bench, &a, i, 0.5);
        guest_lives(bench, &a, 60 * SECOND);
        guest_returns(bench, &a, i);
    }
    CHECK(treasure_count(bench, &a) > 1);
    bench_destroy(&bench);
}

void add_hub_recover_late_tests(CU_pSuite suite)
{
    TEST(the_first_node_may_come_late);
    TEST(who_has_more_is_asked_as_long_as_nothing_is_merged);
    TEST(a_newer_centre_is_another_lifes_to_who_was_told_of_less);
    TEST(who_comes_late_has_time_to_attach);
    TEST(who_was_silent_has_time_to_attach);
    TEST(a_hub_that_has_slept_reads_before_it_gives_up);
    TEST(once_somebody_is_told_that_it_is_merged_it_is);
    TEST(nothing_is_merged_while_the_hub_looks);
    TEST(those_who_say_they_keep_more_do_not_add_up);
    TEST(no_rate_keeps_a_node_from_the_first_to_keep);
    TEST(no_rate_keeps_a_node_from_later_ones_to_keep);
    TEST(once_something_is_merged_what_is_lost_is_told);
}
