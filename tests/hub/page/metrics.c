#include "hub/page/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { MANY = 256 };

static struct hub_node_view nodes[MANY];
static struct snapshot snapshot;
static char bytes[4 << 20];

static const char *page(bool open_metrics, struct goal goal)
{
    const struct metrics_source source = {&snapshot, "auto", goal};
    struct text text;

    CHECK(metrics_room(snapshot.view.count) <= sizeof bytes);
    text_init(&text, bytes, metrics_room(snapshot.view.count));
    metrics_write(&source, open_metrics, &text);
    CHECK(!text.cut);
    return bytes;
}

static const struct goal no_goal;

static void begin(unsigned count)
{
    memset(&snapshot, 0, sizeof snapshot);
    memset(nodes, 0, sizeof nodes);
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(nodes[i].name, NODE_NAME_BYTES, "n%u", i + 1);
        nodes[i].accuracy = -1;
        nodes[i].loss = NO_SCORE;
    }
    snapshot.view = (struct hub_view){.count = count,
                                      .nodes = nodes,
                                      .score = NO_SCORE,
                                      .accuracy = -1,
                                      .best_score = NO_SCORE,
                                      .first_score = NO_SCORE,
                                      .run = 0xabc};
}

static void what_is_known_is_there_and_nothing_else(void)
{
    begin(1);
    CHECK_CONTAINS("# TYPE starswitch_rounds_total counter\n"
                   "starswitch_rounds_total 0\n",
                   page(false, no_goal));
    CHECK_CONTAINS("starswitch_run_info{run=\"0000000000000abc\",policy="
                   "\"auto\",codec_up=\"",
                   bytes);
    CHECK(!strstr(bytes, "starswitch_center_loss{"));
    CHECK(!strstr(bytes, "starswitch_node_loss{"));
    CHECK(!strstr(bytes, "starswitch_node_accuracy{"));
    CHECK(!strstr(bytes, "\nstarswitch_checkpoint_last"));
    CHECK(!strstr(bytes, "\nstarswitch_goal_progress"));
    CHECK(!strstr(bytes, "nan"));
    CHECK(!strstr(bytes, "# EOF"));
    snapshot.view.score = 0.25;
    snapshot.view.tested = true;
    snapshot.saved = 1700000000 * SECOND;
    nodes[0].iteration = 5;
    nodes[0].loss = 0.125;
    nodes[0].moved.up_bytes = 1 << 20;
    CHECK_CONTAINS("\nstarswitch_center_loss{split=\"test\"} 0.25\n",
                   page(false, no_goal));
    CHECK_CONTAINS("\nstarswitch_node_loss{node=\"n1\"} 0.125\n", bytes);
    CHECK_CONTAINS("\nstarswitch_checkpoint_last_success_timestamp_seconds "
                   "1700000000\n",
                   bytes);
    CHECK_CONTAINS("\nstarswitch_transfer_bytes_total{node=\"n1\",dir=\"up\"} "
                   "1048576\n",
                   bytes);
}

static void a_name_ends_no_label(void)
{
    begin(1);
    (void)snprintf(nodes[0].name, NODE_NAME_BYTES, "a\"} 1\\\"b");
    CHECK_CONTAINS("starswitch_node_up{node=\"a\\\"} 1\\\\\\\"b\"} 1\n",
                   page(false, no_goal));
}

static void exchanges_are_counted_by_how_they_ended(void)
{
    begin(2);
    nodes[1].fates[VERDICT_MERGED] = 7;
    nodes[1].fates[VERDICT_STALE] = 2;
    nodes[1].fates[VERDICT_EXPIRED] = 1;
    CHECK_CONTAINS(
        "starswitch_exchanges_total{node=\"n2\",result=\"merged\"} 7\n"
        "starswitch_exchanges_total{node=\"n2\",result=\"rejected\"} "
        "3\n",
        page(false, no_goal));
    CHECK_CONTAINS(
        "starswitch_rejected_total{node=\"n2\",reason=\"stale\"} 2\n", bytes);
    CHECK(!strstr(bytes, "starswitch_rejected_total{node=\"n1\""));
}

static void a_save_that_failed_is_told_while_the_run_goes_on(void)
{
    begin(0);
    CHECK_CONTAINS("starswitch_checkpoint_failed 0\n", page(false, no_goal));
    snapshot.view.saves_failed = 2;
    CHECK_CONTAINS("starswitch_checkpoint_failed 1\n", page(false, no_goal));
}

static void a_node_that_has_left_is_neither_up_nor_down(void)
{
    begin(3);
    nodes[0].gone = nodes[0].left = nodes[1].gone = true;
    CHECK(!strstr(page(false, no_goal), "starswitch_node_up{node=\"n1\"}"));
    CHECK_CONTAINS("starswitch_node_up{node=\"n2\"} 0\n", bytes);
    CHECK_CONTAINS("starswitch_node_up{node=\"n3\"} 1\n", bytes);
}

static void a_histogram_adds_up(void)
{
    begin(0);
    snapshot.view.durations.within[0] = 3;
    snapshot.view.durations.within[HUB_DURATION_COUNT] = 2;
    snapshot.view.durations.seconds = 700.5;
    CHECK_CONTAINS("_seconds_bucket{le=\"0.01\"} 3\n", page(false, no_goal));
    CHECK_CONTAINS("_seconds_bucket{le=\"300\"} 3\n", bytes);
    CHECK_CONTAINS("_seconds_bucket{le=\"+Inf\"} 5\n", bytes);
    CHECK_CONTAINS("_seconds_sum 700.5\n", bytes);
    CHECK_CONTAINS("_seconds_count 5\n", bytes);
}

