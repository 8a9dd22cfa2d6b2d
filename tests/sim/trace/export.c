#include "sim/trace/export.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

/* The node of the sample, as JSON has it. */
#define AB "\"node\":\"a,\\\"b\","

static const char sample[] = "starswitch-trace 1\n"
                             "span 60s\n"
                             "0s * up 100Mbit\n"
                             "0.5s a,\"b loss 0.001\n"
                             "0s a,\"b delay 1500us\n"
                             "1s a,\"b iteration done=20\n"
                             "1.5s a,\"b iteration done=40\n"
                             "3.2s a,\"b offer exchange=1 iteration=20\n"
                             "3.2s a,\"b upload exchange=1 chunks=8 bytes=99 "
                             "until=3.4s\n"
                             "end\n";

static char *exported(const char *name)
{
    struct trace *trace = parse_exactly(sample, strlen(sample), NULL);
    struct text_buffer buffer = {.text = NULL};
    const struct trace_sink sink = text_buffer_sink(&buffer);

    if (CHECK(trace != NULL))
        CHECK_OK(exporter_find(name)->export(trace, &sink, NULL));
    trace_destroy(&trace);
    return buffer.text;
}

static void a_table_has_a_row_for_each_line(void)
{
    char *text = exported("csv");

    CHECK_TEXT("time,node,what,value,until,done,exchange,iteration,chunks,"
               "bytes,version\n"
               "0,*,up,12500000,,,,,,,\n"
               "0,\"a,\"\"b\",delay,0.0015,,,,,,,\n"
               "0.5,\"a,\"\"b\",loss,0.001,,,,,,,\n"
               "1,\"a,\"\"b\",iteration,,,20,,,,,\n"
               "1.5,\"a,\"\"b\",iteration,,,40,,,,,\n"
               "3.2,\"a,\"\"b\",offer,,,,1,20,,,\n"
               "3.2,\"a,\"\"b\",upload,,3.4,,1,,8,99,\n",
               text);
    free(text);
}

static void json_lines_have_an_object_for_each_line(void)
{
    char *text = exported("json");

    CHECK_TEXT(
        "{\"format\":\"starswitch-trace 1\",\"span\":60}\n"
        "{\"time\":0,\"node\":\"*\",\"what\":\"up\",\"value\":12500000}\n"
        "{\"time\":0," AB "\"what\":\"delay\",\"value\":0.0015}\n"
        "{\"time\":0.5," AB "\"what\":\"loss\",\"value\":0.001}\n"
        "{\"time\":1," AB "\"what\":\"iteration\",\"done\":20}\n"
        "{\"time\":1.5," AB "\"what\":\"iteration\",\"done\":40}\n"
        "{\"time\":3.2," AB "\"what\":\"offer\",\"exchange\":1,"
        "\"iteration\":20}\n"
        "{\"time\":3.2," AB "\"what\":\"upload\",\"until\":3.4,"
        "\"exchange\":1,\"chunks\":8,\"bytes\":99}\n",
        text);
    free(text);
}

static const char *member(struct json_object *object, const char *name)
{
    struct json_object *value = json_object_object_get(object, name);

    return value ? json_object_get_string(value) : NULL;
}

/* The first event of a phase and a name. */
static struct json_object *find(struct json_object *events, const char *phase,
                                const char *name)
{
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);

        if (strcmp(member(event, "ph"), phase) == 0 &&
            strcmp(member(event, "name"), name) == 0)
            return event;
    }
    return NULL;
}

static void a_timeline_has_rows_of_bars_and_points(void)
{
    char *text = exported("timeline");
    struct json_object *root = json_tokener_parse(text);
    struct json_object *events =
        root ? json_object_object_get(root, "traceEvents") : NULL;

    free(text);
    if (!CHECK(events != NULL))
        return;
    /* 3 values, 4 events; names of 2 processes and 3 rows. */
    CHECK_EQUAL(3 + 4 + 2 + 3, json_object_array_length(events));
    CHECK_TEXT("3200000.000", member(find(events, "X", "upload"), "ts"));
    CHECK_TEXT("200000.000", member(find(events, "X", "upload"), "dur"));
    CHECK_TEXT("1000000.000", member(find(events, "i", "iteration"), "ts"));
    CHECK_TEXT("1000000.000", member(find(events, "X", "iteration"), "ts"));
    CHECK_TEXT("500000.000", member(find(events, "X", "iteration"), "dur"));
    CHECK_TEXT("3200000.000", member(find(events, "i", "offer"), "ts"));
    CHECK_TEXT("{ \"up\": 12500000 }", member(find(events, "C", "up"), "args"));
    CHECK_TEXT("{ \"name\": \"all nodes\" }",
               member(find(events, "M", "process_name"), "args"));
    json_object_put(root);
}

static bool all_lines_are_json(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        struct json_object *object = json_tokener_parse(line);
        bool good = json_object_is_type(object, json_type_object) != 0;

        json_object_put(object);
        free(line);
        if (!good)
            return false;
        text += length + 1;
    }
    return true;
}

static void any_trace_can_be_exported(void)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        struct text_buffer buffer[2] = {{.text = NULL}, {.text = NULL}};
        const struct trace_sink lines = text_buffer_sink(&buffer[0]);
        const struct trace_sink whole = text_buffer_sink(&buffer[1]);
        struct json_object *root;
        struct prng prng;
        struct trace *trace;

        prng_seed(&prng, seed);
        trace = random_trace(&prng);
        CHECK_OK(export_json(trace, &lines, NULL));
        CHECK_OK(export_timeline(trace, &whole, NULL));
        CHECK(all_lines_are_json(buffer[0].text));
        root = json_tokener_parse(buffer[1].text);
        CHECK(root != NULL);
        json_object_put(root);
        text_buffer_free(&buffer[0]);
        text_buffer_free(&buffer[1]);
        trace_destroy(&trace);
    }
}

static void a_sink_that_is_full_is_an_error(void)
{
    struct trace *trace = parse_exactly(sample, strlen(sample), NULL);

    for (unsigned i = 0; trace && i < exporter_count; i++)
        for (size_t most = 1; most < 200; most++) {
            struct text_buffer buffer = {.most = most};
            const struct trace_sink sink = text_buffer_sink(&buffer);
            struct why why = {""};

            CHECK_STATUS(STATUS_IO, exporters[i].export(trace, &sink, &why));
            CHECK_CONTAINS("cannot be written", why.text);
            text_buffer_free(&buffer);
        }
    trace_destroy(&trace);
    CHECK(!exporter_find("pcap"));
}

void add_sim_trace_export_tests(CU_pSuite suite)
{
    TEST(a_table_has_a_row_for_each_line);
    TEST(json_lines_have_an_object_for_each_line);
    TEST(a_timeline_has_rows_of_bars_and_points);
    TEST(any_trace_can_be_exported);
    TEST(a_sink_that_is_full_is_an_error);
}
