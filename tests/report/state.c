/* What a hub tells of itself when it is asked to. */
#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "seam/machine.h"
#include "tests/check.h"
#include "tests/report/sample.h"

static struct hub_view view;

static struct json_object *tell(unsigned nodes)
{
    size_t size = TABLE_REST_BYTES + (size_t)nodes * TABLE_NODE_BYTES;
    static uint64_t notes[NOTE_KINDS];
    const struct table_count refused[] = {{"unknown_key", 5}, {"banned", 0}};
    const struct table_process process = {
        {.open = 7, .rounds = 2}, 1 << 24, 1 << 20, notes, refused, 2};
    struct table table = sample_table(&view);
    char *bytes = malloc(size);
    struct json_object *json;
    struct text text;

    if (!bytes)
        abort();
    notes[NOTE_REFUSED] = 3;
    text_init(&text, bytes, size);
    table_state(&table, &process, nodes, &text);
    CHECK(!text.cut);
    json = json_tokener_parse(bytes);
    CHECK(json != NULL);
    free(bytes);
    return json;
}

static int64_t number(struct json_object *json, const char *key)
{
    struct json_object *value = NULL;

    CHECK(json_object_object_get_ex(json, key, &value));
    return json_object_get_int64(value);
}

static void it_has_what_is_open_and_what_was_refused(void)
{
    struct json_object *json, *events = NULL, *refused = NULL;

    sample_view(&view);
    view.offered = 50;
    view.run_time = 40 * SECOND;
    json = tell(view.count);
    CHECK_EQUAL(40, number(json, "run_time"));
    CHECK_EQUAL(50, number(json, "offered"));
    CHECK_EQUAL(7, number(json, "open"));
    CHECK_EQUAL(2, number(json, "open_rounds"));
    CHECK_EQUAL(1 << 24, number(json, "resident_bytes"));
    CHECK_EQUAL(1 << 20, number(json, "pool_bytes"));
    CHECK_EQUAL(212, number(json, "version"));
    CHECK(json_object_object_get_ex(json, "events", &events));
    CHECK_EQUAL(3, number(events, "node_refused"));
    CHECK_EQUAL(1, json_object_object_length(events));
    CHECK(json_object_object_get_ex(json, "refused", &refused));
    CHECK_EQUAL(5, number(refused, "unknown_key"));
    CHECK_EQUAL(1, json_object_object_length(refused));
    json_object_put(json);
}

static void there_is_room_for_every_node_at_its_longest(void)
{
    struct json_object *json, *nodes = NULL;

    sample_view(&view);
    view.count = SAMPLE_NODES;
    for (unsigned i = 0; i < view.count; i++) {
        struct hub_node_view *node = &view.nodes[i];

        *node = (struct hub_node_view){.iteration = UINT64_MAX,
                                       .moved.steps = UINT64_MAX,
                                       .rate = -1.2345678912e-300,
                                       .loss = 1.2345678912e-300,
                                       .accuracy = 1.2345678912e-300,
                                       .lag = UINT64_MAX,
                                       .moved.exchanges = UINT64_MAX,
                                       .missed = UINT64_MAX,
                                       .moved.up_bytes = UINT64_MAX,
                                       .moved.down_bytes = UINT64_MAX,
                                       .busy = 1.2345678912e-300,
                                       .round_trip = INT64_MAX,
                                       .waited = INT64_MAX,
                                       .foreseen = 0.12345678912};
        for (unsigned j = 0; j < SPENT_COUNT; j++)
            node->spent[j] = INT64_MAX;
        memset(node->name, 1, sizeof node->name - 1);
        memset(node->why, 'x', sizeof node->why - 1);
    }
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        view.verdicts[i] = UINT64_MAX;
    json = tell(SAMPLE_NODES);
    CHECK(json_object_object_get_ex(json, "nodes", &nodes));
    CHECK_EQUAL(SAMPLE_NODES, json_object_array_length(nodes));
    json_object_put(json);
    json = tell(TABLE_NODES);
    CHECK_EQUAL(100, number(json, "more_nodes"));
    json_object_put(json);
}

static void people_are_told_the_same_in_lines(void)
{
    static uint64_t notes[NOTE_KINDS];
    const struct table_count refused[] = {{"unknown_key", 5}, {"banned", 0}};
    const struct table_process process = {
        {.open = 7, .rounds = 2, .partial = 1, .held = 2500000},
        1 << 24,
        1 << 20,
        notes,
        refused,
        2};
    struct table table = sample_table(&view);
    char bytes[TABLE_BYTES];
    struct text out;

    sample_view(&view);
    view.run = 0x1234;
    view.epoch = 3;
    view.offered = 50;
    notes[NOTE_REFUSED] = 3;
    text_init(&out, bytes, sizeof bytes);
    table_tell(&table, &process, &out);
    CHECK_CONTAINS(" n2 * ", bytes);
    CHECK_CONTAINS("\n run     0000000000001234, epoch 3\n", bytes);
    CHECK_CONTAINS("\n chunks  50 offered: 1320 merged, 3 stale; 7 open, in 2 "
                   "rounds\n",
                   bytes);
    CHECK_CONTAINS("\n uploads 1 under way, 2.5 MB here\n", bytes);
    CHECK_CONTAINS("\n undone  2 preemptions, 1 roll-back\n", bytes);
    CHECK_CONTAINS("\n memory  16.8 MB, of them 1.05 MB for values on their "
                   "way\n",
                   bytes);
    CHECK_CONTAINS("\n events  3 node_refused\n", bytes);
    CHECK_CONTAINS("\n refused 5 unknown_key\n", bytes);
}

void add_report_state_tests(CU_pSuite suite)
{
    TEST(it_has_what_is_open_and_what_was_refused);
    TEST(people_are_told_the_same_in_lines);
    TEST(there_is_room_for_every_node_at_its_longest);
}
