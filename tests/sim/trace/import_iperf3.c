#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

#define SUM(name, start, end, bits, omitted, sender)                           \
    "\"" name "\":{\"start\":" start ",\"end\":" end ",\"seconds\":1,"         \
    "\"bytes\":1,\"bits_per_second\":" bits ",\"retransmits\":0,"              \
    "\"omitted\":" omitted sender "}"
#define STREAM                                                                 \
    "\"streams\":[{\"socket\":5,\"start\":7,\"end\":8,"                        \
    "\"bits_per_second\":1e3,\"sender\":false}]"
#define UP ",\"sender\":true"
#define DOWN ",\"sender\":false"

/* In the form of iperf3 3.16; its first second is to be omitted. */
static const char sample[] =
    "{\n\t\"start\":\t{\n"
    "\t\t\"version\":\t\"iperf 3.16\",\n"
    "\t\t\"system_info\":\t\"Linux \\\"a\\\" \\u0041\",\n"
    "\t\t\"test_start\":\t{ \"protocol\": \"TCP\", \"reverse\": 0 }\n"
    "\t},\n"
    "\t\"intervals\":\t[{\n\t" STREAM ",\n\t" SUM(
        "sum", "0", "1.000255", "1227463.0108389636", "true",
        UP) "\n"
            "\t}, {\n\t" STREAM ",\n\t" SUM(
                "sum", "6.1e-05", "1.002945", "62726006.787458353", "false",
                UP) ",\n\t" SUM("sum_bidir_reverse", "6.1e-05", "1.002945",
                                "8E7", "false",
                                DOWN) "\n"
                                      "\t}, {\n\t" STREAM ",\n\t" SUM(
                                          "sum", "1.002945", "2.000254", "0",
                                          "false",
                                          UP) ",\n\t" SUM("sum_bidir_reverse",
                                                          "1.002945",
                                                          "2.000061",
                                                          "80000000", "false",
                                                          DOWN) "\n\t}],\n"
                                                                "\t\"end\":\t{ "
                                                                "\"sum_sent\": "
                                                                "{\"start\":0,"
                                                                "\"bits_per_"
                                                                "second\":5} "
                                                                "}\n}\n";

static void intervals_are_rates_up_and_down(void)
{
    char *text = imported("iperf3", sample, NULL);

    CHECK_TEXT("starswitch-trace 1\n"
               "span 2.000193s\n"
               "0s * up 7840751B\n"
               "1.002884s * up 0\n"
               "0s * down 10MB\n"
               "end\n",
               text);
    free(text);
}

/* Up to 3.11, --bidir wrote the key `sum` twice. */
static void a_key_that_stands_twice_is_read_twice(void)
{
    char *text = imported(
        "iperf3",
        "{\"intervals\":[{" SUM("sum", "0", "1", "8e6", "false", UP) "," SUM(
            "sum", "0", "1", "16e6", "false", DOWN) "}]}\n",
        NULL);

    CHECK_TEXT("starswitch-trace 1\nspan 1s\n0s * up 1MB\n0s * down 2MB\n"
               "end\n",
               text);
    free(text);
}

/* Before it said who sends, only the start tells that it was in reverse. */
static void an_old_run_in_reverse_goes_down(void)
{
    char *text = imported(
        "iperf3",
        "{\"start\":{\"test_start\":{\"reverse\":1}},\"intervals\":[{" SUM(
            "sum", "0", "1", "8e6", "false", "") "}]}",
        NULL);

    CHECK_TEXT("starswitch-trace 1\nspan 1s\n0s * down 1MB\nend\n", text);
    free(text);
}

static const struct {
    const char *text, *says;
} refused[] = {
    {"", "line 1: the file ends within its JSON: it is cut off"},
    {"{}", "line 1: the JSON ends without an interval"},
    {"\n{\"a\":[1,\n2", "line 3: the file ends within its JSON"},
    {"{}\n{}", "line 2: not JSON: something stands behind its end"},
    {"Connecting to host hub\n", "let iperf3 write it, iperf3 -c HUB -J"},
    {"{\"a\":1,}", "line 1: not JSON: a text in quotes is expected"},
    {"{\"a\" 1}", "line 1: not JSON: a colon"},
    {"[1 2]", "line 1: not JSON: a comma or a closing bracket"},
    {"[1,]", "line 1: not JSON: a value is expected"},
    {"[1}", "line 1: not JSON: a comma or a closing"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "too deep in each other"},
    {"{\"error\":\"unable to connect: \\\"x\\\"\"}",
     "line 1: iperf3 has failed: unable to connect"},
    {"{\"intervals\":[{\"sum\":{\"start\":0}}]}",
     "line 1: an interval without start, end or bits_per_second"},
    {"{\"intervals\":[{\"sum\":{\"start\":-1}}]}", "line 1: '-1' is no number"},
    {"{\"intervals\":[{" SUM("sum", "5", "4", "8", "false", UP) "}]}",
     "line 1: the interval's time goes back"},
    {"{\"intervals\":[\n{" SUM("sum", "0", "1", "8", "false", UP) "},\n{" SUM(
         "sum", "0", "1", "9", "false", UP) "}]}",
     "line 3: its time is not after that"},
};

static void what_iperf3_does_not_print_is_refused_by_its_line(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = imported("iperf3", refused[i].text, NULL);

        CHECK_CONTAINS(refused[i].says, text);
        free(text);
    }
}

/* All of it but the newline is needed. */
static void every_beginning_of_the_json_is_refused(void)
{
    const struct import_options options = {.node = TRACE_ALL};

    for (size_t i = 0; i + 1 < strlen(sample); i++) {
        struct why why = {""};
        struct trace *trace =
            import_exactly(importer_find("iperf3"), sample, i, &options, &why);

        CHECK(!trace);
        CHECK_CONTAINS("line ", why.text);
        trace_destroy(&trace);
    }
}

static void damaged_json_is_refused_or_read(void)
{
    check_damage(importer_find("iperf3"), sample, 3000);
}

void add_sim_trace_import_iperf3_tests(CU_pSuite suite)
{
    TEST(intervals_are_rates_up_and_down);
    TEST(a_key_that_stands_twice_is_read_twice);
    TEST(an_old_run_in_reverse_goes_down);
    TEST(what_iperf3_does_not_print_is_refused_by_its_line);
    TEST(every_beginning_of_the_json_is_refused);
    TEST(damaged_json_is_refused_or_read);
}
