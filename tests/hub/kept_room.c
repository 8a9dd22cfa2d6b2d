/* What nodes keep with a centre has a bound, whatever a hub has to remember. */
#include <stdio.h>
#include <string.h>

#include "codec/manifest.h"
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

enum { TEXT_ROOM = 256 * 1024, MOST = 2000, PARTED = 128 };

static struct store store;
static char text[TEXT_ROOM];

/* Says that the saved hub knew one more node, of which so many exchanges were
 * merged in part. */
static void add_node(unsigned number, const char *name, unsigned parted)
{
    size_t at = strlen(text);

    at += (size_t)snprintf(text + at, TEXT_ROOM - at,
                           "node 9 %u 1 %u 0 %s\ndid 0 0 0 0 0 0\n", number,
                           parted, name);
    for (unsigned i = 1; i <= parted; i++)
        at += (size_t)snprintf(text + at, TEXT_ROOM - at, "parted %u aba\n", i);
}

/* The text of a hub that node a has founded. */
static struct hub_fixture *begin(struct fake_node *a)
{
    struct hub_fixture *f = kept_centre_life(&store);
    uint64_t lineage;

    f->config.save_interval = SECOND;
    (void)kept_centre_train(f, a, 4);
    fake_node_lives(f, a, 2 * SECOND);
    CHECK_EQUAL(4, store.version);
    lineage = f->lineage;
    hub_fixture_destroy(&f);
    (void)snprintf(text, sizeof text, "%s", store.state);
    f = kept_centre_life(&store);
    f->config.save = NULL;
    f->config.most = MOST;
    f->config.life = 5;
    f->lineage = a->hello.lineage = lineage;
    return f;
}

/* Goes on from the text, and node a with it. */
static void go_on(struct hub_fixture *f, struct fake_node *a)
{
    struct why why;

    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, text, &why));
    fake_node_comes_again(f, a);
    fake_node_lives(f, a, HUB_RECOVERY + SECOND);
    hand_forget(&f->hand);
}

static void round_of(struct hub_fixture *f, struct fake_node *a,
                     uint64_t exchange)
{
    fake_node_gives(f, a, exchange, 0.5);
    fake_node_returns(f, a, exchange);
    fake_node_lives(f, a, 3 * SECOND);
}

static void what_was_merged_in_part_leaves_room_for_what_nodes_keep(void)
{
    struct fake_node a;
    struct hub_fixture *f = begin(&a);

    for (unsigned i = 0; i < 50; i++)
        add_node(i, "gone", PARTED);
    CHECK(strlen(text) > MANIFEST_ROOM_BYTES);
    go_on(f, &a);
    round_of(f, &a, 5);
    CHECK(kept_centre_count(f, &a) > 0);
    CHECK(hand_note(&f->hand, NOTE_UNKEPT) == NULL);
    hub_fixture_destroy(&f);
}

static void who_keeps_no_centre_for_want_of_room_is_told_of(void)
{
    struct fake_node a;
    struct hub_fixture *f = begin(&a);

    for (unsigned i = 0; strlen(text) <= MANIFEST_ROOM_BYTES; i++)
        add_node(i, "gone", 0);
    go_on(f, &a);
    round_of(f, &a, 5);
    CHECK_EQUAL(0, kept_centre_count(f, &a));
    CHECK(hand_note(&f->hand, NOTE_UNKEPT) != NULL);
    CHECK_EQUAL(LEVEL_WARNING, note_level(NOTE_UNKEPT));
    hub_fixture_destroy(&f);
}

void add_hub_kept_room_tests(CU_pSuite suite)
{
    TEST(who_keeps_no_centre_for_want_of_room_is_told_of);
    TEST(what_was_merged_in_part_leaves_room_for_what_nodes_keep);
}
