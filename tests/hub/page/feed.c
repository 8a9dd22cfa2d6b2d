#include "hub/page/feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static void the_newest_snapshot_counts_and_is_the_readers_own(void)
{
    static struct snapshot snapshot;
    struct feed *feed = malloc(sizeof *feed);
    struct hub_node_view nodes[3] = {{.name = "n1"}, {.name = "n2"}};
    const struct snapshot *seen;
    char why[] = "the disk is full";
    bool fresh = true;

    if (!feed)
        abort();
    feed_init(feed);
    CHECK(feed_look(feed, &fresh) == NULL);
    CHECK(!fresh);
    snapshot.view = (struct hub_view){
        .version = 1, .count = 2, .nodes = nodes, .unsaved = why};
    CHECK(feed_publish(feed, &snapshot));
    snapshot.view.version = 2;
    CHECK(feed_publish(feed, &snapshot));
    memset(nodes, 0, sizeof nodes);
    why[0] = '\0';
    seen = feed_look(feed, &fresh);
    if (!CHECK(seen != NULL))
        return;
    CHECK(fresh);
    CHECK_EQUAL(2, seen->view.version);
    CHECK_EQUAL(2, seen->view.count);
    CHECK_TEXT("n2", seen->view.nodes[1].name);
    CHECK_TEXT("the disk is full", seen->view.unsaved);
    snapshot.view = (struct hub_view){.version = 3};
    CHECK(feed_publish(feed, &snapshot));
    CHECK(feed_publish(feed, &snapshot));
    CHECK_EQUAL(2, seen->view.version);
    CHECK(feed_look(feed, &fresh) != seen);
    CHECK(fresh);
    CHECK(feed_look(feed, &fresh) != NULL);
    CHECK(!fresh);
    feed_free(feed);
    free(feed);
}

static void notes_that_find_no_room_are_counted(void)
{
    struct feed *feed = malloc(sizeof *feed);
    struct note note = {.kind = NOTE_JOINED};
    struct told_note told;
    unsigned count = 0;

    if (!feed)
        abort();
    feed_init(feed);
    for (unsigned i = 0; i < FEED_NOTES + 3; i++) {
        (void)snprintf(note.text, sizeof note.text, "note %u", i);
        feed_note(feed, i, i, &note);
    }
    while (feed_next_note(feed, &told))
        count++;
    CHECK_EQUAL(FEED_NOTES, count);
    CHECK_EQUAL(3, feed_lost(feed));
    CHECK_EQUAL(FEED_NOTES, told.number);
    feed_note(feed, 0, 0, &note);
    CHECK(feed_next_note(feed, &told));
    CHECK_EQUAL(FEED_NOTES + 4, told.number);
    feed_free(feed);
    free(feed);
}

/* ---- two threads ---- */

enum { TURNS = 20000, MOST_NODES = 40 };

static void *publish(void *of)
{
    static struct hub_node_view nodes[MOST_NODES];
    static struct snapshot snapshot;
    struct feed *feed = of;
    struct note note = {.kind = NOTE_JOINED};

    for (uint64_t i = 1; i <= TURNS; i++) {
        snapshot.view.version = i;
        snapshot.view.count = 1 + (unsigned)(i % MOST_NODES);
        snapshot.view.nodes = nodes;
        for (unsigned j = 0; j < snapshot.view.count; j++)
            nodes[j].iteration = i;
        if (!feed_publish(feed, &snapshot))
            return feed;
        feed_note(feed, (nanos)i, 0, &note);
    }
    return NULL;
}

static void a_snapshot_is_never_half_of_another_one(void)
{
    struct feed *feed = malloc(sizeof *feed);
    uint64_t last = 0, told = 0;
    pthread_t writer;
    struct told_note note;
    void *result = feed;
    bool fresh;

    if (!feed)
        abort();
    feed_init(feed);
    if (!CHECK(pthread_create(&writer, NULL, &publish, feed) == 0))
        return;
    while (last < TURNS) {
        const struct snapshot *seen = feed_look(feed, &fresh);

        while (feed_next_note(feed, &note)) {
            CHECK((uint64_t)note.elapsed > told);
            told = (uint64_t)note.elapsed;
        }
        if (!fresh)
            continue;
        if (!CHECK(seen && seen->view.version > last))
            break;
        last = seen->view.version;
        for (unsigned j = 0; j < seen->view.count; j++)
            if (seen->view.nodes[j].iteration != last)
                CHECK_EQUAL(last, seen->view.nodes[j].iteration);
    }
    CHECK(pthread_join(writer, &result) == 0);
    CHECK(result == NULL);
    feed_free(feed);
    free(feed);
}

void add_hub_page_feed_tests(CU_pSuite suite)
{
    TEST(the_newest_snapshot_counts_and_is_the_readers_own);
    TEST(notes_that_find_no_room_are_counted);
    TEST(a_snapshot_is_never_half_of_another_one);
}
