#include "report/table.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/report/sample.h"

static char drawn[TABLE_BYTES];
static struct hub_view view;

static const char *draw(unsigned width, unsigned height, bool colour)
{
    struct table table = sample_table(&view);
    const struct table_style style = {width, height, colour};
    struct text text;

    text_init(&text, drawn, sizeof drawn);
    table_draw(&table, &style, &text);
    CHECK(!text.cut);
    return drawn;
}

/* Characters of the widest line. */
static unsigned widest_line(const char *text)
{
    unsigned widest = 0, column = 0;

    for (; *text; text++) {
        column = *text == '\n'
                     ? 0
                     : column + (((unsigned char)*text & 0xC0) != 0x80);
        widest = column > widest ? column : widest;
    }
    return widest;
}

static unsigned count_lines(const char *text)
{
    unsigned lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void a_wide_terminal_shows_all_columns(void)
{
    sample_view(&view);
    CHECK_TEXT("starswitch  hub on tcp://127.0.0.1:7541, directory demo\n"
               " data   Fashion-MNIST 60000 train / 10000 test   model"
               "  mlp 784-128-10, 101770 parameters\n"
               " policy diloco k=20 d=4  codec f32               goal "
               "  87.0 % test accuracy\n"
               " node                iterations   it/s    loss  test%  lag "
               "  up MB  down MB  rtt ms  state\n"
               " n1                        4120    812   0.294   86.4    1   "
               "  1.4      1.4    0.21  train\n"
               " n2 *                      4390    866   0.281   86.9    0   "
               "  1.4      1.4    0.20  train, sending, best\n"
               " n3                         310    7.2   0.900      -   12   "
               "0.100    0.090    35.0  silent, last offer expired\n"
               " laborat~est-pc17             0    0.0       -      -  99+   "
               "  0.0      0.0       -  gone\n"
               " centre  version 212  loss 0.279  test 87.0 %"
               "  best 0.279 (version 208)  31 s  rounds 212\n"
               " hub     1 of 3 nodes have offered\n",
               draw(140, 0, false));
}

static void eighty_columns_leave_out_what_is_needed_least(void)
{
    sample_view(&view);
    view.count = 3;
    CHECK_TEXT("starswitch  hub on tcp://127.0.0.1:7541, directory demo\n"
               " data   Fashion-MNIST 60000 train / 10000 test\n"
               " model  mlp 784-128-10, 101770 parameters\n"
               " policy diloco k=20 d=4  codec f32               goal "
               "  87.0 % test accuracy\n"
               " node    iterations   it/s    loss  test%  lag   up MB  down MB"
               "  state\n"
               " n1            4120    812   0.294   86.4    1     1.4      1.4"
               "  train\n"
               " n2 *          4390    866   0.281   86.9    0     1.4      1.4"
               "  train, sendin~\n"
               " n3             310    7.2   0.900      -   12   0.100    0.090"
               "  silent, last ~\n"
               " centre  version 212  loss 0.279  test 87.0 %"
               "  best 0.279 (version 208)  31 s ~\n"
               " hub     1 of 3 nodes have offered\n",
               draw(80, 0, false));
}

static void forty_columns_still_show_the_loss(void)
{
    sample_view(&view);
    CHECK_TEXT("starswitch  hub on tcp://127.0.0.1:754~\n"
               " data   Fashion-MNIST 60000 train / 10~\n"
               " model  mlp 784-128-10, 101770 paramet~\n"
               " policy diloco k=20 d=4  codec f32\n"
               " goal   87.0 % test accuracy\n"
               " node           loss  state\n"
               " n1            0.294  train\n"
               " n2 *          0.281  train, sending, ~\n"
               " n3            0.900  silent, last off~\n"
               " labo~pc17         -  gone\n"
               " centre  version 212  loss 0.279  test~\n"
               " hub     1 of 3 nodes have offered\n",
               draw(40, 0, false));
}

static void no_line_is_wider_than_the_terminal(void)
{
    sample_view(&view);
    for (unsigned width = TABLE_MIN_WIDTH + 1; width < 250; width++)
        CHECK(widest_line(draw(width, 0, false)) < width);
    CHECK(widest_line(draw(0, 0, false)) <= TABLE_MIN_WIDTH);
    CHECK(widest_line(draw(100000, 0, false)) <= TABLE_MAX_WIDTH);
}

static void a_low_terminal_shows_fewer_nodes_and_says_so(void)
{
    sample_view(&view);
    while (view.count < TABLE_NODES)
        view.nodes[view.count++] = view.nodes[0];
    CHECK(count_lines(draw(80, 24, false)) < 24);
    CHECK_CONTAINS(" ... and 49 more\n", drawn);
    CHECK(!strstr(drawn, "gone"));
    CHECK_EQUAL(TABLE_NODES + 7, count_lines(draw(80, 0, false)));
    CHECK_EQUAL(TABLE_NODES + 7, count_lines(draw(80, 72, false)));
    CHECK_CONTAINS(" hub  ", draw(80, 3, false));
}

static void what_is_not_known_is_not_shown(void)
{
    static const struct table_head empty;
    struct table table = {&empty, &view, 0, 0};
    const struct table_style style = {80, 0, false};
    struct text text;

    memset(&view, 0, sizeof view);
    view.score = view.best_score = NO_SCORE;
    view.accuracy = -1;
    text_init(&text, drawn, sizeof drawn);
    table_draw(&table, &style, &text);
    CHECK_TEXT(" node    iterations   it/s    loss  test%  lag   up MB"
               "  down MB  state\n centre  version 0  loss -  0 s  rounds 0\n"
               " hub     \n",
               drawn);
}

static void large_numbers_stay_in_their_columns(void)
{
    sample_view(&view);
    view.count = 1;
    view.nodes[0].iteration = UINT64_MAX;
    view.nodes[0].rate = 1e9;
    view.nodes[0].loss = 1e30;
    view.nodes[0].lag = UINT64_MAX;
    view.nodes[0].moved.up_bytes = view.nodes[0].moved.down_bytes = UINT64_MAX;
    view.nodes[0].round_trip = NEVER;
    CHECK_CONTAINS(" n1            many  1000M   1e+30   86.4  99+    many"
                   "     many    many  train\n",
                   draw(140, 0, false));
}

static void colours_are_for_rows_and_only_when_wanted(void)
{
    sample_view(&view);
    CHECK(!strchr(draw(100, 0, false), '\033'));
    CHECK_CONTAINS("\033[33m n3 ", draw(100, 0, true));
    CHECK_CONTAINS("\033[2m laborat~est-pc17", drawn);
    CHECK_CONTAINS("gone\033[0m\n", drawn);
}

static void hostile_names_reach_no_terminal(void)
{
    sample_view(&view);
    (void)snprintf(view.nodes[0].name, NODE_NAME_BYTES, "%s", HOSTILE_NAME);
    (void)snprintf(view.nodes[0].why, sizeof view.nodes[0].why, "a\033[31m");
    (void)snprintf(view.state, sizeof view.state,
                   "\x9b"
                   "2J\a");
    (void)draw(120, 0, false);
    CHECK_CONTAINS("\n ?[2J\"</~b>'\\????", drawn);
    CHECK_CONTAINS("last offer a?[31m\n", drawn);
    CHECK_CONTAINS(" hub     ?2J?\n", drawn);
}

static const char *print(void (*printer)(const struct table *, struct text *))
{
    struct table table = sample_table(&view);
    struct text text;

    text_init(&text, drawn, sizeof drawn);
    printer(&table, &text);
    CHECK(!text.cut);
    return drawn;
}

static void a_line_sums_the_run_up(void)
{
    sample_view(&view);
    CHECK_TEXT(
        "time=31 version=212 rounds=212 loss=0.2791 accuracy=0.8700 "
        "best_loss=0.2788 best_accuracy=0.8712 nodes=3 silent=1 "
        "gone=1 iterations=9820 "
        "pending=1.5 training=29.5 rate=1685.8 up_mb=2.940 down_mb=2.940 "
        "state=\"1 of 3 nodes have offered\"\n",
        print(table_line));
}

static void the_standard_error_is_shown_where_it_is_known(void)
{
    sample_view(&view);
    CHECK(strstr(print(table_line), "loss_error") == NULL);
    CHECK_CONTAINS("\"loss_error\":null,", print(table_json));
    view.error = 0.00412;
    CHECK_CONTAINS(" loss=0.2791 loss_error=0.0041 ", print(table_line));
    CHECK_CONTAINS("\"loss_error\":0.00412,", print(table_json));
    CHECK_CONTAINS("loss 0.279 +-0.0041  test", draw(160, 0, false));
}

static void what_became_of_chunks_is_counted(void)
{
    sample_view(&view);
    CHECK_CONTAINS("\"best_accuracy\":0.8712,\"best_version\":208,"
                   "\"chunks\":{\"merged\":1320,\"corrupt\":0,",
                   print(table_json));
    CHECK_CONTAINS(",\"stale\":3,", drawn);
    CHECK_CONTAINS("},\"preempted\":2,\"rollbacks\":1,", drawn);
}

static void tasks_are_shown_where_there_are_any(void)
{
    sample_view(&view);
    CHECK(strstr(print(table_json), "tasks") == NULL);
    view.task_epoch = 2;
    view.tasks = 40;
    view.tasks_doing = 3;
    view.tasks_done = 17;
    CHECK_CONTAINS("\"epoch\":2,\"tasks\":40,\"tasks_doing\":3,"
                   "\"tasks_done\":17,",
                   print(table_json));
    CHECK_CONTAINS(" epoch=2 tasks_done=17 tasks=40 ", print(table_line));
    CHECK_CONTAINS("epoch 3: 17 of 40 tasks done", draw(160, 0, false));
}

static void more_nodes_than_can_be_told_apart_are_counted(void)
{
    struct json_object *json, *more = NULL;

    sample_view(&view);
    while (view.count < SAMPLE_NODES)
        view.nodes[view.count++] = view.nodes[0];
    CHECK_EQUAL(SAMPLE_NODES, TABLE_NODES + 100);
    CHECK_EQUAL(TABLE_NODES + 8, count_lines(draw(80, 0, false)));
    CHECK_CONTAINS(" ... and 100 more\n", drawn);
    json = json_tokener_parse(print(table_json));
    CHECK(json_object_object_get_ex(json, "more_nodes", &more));
    CHECK_EQUAL(100, json_object_get_int(more));
    json_object_put(json);
}

static void json_is_one_line_that_a_reader_understands(void)
{
    struct json_object *json, *nodes = NULL, *name = NULL;
    char expected[100];

    sample_view(&view);
    view.count = TABLE_NODES;
    for (unsigned i = 0; i < TABLE_NODES; i++)
        (void)snprintf(view.nodes[i].name, NODE_NAME_BYTES, "%s", HOSTILE_NAME);
    CHECK_EQUAL(1, count_lines(print(table_json)));
    json = json_tokener_parse(drawn);
    if (!CHECK(json))
        return;
    CHECK(json_object_object_get_ex(json, "nodes", &nodes));
    CHECK_EQUAL(TABLE_NODES, json_object_array_length(nodes));
    CHECK(json_object_object_get_ex(json_object_array_get_idx(nodes, 0), "name",
                                    &name));
    (void)snprintf(expected, sizeof expected,
                   "\033[2J\"</td><b>'\\\r\n\xef\xbf\xbd\xe2\x80\x8b");
    CHECK_TEXT(expected, json_object_get_string(name));
    json_object_put(json);
}

/* What SDTL wrote to a CSV for each worker, here for all in one line. */
static void sd_18_a_line_of_json_has_what_a_row_of_the_csv_had(void)
{
    static const char *const of_the_run[] = {"elapsed", "training", "version",
                                             "rounds",  "loss",     "accuracy"};
    static const char *const of_a_node[] = {"name", "best",     "iterations",
                                            "loss", "accuracy", "waited"};
    struct json_object *json, *nodes = NULL, *node;

    sample_view(&view);
    (void)print(table_json);
    json = json_tokener_parse(drawn);
    if (!CHECK(json))
        return;
    CHECK(json_object_object_get_ex(json, "nodes", &nodes));
    node = json_object_array_get_idx(nodes, 0);
    for (unsigned i = 0; i < 6; i++) {
        CHECK(json_object_object_get_ex(json, of_the_run[i], NULL));
        CHECK(json_object_object_get_ex(node, of_a_node[i], NULL));
    }
    json_object_put(json);
}

static void json_has_null_for_what_is_not_known(void)
{
    sample_view(&view);
    (void)print(table_json);
    CHECK_CONTAINS("{\"time\":\"2026-11-21T13:00:00Z\",\"event\":\"status\","
                   "\"elapsed\":31,\"pending\":1.5,\"training\":29.5,"
                   "\"eta\":null,\"version\":212,",
                   drawn);
    CHECK_CONTAINS("\"loss\":0.2943,\"accuracy\":0.8641,\"lag\":1,", drawn);
    CHECK_CONTAINS("\"loss\":null,\"accuracy\":null,\"lag\":4000,", drawn);
    CHECK_CONTAINS("\"last_offer\":\"expired\"}", drawn);
}

static void the_end_is_told_with_its_spread_or_as_not_known(void)
{
    sample_view(&view);
    view.has_end = true;
    CHECK_CONTAINS("208)  rounds 212\n time    31 s, end not known yet\n hub ",
                   draw(140, 0, false));
    CHECK(count_lines(draw(80, 11, false)) < 11);
    view.eta_by = ETA_GOAL;
    view.eta = (struct eta_left){true, 125, 10};
    CHECK_CONTAINS(" time    31 s, about 2 min 5 s left +- 10 s (goal)\n",
                   draw(80, 0, false));
    view.ending = true;
    CHECK(!strstr(draw(80, 0, false), "about"));
    CHECK_CONTAINS(" left=125.0 left_spread=10.0 left_by=goal",
                   print(table_line));
    CHECK_CONTAINS("\"eta\":{\"by\":\"goal\",\"seconds\":125,"
                   "\"spread\":10,\"at_most\":false}",
                   print(table_json));
    view.ending = false;
    view.eta_by = ETA_TIME;
    view.eta_at_most = true;
    CHECK_CONTAINS(" time    31 s, at most 2 min 5 s left", draw(80, 0, false));
    CHECK_CONTAINS(" left_by=time left_at_most=true", print(table_line));
    CHECK_CONTAINS("\"at_most\":true}", print(table_json));
}

void add_report_table_tests(CU_pSuite suite)
{
    TEST(a_wide_terminal_shows_all_columns);
    TEST(eighty_columns_leave_out_what_is_needed_least);
    TEST(forty_columns_still_show_the_loss);
    TEST(no_line_is_wider_than_the_terminal);
    TEST(the_end_is_told_with_its_spread_or_as_not_known);
    TEST(more_nodes_than_can_be_told_apart_are_counted);
    TEST(a_low_terminal_shows_fewer_nodes_and_says_so);
    TEST(what_is_not_known_is_not_shown);
    TEST(large_numbers_stay_in_their_columns);
    TEST(colours_are_for_rows_and_only_when_wanted);
    TEST(hostile_names_reach_no_terminal);
    TEST(a_line_sums_the_run_up);
    TEST(the_standard_error_is_shown_where_it_is_known);
    TEST(what_became_of_chunks_is_counted);
    TEST(tasks_are_shown_where_there_are_any);
    TEST(json_is_one_line_that_a_reader_understands);
    TEST(sd_18_a_line_of_json_has_what_a_row_of_the_csv_had);
    TEST(json_has_null_for_what_is_not_known);
}
