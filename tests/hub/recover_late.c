/* Who comes to a hub that has looked for its newest centre already. */
#include <stdio.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

static struct store store;

/* As after a reboot of the hub's PC: nodes notice late that it is back. */
static void the_first_node_may_come_late(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    hand_wait(&f->hand, 20 * SECOND);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* The hub has looked for its newest centre, and only b was there, which is to
 * take the one from the disk. */
static struct hub_fixture *go_on_with(struct fake_node *a, struct fake_node *b,
                                      struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_resume(&store, a, kept);

    *b = fake_node_other(f);
    fake_node_lives(f, b, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, b));
    return f;
}

static void who_has_more_is_asked_as_long_as_nothing_is_merged(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = go_on_with(&a, &b, &kept);

    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

static uint64_t life_told(const struct hub_fixture *f,
                          const struct fake_node *node)
{
    return epoch_life(fake_node_heard(f, node, MSG_WELCOME)->welcome.epoch);
}

/* So that a node looks again at what it was told of its exchanges, also one
 * that is away when the hub finds the newer centre. */
static void a_newer_centre_is_another_lifes_to_who_was_told_of_less(void)
{
    for (unsigned away = 0; away < 2; away++) {
        struct kept_centre kept;
        struct fake_node a, b;
        struct hub_fixture *f = go_on_with(&a, &b, &kept);
        uint64_t before = life_told(f, &b);

        if (away)
            fake_node_breaks(f, &b);
        fake_node_comes_again(f, &a);
        if (away)
            fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
        kept_centre_given(f, &a, &kept);
        CHECK_EQUAL(4, hub_fixture_look(f)->version);
        if (away)
            fake_node_comes_again(f, &b);
        CHECK_EQUAL(before + 1, life_told(f, &b));
        hub_fixture_destroy(&f);
    }
}

static void once_something_is_merged_what_is_lost_is_told(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = go_on_with(&a, &b, &kept);

    fake_node_credits(f, &b, 0, 0); /* takes the centre */
    fake_node_gives(f, &b, 1, 1);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_CONTAINS("it keeps version 4",
                   hand_note(&f->hand, NOTE_REFUSED)->text);
    hub_fixture_destroy(&f);
}

/* b's connection breaks while c uploads: it is told what will be merged. */
static void once_somebody_is_told_that_it_is_merged_it_is(void)
{
    struct kept_centre kept;
    struct fake_node a, b, c;
    struct hub_fixture *f = go_on_with(&a, &b, &kept);
    uint64_t before = hub_fixture_look(f)->version;

    c = fake_node_comes(f, "c");
    fake_node_credits(f, &b, 0, 0); /* takes the centre */
    fake_node_credits(f, &c, 0, 0);
    fake_node_offers(f, &b, 1);
    fake_node_offers(f, &c, 1);
    fake_node_delivers_all(f, &b, 1, 1);
    fake_node_breaks(f, &b);
    fake_node_comes_again(f, &b);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 0));
    fake_node_comes_again(f, &a);
    CHECK_CONTAINS("it keeps version 4",
                   hand_note(&f->hand, NOTE_REFUSED)->text);
    fake_node_delivers_all(f, &c, 1, 1);
    CHECK_EQUAL(before + 1, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* A node that offers before it may, as Byzantine nodes do: what is merged
 * meanwhile would be lost with the centre that is looked for. */
static void nothing_is_merged_while_the_hub_looks(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    const struct msg_offer strange = {.exchange = 1, .lineage = 77};

    b = fake_node_other(f);
    fake_node_offer(f, &b, &strange);
    CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &b, 1, 0));
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

/* Eight say that they keep more than the one that does; they have nothing to
 * show. They cost the time of one. */
