#include "sim/program/program.h"

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
    outcome =
        IMPORT("csv", in, "--quantity", "delay", "--node", "n1", "-o", out);
    CHECK_EQUAL(0, outcome.code);
    CHECK_TEXT("", outcome.out);
    CHECK_TEXT("", outcome.err);
    command_free(&outcome);
    text = file_content(out, &size);
    CHECK_TEXT("starswitch-trace 1\nspan 2s\n0s n1 delay 5ms\n"
               "1s n1 delay 6ms\nend\n",
               text);
    free(text);
    outcome = EXPORT("csv", out);
    CHECK_EQUAL(0, outcome.code);
    CHECK_CONTAINS("\n1,n1,delay,0.006,", outcome.out);
    command_free(&outcome);
    folder_remove(&folder);
}

static void check_import(const struct folder *folder, const char *kind,
                         const char *bytes, const char *says)
{
    const char *in = folder_file(folder, "in");
    char line[200];
    struct command outcome;

    CHECK(file_fill(in, bytes, strlen(bytes)));
    (void)snprintf(line, sizeof line, "import %s %s --quantity delay", kind,
                   in);
    outcome = command_line(folder, sim_import, line);
    CHECK(outcome.code != 0);
    CHECK_TEXT("", outcome.out);
    CHECK_CONTAINS(says, outcome.err);
    command_free(&outcome);
}

static void what_must_be_done_first_is_said(void)
{
    struct folder folder;

    if (!CHECK(folder_new(&folder)))
        return;
    check_import(&folder, "csv", "\x1f\x8b\x08",
                 "unpack it first, with gunzip");
    check_import(&folder, "ping",
                 "\xfd"
                 "7zXZ",
                 "unpack it first, with unxz");
    check_import(&folder, "flent", "{", "flent -f csv");
    check_import(&folder, "iperf3", "Connecting to host hub\n",
                 "iperf3 -c HUB -J");
    folder_remove(&folder);
}

static void two_imports_are_joined(void)
{
    struct folder folder;
    struct command outcome;
    char in[80], out[80];

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(in, sizeof in, "%s", folder_file(&folder, "in"));
    (void)snprintf(out, sizeof out, "%s", folder_file(&folder, "out"));
    CHECK(file_fill(in, "100\n200\n", 8));
    outcome = IMPORT("mahimahi", in, "--quantity", "up", "-o", out);
    CHECK_EQUAL(0, outcome.code);
    command_free(&outcome);
    outcome = IMPORT("mahimahi", in, "--quantity", "down", "--join", out);
    CHECK_EQUAL(0, outcome.code);
    CHECK_CONTAINS("* up ", outcome.out);
    CHECK_CONTAINS("* down ", outcome.out);
    command_free(&outcome);
    outcome = IMPORT("mahimahi", in, "--quantity", "up", "--join", out);
    CHECK(outcome.code != 0);
    CHECK_CONTAINS("both traces say something of up", outcome.err);
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
    check_refused(IMPORT("ping", in, "more"), 64,
                  "It takes one kind and one file");
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

void add_sim_program_trace_tests(CU_pSuite suite)
{
    TEST(a_measurement_becomes_a_trace_and_a_table);
    TEST(what_must_be_done_first_is_said);
    TEST(two_imports_are_joined);
    TEST(help_names_every_kind);
    TEST(what_cannot_be_is_refused_in_a_sentence);
}