static void a_goal_has_a_way_to_it(void)
{
    begin(0);
    snapshot.view.first_score = 2.0;
    snapshot.view.score = 1.5;
    CHECK_CONTAINS("starswitch_goal_progress_ratio 0.5\n",
                   page(false, (struct goal){GOAL_LOSS, 1.0}));
    snapshot.view.score = 3;
    CHECK_CONTAINS("starswitch_goal_progress_ratio 0\n",
                   page(false, (struct goal){GOAL_LOSS, 1.0}));
    snapshot.view.accuracy = 0.87;
    CHECK_CONTAINS("starswitch_goal_progress_ratio 1\n",
                   page(false, (struct goal){GOAL_ACCURACY, 0.87}));
}

static void who_says_where_its_time_goes_is_told_in_all_states(void)
{
    static const char *const states[] = {"compute\"} 12", "net_wait\"} 3.5",
                                         "data_wait\"} 0", "optimizer\"} 1",
                                         "idle\"} 0"};
    char line[120];

    begin(2);
    nodes[1].spent[SPENT_COMPUTE] = 12 * SECOND;
    nodes[1].spent[SPENT_NET_WAIT] = 3500 * MILLISECOND;
    nodes[1].spent[SPENT_OPTIMIZER] = SECOND;
    (void)page(false, no_goal);
    for (unsigned i = 0; i < sizeof states / sizeof *states; i++) {
        (void)snprintf(line, sizeof line,
                       "starswitch_node_time_seconds_total{node=\"%s\","
                       "state=\"%s\n",
                       nodes[1].name, states[i]);
        CHECK_CONTAINS(line, bytes);
    }
    (void)snprintf(line, sizeof line, "time_seconds_total{node=\"%s\"",
                   nodes[0].name);
    CHECK(!strstr(bytes, line));
}

/* One that fell to something else would have been reset, and is added again. */
static void a_counter_that_is_not_known_yet_is_not_there(void)
{
    begin(1);
    snapshot.view.rounds = 217;
    snapshot.view.rounds_here = 3;
    nodes[0].gone = true;
    CHECK_CONTAINS("\nstarswitch_rounds_total 3\n", page(false, no_goal));
    CHECK(!strstr(bytes, "\nstarswitch_node_steps_total{"));
    CHECK(!strstr(bytes, "\nstarswitch_node_late_results_total{"));
    CHECK(!strstr(bytes, "\nstarswitch_node_blocked_seconds_total{"));
    nodes[0].gone = false;
    nodes[0].told = true;
    nodes[0].iteration = 300; /* of its process, begun before this hub */
    CHECK_CONTAINS("\nstarswitch_node_steps_total{node=\"n1\"} 0\n",
                   page(false, no_goal));
    CHECK_CONTAINS("\nstarswitch_node_late_results_total{node=\"n1\"} 0\n",
                   bytes);
    CHECK_CONTAINS("\nstarswitch_node_blocked_seconds_total{node=\"n1\"} 0\n",
                   bytes);
}

static void open_metrics_name_families_and_end(void)
{
    static const char end[] = "# EOF\n";

    begin(1);
    CHECK_CONTAINS("# TYPE starswitch_rounds counter\nstarswitch_rounds_total ",
                   page(true, no_goal));
    CHECK_CONTAINS("# TYPE starswitch_build info\nstarswitch_build_info{",
                   bytes);
    CHECK_TEXT(end, bytes + strlen(bytes) - strlen(end));
}

static void there_is_room_for_every_node_at_its_longest(void)
{
    begin(MANY);
    for (unsigned i = 0; i < MANY; i++) {
        struct hub_node_view *node = &nodes[i];

        memset(node->name, '"', NODE_NAME_BYTES - 1);
        node->loss = -1.2345678912e-300;
        node->rate = node->link_up = node->link_down = 1.2345678912e+300;
        node->accuracy = 0.123456789123;
        node->iteration = node->moved.samples = node->lag = UINT64_MAX;
        node->moved.exchanges = node->missed = UINT64_MAX;
        node->round_trip = node->waited = INT64_MAX;
        for (unsigned j = 0; j < VERDICT_COUNT; j++)
            node->fates[j] = UINT64_MAX;
        for (unsigned j = 0; j < SPENT_COUNT; j++)
            node->spent[j] = INT64_MAX;
        node->foreseen = 0.123456789123;
        node->told = true;
        node->best = true;
    }
    (void)page(false, no_goal);
    (void)page(true, no_goal);
}

void add_hub_page_metrics_tests(CU_pSuite suite)
{
    TEST(what_is_known_is_there_and_nothing_else);
    TEST(a_name_ends_no_label);
    TEST(exchanges_are_counted_by_how_they_ended);
    TEST(a_save_that_failed_is_told_while_the_run_goes_on);
    TEST(a_node_that_has_left_is_neither_up_nor_down);
    TEST(a_histogram_adds_up);
    TEST(a_goal_has_a_way_to_it);
    TEST(who_says_where_its_time_goes_is_told_in_all_states);
    TEST(a_counter_that_is_not_known_yet_is_not_there);
    TEST(open_metrics_name_families_and_end);
    TEST(there_is_room_for_every_node_at_its_longest);
}
