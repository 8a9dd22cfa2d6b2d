/* Files that starswitch-sim writes. Reports of one run and of several are made
 * while the simulated star is there, and say what its nodes were called. */
#include "sim/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/check.h"
#include "tests/sim/command.h"

#define STAR "--nodes 3 --params 100k --step-time 50ms --goal 0.2"

static void check_report(int (*command)(int count, char **words),
                         const char *line, int code, const char *const words[])
{
    struct folder folder;
    struct command left;
    char whole[600], *page;
    size_t size = 0;

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(whole, sizeof whole, "%s --report %s", line,
                   folder_file(&folder, "page.html"));
    left = command_line(&folder, command, whole);
    CHECK_EQUAL(code, left.code);
    page = file_content(folder_file(&folder, "page.html"), &size);
    for (; page && *words; words++)
        CHECK_CONTAINS(*words, page);
    CHECK(page != NULL && strstr(page, "</html>") != NULL);
    free(page);
    command_free(&left);
    folder_remove(&folder);
}

static void the_report_of_a_run_names_its_nodes(void)
{
    static const char *const words[] = {"n1", "n2", "n3", "<svg", NULL};

    check_report(sim_run, "run " STAR, 0, words);
}

static void the_report_of_a_run_by_scenario_does_too(void)
{
    static const char *const words[] = {"n1", "n2", "n3", "<svg", NULL};
    static const char script[] = "at 3s leave n3\n"
                                 "at 5s crash hub\n"
                                 "at 7s start hub\n";
    struct folder folder;
    char line[400];

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "scenario"), script, strlen(script)));
    (void)snprintf(line, sizeof line, "run " STAR " --scenario %s",
                   folder_file(&folder, "scenario"));
    check_report(sim_run, line, 1, words); /* without its goal */
    folder_remove(&folder);
}

/* Where one update alone was merged its node is sent no result's payload. The
 * recording that the timeline is made of goes with it, not before. */
static void a_timeline_is_made_where_results_are_known(void)
{
    struct folder folder;
    struct command left;
    char line[400];

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(line, sizeof line,
                   "run --nodes 1 --codec-down raw --time 20s --timeline %s",
                   folder_file(&folder, "t.json"));
    left = command_line(&folder, sim_run, line);
    CHECK_EQUAL(0, left.code);
    CHECK_CONTAINS("t.json", left.out);
    CHECK(file_exists(folder_file(&folder, "t.json")));
    CHECK(!file_exists(folder_file(&folder, "t.json.record")));
    command_free(&left);
    CHECK(mkdir(folder_file(&folder, "d.json"), 0700) == 0);
    (void)snprintf(line, sizeof line, "run --nodes 1 --time 5s --timeline %s",
                   folder_file(&folder, "d.json"));
    left = command_line(&folder, sim_run, line);
    CHECK(left.code != 0);
    CHECK(file_exists(folder_file(&folder, "d.json.record")));
    command_free(&left);
    folder_remove(&folder);
}

static void the_star_is_said_with_its_speeds(void)
{
    struct folder folder;
    struct command left;

    if (!CHECK(folder_new(&folder)))
        return;
    left = command_line(&folder, sim_run,
                        "run --nodes 2 --time 5s --speeds 1,0.5");
    CHECK_CONTAINS("steps of 100 ms, speeds 1,0.5\n", left.out);
    command_free(&left);
    folder_remove(&folder);
}

static void a_story_whose_record_is_cut_says_so(void)
{
    static const char story[] = "set nodes 1\nset faults 1s\n"
                                "at 0s start hub\nat 0s start n1\n";
    struct folder folder;
    struct command left;
    char line[400];

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "story"), story, strlen(story)));
    (void)snprintf(line, sizeof line, "soak --scenario %s --record /dev/full",
                   folder_file(&folder, "story"));
    left = command_line(&folder, sim_soak, line);
    CHECK_EQUAL(74, left.code);
    CHECK_CONTAINS("--record /dev/full cannot be written", left.err);
    command_free(&left);
    folder_remove(&folder);
}

static void the_report_of_a_comparison_names_the_policies(void)
{
    static const char *const words[] = {"mean", "easgd", "<svg", NULL};

    check_report(sim_compare, "compare --policy mean,easgd --seeds 2 " STAR, 0,
                 words);
}

static void the_report_of_a_sweep_names_the_settings(void)
{
    static const char *const words[] = {"every", "10", "20", "<svg", NULL};

    check_report(sim_sweep, "sweep --over every=10,20 --seeds 2 " STAR, 0,
                 words);
}

void add_sim_program_run_tests(CU_pSuite suite)
{
    TEST(the_report_of_a_run_names_its_nodes);
    TEST(the_report_of_a_run_by_scenario_does_too);
    TEST(a_timeline_is_made_where_results_are_known);
    TEST(the_star_is_said_with_its_speeds);
    TEST(a_story_whose_record_is_cut_says_so);
    TEST(the_report_of_a_comparison_names_the_policies);
    TEST(the_report_of_a_sweep_names_the_settings);
}
