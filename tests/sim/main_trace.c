#include "sim/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/command.h"

#define CALL(function, ...)                                                    \
    command_call(&folder, function,                                            \
                 (const char *const[COMMAND_WORDS]){__VA_ARGS__})
#define IMPORT(...) CALL(sim_import, "import", __VA_ARGS__)
#define EXPORT(...) CALL(sim_export, "export", __VA_ARGS__)

static void a_measurement_becomes_a_trace_and_a_table(void)
{
    struct folder folder;
    struct command outcome;
    char *text;
    size_t size;
    char in[80], out[80];

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(in, sizeof in, "%s", folder_file(&folder, "in"));
    (void)snprintf(out, sizeof out, "%s", folder_file(&folder, "out"));
    CHECK(file_fill(in, "0,5ms\n1,6ms\n", 12));
    outcome = IMPORT("csv", in, "--quantity", "delay", "--node", "n1", "-o",
                     out);
    CHECK_EQUAL(0, outcome.code);
    CHECK_TEXT("", outcome.out);
    CHECK_TEXT("", outcome.err);
    command_free(&outcome);
    text = file_content(out, &size);
    CHECK_TEXT("starswitch-trace 1\nspan 2s\n0s n1 delay 5ms\n"
               "1s n1 delay 6ms\nend\n", text);
    free(text);
    outcome = EXPORT("csv", out);
    CHECK_EQUAL(0, outcome.code);
    CHECK_CONTAINS("\n1,n1,delay,0.006,", outcome.out);
    command_free(&outcome);
    folder_remove(&folder);
}

static void help_names_every_kind(void)
{
    struct folder folder;
    struct command outcome;

    if (!CHECK(folder_new(&folder)))
        return;
    outcome = IMPORT("--help");
    CHECK_EQUAL(0, outcome.code);
    CHECK_CONTAINS("mahimahi", outcome.out);
    CHECK_CONTAINS(" up, down, delay, jitter, loss, step or score",
                   outcome.out);
    command_free(&outcome);
    outcome = EXPORT("--help");
    CHECK_EQUAL(0, outcome.code);
    CHECK_CONTAINS("timeline", outcome.out);
    command_free(&outcome);
    folder_remove(&folder);
}

static void check_refused(struct command outcome, int code, const char *says)
{
    CHECK_EQUAL(code, outcome.code);
    CHECK_TEXT("", outcome.out);
    CHECK_CONTAINS("starswitch-sim: ", outcome.err);
    CHECK_CONTAINS(says, outcome.err);
    CHECK(strchr(outcome.err, '\n') == strrchr(outcome.err, '\n'));
    command_free(&outcome);
}

static void what_cannot_be_is_refused_in_a_sentence(void)
{
    struct folder folder;
    char in[80];

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(in, sizeof in, "%s", folder_file(&folder, "in"));
    CHECK(file_fill(in, "1\nx\n", 4));
    check_refused(IMPORT(NULL), 64, "say which kind and which file");
    check_refused(IMPORT("ping"), 64, "say which kind and which file");
    check_refused(IMPORT("pcap", in), 64, "there are ping, iperf3, mahimahi");
    check_refused(IMPORT("ping", in, "more"), 64, "one word too many");
    check_refused(IMPORT("ping", in, "--fast"), 64, "no option '--fast'");
    check_refused(IMPORT("ping", in, "-o"), 64, "-o needs a value");
    check_refused(IMPORT("csv", in, "--quantity", "x"), 64, "--quantity is");
    check_refused(IMPORT("csv", in), 64, "--quantity rate");
    check_refused(IMPORT("ping", "/nowhere/in"), 74, "/nowhere/in");
    check_refused(IMPORT("ping", "/"), 74, "Is a directory");
    check_refused(IMPORT("mahimahi", in), 74, "in: line 2: 'x' is not");
    check_refused(EXPORT("csv", in), 74, "in: line 1 is not");
    check_refused(EXPORT("pcap", in), 64, "there are csv, json, timeline");
    check_refused(EXPORT("csv", in, "--node", "n"), 64, "no option '--node'");
    CHECK(file_fill(in, "1\n", 2));
    check_refused(IMPORT("mahimahi", in, "-o", "/nowhere/out"), 74,
                  "/nowhere/out");
    folder_remove(&folder);
}

void add_sim_main_trace_tests(CU_pSuite suite)
{
    TEST(a_measurement_becomes_a_trace_and_a_table);
    TEST(help_names_every_kind);
    TEST(what_cannot_be_is_refused_in_a_sentence);
}