static void those_who_say_they_keep_more_do_not_add_up(void)
{
    enum { BYZANTINE = 8 };
    struct kept_centre kept;
    struct fake_node a, byzantine[BYZANTINE];
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);
    unsigned asked = 0;
    char name[8];
    nanos since = f->hand.now;

    for (unsigned i = 0; i < BYZANTINE; i++) {
        (void)snprintf(name, sizeof name, "l%u", i);
        byzantine[i] = fake_node_new(f, name);
        byzantine[i].hello.run = a.hello.run;
        byzantine[i].hello.epoch = a.hello.epoch;
        byzantine[i].hello.kept = a.hello.kept + 1 + i;
        fake_node_hello(f, &byzantine[i]);
        fake_node_attach(f, &byzantine[i]);
    }
    fake_node_comes_again(f, &a);
    while (hub_fixture_look(f)->recovering &&
           f->hand.now - since < 60 * SECOND) {
        for (unsigned i = 0; i < BYZANTINE; i++)
            fake_node_pings(f, &byzantine[i], 1);
        fake_node_lives(f, &a, SECOND);
        if (!fake_node_heard(f, &a, MSG_WELCOME) ||
            kept_centre_start(f, &a) != START_GIVE)
            continue;
        if (asked++)
            kept_centre_given(f, &a, &kept);
        else
            kept_centre_proves(f, &a, &kept);
        hand_forget(&f->hand);
    }
    CHECK(!hub_fixture_look(f)->recovering);
    CHECK_EQUAL(kept.version, hub_fixture_look(f)->version);
    CHECK((f->hand.now - since) / SECOND <= 20);
    hub_fixture_destroy(&f);
}

/* It says HELLO anew when the hub has waited for long, and attaches then. */
static void who_comes_late_has_time_to_attach(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    a.control = a.bulk = PEER_NONE;
    fake_node_hello(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY + 4 * SECOND);
    fake_node_hello(f, &a);
    fake_node_lives(f, &a, 4 * SECOND);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &a));
    fake_node_attach(f, &a);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* A process that is stopped for longer than the hub waits for whom it knows. */
static void who_was_silent_has_time_to_attach(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    a.control = a.bulk = PEER_NONE;
    fake_node_hello(f, &a);
    hand_wait(&f->hand, HUB_RECOVERY + 4 * SECOND);
    fake_node_lives(f, &a, 4 * SECOND);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &a));
    fake_node_attach(f, &a);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* What a node has sent meanwhile is read after the hub has looked at the time.
 */
static void a_hub_that_has_slept_reads_before_it_gives_up(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_resume(&store, &a, &kept);

    a.control = a.bulk = PEER_NONE;
    fake_node_hello(f, &a);
    fake_node_lives(f, &a, SECOND);
    f->hand.now += 30 * SECOND;
    fake_node_pings(f, &a, 1);
    fake_node_attach(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* The hub has only just sent all that its rate allows: the centre, to a. */
static void no_rate_keeps_a_node_from_the_first_to_keep(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node node[3];

    f->config.up = 100;
    hub_fixture_open(f);
    for (unsigned i = 0; i < 3; i++)
        node[i] = fake_node_comes(f, (const char *[]){"a", "b", "c"}[i]);
    fake_node_founds(f, &node[0], 1);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(1, kept_centre_count(f, &node[i]));
    hub_fixture_destroy(&f);
}

/* Results come first at any time, and each takes all that the rate allows. */
static void no_rate_keeps_a_node_from_later_ones_to_keep(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node a;

    f->config.up = 100;
    f->config.keeping = 0;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    for (uint64_t i = 1; i <= 6; i++) {
        fake_node_lives(f, &a, 60 * SECOND);
        fake_node_gives(f, &a, i, 0.5);
        fake_node_lives(f, &a, 60 * SECOND);
        fake_node_returns(f, &a, i);
    }
    CHECK(kept_centre_count(f, &a) > 1);
    hub_fixture_destroy(&f);
}

static void once_something_is_merged_it_is_too_late(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = kept_centre_life(&store);

    (void)kept_centre_train(f, &a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store); /* with an empty disk */
    f->config.run = 1234;
    hub_fixture_open(f);
    b = fake_node_new(f, "b");
    b.hello.node_low = 77;
    b.hello.lineage = 99;
    fake_node_comes_again(f, &b);
    fake_node_founds(f, &b, 9);
    fake_node_gives(f, &b, 1, 1);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &a));
    CHECK_CONTAINS("it keeps version 3",
                   hand_note(&f->hand, NOTE_REFUSED)->text);
    CHECK_EQUAL(1234, hub_fixture_look(f)->run);
    hub_fixture_destroy(&f);
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
    TEST(once_something_is_merged_it_is_too_late);
}
