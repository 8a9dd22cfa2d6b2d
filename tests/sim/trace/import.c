/* Mahimahi's packets and tables of two columns. */
#include "sim/trace/import.h"
#include "sim/trace/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

/* Refused by an importer, and what the sentence must have. */
struct refusal {
    const char *text, *says;
};

static void check_refusals(const char *importer, const struct refusal *refused,
                           size_t count, const struct import_options *options)
{
    for (size_t i = 0; i < count; i++) {
        char *text = imported(importer, refused[i].text, options);

        CHECK_CONTAINS(refused[i].says, text);
        free(text);
    }
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- Mahimahi ---- */

/* Bytes that a link has carried, from 0 to the trace's span. */
static double carried(const struct trace *trace)
{
    double bytes = 0;

    for (nanos now = 0, next; now < trace->span; now = next) {
        next = trace_next_change(trace, NULL, QUANTITY_UP, now);
        if (next > trace->span)
            next = trace->span;
        bytes += (double)trace_at(trace, NULL, QUANTITY_UP, now) *
                 (double)(next - now) / (double)SECOND;
    }
    return bytes;
}

static void packets_are_counted_in_tenths_of_a_second(void)
{
    const struct import_options up = {.node = "n1",
                                      .quantities = 1U << QUANTITY_UP};
    char *text = imported("mahimahi", "50\n100\n101\n350\n400\n", &up);

    CHECK_TEXT("starswitch-trace 1\nspan 0.4s\n"
               "0s n1 up 30080B\n"
               "0.1s n1 up 15040B\n"
               "0.2s n1 up 0\n"
               "0.3s n1 up 30080B\n"
               "end\n",
               text);
    free(text);
}

static void both_directions_unless_one_is_named(void)
{
    char *text = imported("mahimahi", "0\n1\n", NULL);

    CHECK_TEXT("starswitch-trace 1\nspan 0.001s\n0s * up 3008kB\n"
               "0s * down 3008kB\nend\n",
               text);
    free(text);
}

static void every_packet_is_carried(void)
{
    const struct import_options options = {.node = TRACE_ALL};

    for (uint64_t seed = 0; seed < 20; seed++) {
        struct prng prng;
        char log[4096];
        struct text text;
        uint64_t at = 0;
        struct trace *trace;

        prng_seed(&prng, seed);
        text_init(&text, log, sizeof log);
        for (int i = 0; i < 200; i++) {
            at += prng_below(&prng, 2) ? prng_below(&prng, 300) : 1;
            text_add(&text, "%llu\n", (unsigned long long)at);
        }
        trace = import_exactly(importer_find("mahimahi"), log, text.length,
                               &options, NULL);
        if (CHECK(trace != NULL)) {
            CHECK_EQUAL(at * (uint64_t)MILLISECOND, trace->span);
            CHECK_NEAR(200 * 1504, carried(trace), 0.1 * 600);
        }
        trace_destroy(&trace);
    }
}

static void what_is_no_list_of_packets_is_refused_by_its_line(void)
{
    static const struct refusal refused[] = {
        {"", "line 0: the file ends without a packet later than 0 ms"},
        {"0\n", "line 1: the file ends without a packet"},
        {"1\n2", "line 2 is cut off"},
        {"1\nx\n", "line 2: 'x' is not a whole number"},
        {"1\n-2\n", "line 2: '-2' is not a whole number"},
        {"1\n2.5\n", "line 2: '2.5' is not a whole number"},
        {"1\n99999999999999999999\n", "line 2: '99999999999999999999' is not"},
        {"1\n9999999999999\n", "line 2: '9999999999999' is not a whole"},
        {"1 2\n", "line 1: more than one number"},
        {"5\n4\n", "line 2: the time goes back"},
    };
    const struct import_options delay = {.node = TRACE_ALL,
                                         .quantities = 1U << QUANTITY_DELAY};

    check_refusals("mahimahi", refused, LENGTH(refused), NULL);
    check_refusals("mahimahi",
                   &(struct refusal){"1\n", "--quantity is rate, up or down"},
                   1, &delay);
    check_damage(importer_find("mahimahi"), "5\n9\n100\n101\n101\n750\n1000\n",
                 2000);
}

/* ---- two columns ---- */

static void two_columns_are_a_time_and_a_value(void)
{
    const struct import_options delay = {.node = "n1",
                                         .quantities = 1U << QUANTITY_DELAY};
    char *text = imported("csv",
                          "\"time\",\"delay\"\r\n"
                          "1700000000.25,0.0123456789\r\n"
                          "1700000000.5, 5ms\r\n"
                          "1700000001,\"0\"\r\n",
                          &delay);

    CHECK_TEXT("starswitch-trace 1\nspan 1.25s\n"
               "0s n1 delay 12345679ns\n"
               "0.25s n1 delay 5ms\n"
               "0.75s n1 delay 0s\n"
               "end\n",
               text);
    free(text);
}

static void a_rate_is_of_both_directions(void)
{
    const struct import_options rate = {.node = TRACE_ALL,
                                        .quantities = 1U << QUANTITY_UP |
                                                      1U << QUANTITY_DOWN};
    char *text = imported("csv", "0;1e6\n1.5s;100Mbit\n", &rate);

    CHECK_TEXT("starswitch-trace 1\nspan 3s\n"
               "0s * up 1MB\n1.5s * up 100Mbit\n"
               "0s * down 1MB\n1.5s * down 100Mbit\nend\n",
               text);
    free(text);
}

static void what_is_no_table_is_refused_by_its_line(void)
{
    static const struct refusal refused[] = {
        {"", "line 0: the file ends without a row"},
        {"time,rate\n", "line 1: the file ends without a row"},
        {"rate,Time\n1,2\n", "line 1: the second column is 'Time', and"},
        {"0,1\n1,2", "line 2 is cut off"},
        {"0\n", "line 1: 1 columns, not two"},
        {"0,1,2\n", "line 1: 3 columns, not two: say which with --column"},
        {"0,1\n100,2\n200,3\n", "a row in 100 s, as times without a unit"},
        {"1700000000123,1\n", "line 1: '1700000000123': that would be seconds"},
        {"0,1\nx,2\n", "line 2: 'x': expected a time"},
        {"0,1\n1,x\n", "line 2: 'x': expected a rate"},
        {"0,1\n1,\n", "line 2: '': expected a rate"},
        {"0,1\n1,-5\n", "line 2: '-5': is negative"},
        {"0,1\n1,5ms\n", "line 2: '5ms': expected a rate"},
        {"0,1\n0,2\n", "line 2: its time is not after"},
        {"5,1\n4,2\n", "line 2: its time is before"},
        {"0,1\n9e9,2\n", "line 2: its time is before that of"},
    };
    const struct import_options rate = {.node = TRACE_ALL,
                                        .quantities = 1U << QUANTITY_UP};

    check_refusals("csv", refused, LENGTH(refused), &rate);
    check_refusals("csv", &(struct refusal){"0,1\n", "--quantity rate or"}, 1,
                   NULL);
    check_damage(importer_find("csv"),
                 "time;rate\n0;1e6\n1.5s;\"100Mbit\"\n"
                 "2.25, 5MB\n3\t0\n",
                 2000);
}

/* A table as other programs write it. */
static const char wide[] = "when,up (Mbit),round trip\n"
                           "2026-11-22T15:04:05.5Z,1.5,12\n"
                           "2026-11-22 16:04:06+01:00,2.0000001,11.123456789\n";

static void columns_are_chosen_by_name_or_number(void)
{
    const struct import_options names = {"n1", 1U << QUANTITY_UP,
                                         "when,up (Mbit)", NULL, "Mbit"};
    const struct import_options number = {"n1", 1U << QUANTITY_DELAY, "3", NULL,
                                          "ms"};
    const struct import_options none = {"n1", 1U << QUANTITY_UP, "speed", NULL,
                                        NULL};
    char *text = imported("csv", wide, &names);

    CHECK_TEXT("starswitch-trace 1\nspan 1s\n"
               "0s n1 up 187500B\n"
               "0.5s n1 up 2Mbit\nend\n",
               text);
    free(text);
    text = imported("csv", wide, &number);
    CHECK_TEXT("starswitch-trace 1\nspan 1s\n"
               "0s n1 delay 12ms\n"
               "0.5s n1 delay 11123457ns\nend\n",
               text);
    free(text);
    text = imported("csv", wide, &none);
    CHECK_CONTAINS("line 1: there is no column 'speed'; its columns are "
                   "when, up (Mbit), round trip",
                   text);
    free(text);
}

static void tables_as_other_programs_write_them_are_read(void)
{
    static const char wanted[] = "starswitch-trace 1\nspan 2s\n"
                                 "0s * down 10Mbit\n1s * down 20Mbit\nend\n";
    static const char *const tables[] = {
        "time,Mbps\n0,10\n1,20\n", "\xef\xbb\xbftime;Mbit/s\n0;10\n1;20\n",
        "Time,mbps\n0,10\n1,20\n"};
    static const struct import_options ways[] = {
        {TRACE_ALL, 1U << QUANTITY_DOWN, NULL, NULL, NULL},
        {TRACE_ALL, 1U << QUANTITY_DOWN, NULL, NULL, "mbps"},
        {TRACE_ALL, 1U << QUANTITY_DOWN, "TIME,2", NULL, NULL}};

    for (size_t i = 0; i < 9; i++) {
        char *text = imported("csv", tables[i / 3], &ways[i % 3]);

        CHECK_TEXT(wanted, text);
        free(text);
    }
}

static void what_has_no_unit_has_the_one_that_was_said(void)
{
    const struct import_options delay = {TRACE_ALL, 1U << QUANTITY_DELAY, NULL,
                                         "ms", "us"};
    const struct import_options unsaid = {TRACE_ALL, 1U << QUANTITY_DELAY, NULL,
                                          NULL, NULL};
    char *text =
        imported("csv", "100,250\n200,1.5ms\n300,0.0000000125s\n", &delay);

    CHECK_TEXT("starswitch-trace 1\nspan 0.3s\n"
               "0s * delay 250us\n0.1s * delay 1500us\n"
               "0.2s * delay 13ns\nend\n",
               text);
    free(text);
    text = imported("csv", "0,12.5\n1,13\n", &unsaid);
    CHECK_CONTAINS("line 1: '12.5': that would be seconds", text);
    CHECK_CONTAINS("say --unit ms", text);
    free(text);
}

static void two_files_become_one_trace(void)
{
    struct trace *up = trace_of("starswitch-trace 1\nspan 2s\n"
                                "0s n1 up 1MB\n1s n1 up 2MB\nend\n");
    struct trace *down = trace_of("starswitch-trace 1\nspan 3s\n"
                                  "0s n1 down 3MB\n"
                                  "2s n1 iteration done=20\nend\n");
    struct trace *both = NULL, *none = NULL;
    struct why why = {""};
    char *text;

    if (CHECK_OK(trace_join(up, down, &both, &why))) {
        text = text_of_trace(both);
        CHECK_TEXT("starswitch-trace 1\nspan 3s\n"
                   "0s n1 up 1MB\n1s n1 up 2MB\n2s n1 up 1MB\n"
                   "0s n1 down 3MB\n2s n1 iteration done=20\nend\n",
                   text);
        free(text);
    }
    CHECK_STATUS(STATUS_CONFIG, trace_join(both, up, &none, &why));
    CHECK_CONTAINS("both traces say something of up of n1", why.text);
    trace_destroy(&up);
    trace_destroy(&down);
    trace_destroy(&both);
}

/* ---- all ---- */

static void quantities_are_named_as_in_a_trace(void)
{
    unsigned bits = 0;

    CHECK(import_quantities("rate", &bits));
    CHECK_EQUAL(1U << QUANTITY_UP | 1U << QUANTITY_DOWN, bits);
    for (unsigned i = 0; i < QUANTITIES; i++) {
        CHECK(import_quantities(quantities[i].name, &bits));
        CHECK_EQUAL(1U << i, bits);
    }
    CHECK(!import_quantities("speed", &bits));
}

static void a_name_that_is_none_is_refused(void)
{
    const struct import_options options = {.node = "a b",
                                           .quantities = 1U << QUANTITY_UP};

    for (unsigned i = 0; i < importer_count; i++) {
        char *text = imported(importers[i].name, "", &options);

        CHECK_CONTAINS(strcmp(importers[i].name, "record") == 0
                           ? "line 0"
                           : "a node's name has",
                       text);
        free(text);
    }
    CHECK(!importer_find("pcap"));
}

void add_sim_trace_import_tests(CU_pSuite suite)
{
    TEST(packets_are_counted_in_tenths_of_a_second);
    TEST(both_directions_unless_one_is_named);
    TEST(every_packet_is_carried);
    TEST(what_is_no_list_of_packets_is_refused_by_its_line);
    TEST(two_columns_are_a_time_and_a_value);
    TEST(a_rate_is_of_both_directions);
    TEST(what_is_no_table_is_refused_by_its_line);
    TEST(columns_are_chosen_by_name_or_number);
    TEST(tables_as_other_programs_write_them_are_read);
    TEST(what_has_no_unit_has_the_one_that_was_said);
    TEST(two_files_become_one_trace);
    TEST(quantities_are_named_as_in_a_trace);
    TEST(a_name_that_is_none_is_refused);
}
