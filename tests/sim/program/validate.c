/* starswitch-sim validate, on recordings that starswitch-sim has made: their
 * simulation must be what they are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/program.h"
#include "tests/check.h"
#include "tests/sim/command.h"

/* The number behind "name": within the object `world` of a JSON line. */
static double number(const char *json, const char *world, const char *name)
{
    char key[40];
    const char *at;

    (void)snprintf(key, sizeof key, "\"%s\":{", world);
    at = strstr(json, key);
    (void)snprintf(key, sizeof key, "\"%s\":", name);
    at = at ? strstr(at, key) : NULL;
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

static void check_agrees(const char *json, const char *name)
{
    double real = number(json, "real", name);

    CHECK(real > 0);
    CHECK_NEAR(real, number(json, "simulated", name), 0.02 * real);
}

/* Records a run of these options and validates it. */
static struct command validate(const struct folder *folder, const char *run,
                               const char *more)
{
    char line[600];
    struct command command;

    (void)snprintf(line, sizeof line, "run %s --record %s", run,
                   folder_file(folder, "run.record"));
    command = command_line(folder, sim_run, line);
    CHECK_EQUAL(0, command.code);
    CHECK_TEXT("", command.err);
    command_free(&command);
    (void)snprintf(line, sizeof line, "validate %s %s",
                   folder_file(folder, "run.record"), more);
    return command_line(folder, sim_validate, line);
}

static void check_own_recording(const char *run, bool late)
{
    static const char *const same[] = {"rounds", "round_time", "rate",
                                       "step",   "up",         "down"};
    struct folder folder;
    struct command command;

    if (!CHECK(folder_new(&folder)))
        return;
    command = validate(&folder, run, "--json");
    CHECK_EQUAL(0, command.code);
    CHECK_TEXT("", command.err);
    for (unsigned i = 0; i < sizeof same / sizeof *same; i++)
        check_agrees(command.out, same[i]);
    if (late)
        check_agrees(command.out, "idle");
    command_free(&command);
    folder_remove(&folder);
}

static void a_simulated_run_is_simulated_again_as_it_was(void)
{
    check_own_recording("--nodes 3 --policy mean --delay 0 --every 10 "
                        "--params 2M --time 30s --speeds 1,1,0.5",
                        true);
    check_own_recording("--nodes 4 --policy async --delay 5 --every 10 "
                        "--params 2M --time 30s --rate 100Mbit --port 200Mbit "
                        "--latency 3ms --step-time 50ms",
                        false);
    check_own_recording("--nodes 2 --params 5M --time 60s --codec-up int4 "
                        "--step-cv 0.1",
                        false);
}

static void both_are_shown_side_by_side(void)
{
    struct folder folder;
    struct command command;

    if (!CHECK(folder_new(&folder)))
        return;
    command =
        validate(&folder, "--nodes 2 --params 1M --time 20s", "--goal 0.5");
    CHECK_EQUAL(0, command.code);
    CHECK_CONTAINS("real    simulated", command.out);
    CHECK_CONTAINS("time per round, ms", command.out);
    CHECK_CONTAINS("time to the goal, s", command.out);
    CHECK_CONTAINS("n2, iterations/s", command.out);
    CHECK(!strstr(command.out, "Warning"));
    command_free(&command);
    folder_remove(&folder);
}

static void the_simulation_is_recorded_if_that_is_wanted(void)
{
    struct folder folder;
    struct command command;
    char more[120], *text;
    size_t size;

    if (!CHECK(folder_new(&folder)))
        return;
    (void)snprintf(more, sizeof more, "--record %s",
                   folder_file(&folder, "again.record"));
    command = validate(&folder, "--nodes 2 --params 1M --time 5s", more);
    CHECK_EQUAL(0, command.code);
    text = file_content(folder_file(&folder, "again.record"), &size);
    if (CHECK(text))
        CHECK_CONTAINS("note run_ending", text);
    free(text);
    command_free(&command);
    folder_remove(&folder);
}

static void what_does_not_fit_is_warned_of(void)
{
    struct folder folder;
    struct command command;

    if (!CHECK(folder_new(&folder)))
        return;
    command = validate(&folder, "--nodes 2 --params 1M --time 20s",
                       "--step-time 150ms");
    CHECK_EQUAL(0, command.code);
    CHECK_CONTAINS("Warning: off by ", command.out);
    command_free(&command);
    folder_remove(&folder);
}

static void what_is_no_recording_is_refused(void)
{
    struct folder folder;
    struct command command;
    char line[200];

    if (!CHECK(folder_new(&folder)))
        return;
    command = command_line(&folder, sim_validate, "validate");
    CHECK_EQUAL(status_exit_code(STATUS_USAGE), command.code);
    CHECK_CONTAINS("which run?", command.err);
    command_free(&command);
    command = command_line(&folder, sim_validate, "validate /nowhere/at.all");
    CHECK(command.code != 0);
    CHECK_CONTAINS("/nowhere/at.all", command.err);
    command_free(&command);
    CHECK(file_fill(folder_file(&folder, "poem"), "roses\n", 6));
    (void)snprintf(line, sizeof line, "validate %s",
                   folder_file(&folder, "poem"));
    command = command_line(&folder, sim_validate, line);
    CHECK(command.code != 0);
    CHECK_CONTAINS("this is no recording", command.err);
    command_free(&command);
    folder_remove(&folder);
}

/* Leaves a line out of run.record. */
static void leave_out(const struct folder *folder, const char *setting)
{
    const char *path = folder_file(folder, "run.record");
    size_t size, length;
    char *text = file_content(path, &size), *at;

    at = text ? strstr(text, setting) : NULL;
    if (CHECK(at)) {
        length = strcspn(at, "\n") + 1;
        memmove(at, at + length, strlen(at + length) + 1);
        CHECK(
            file_fill(folder_file(folder, "run.record"), text, size - length));
    }
    free(text);
}

static struct command validate_again(const struct folder *folder,
                                     const char *more)
{
    char line[200];

    (void)snprintf(line, sizeof line, "validate %s %s",
                   folder_file(folder, "run.record"), more);
    return command_line(folder, sim_validate, line);
}

/* As a hub without a model of its own makes it. */
static void the_size_of_the_model_is_not_made_up(void)
{
    struct folder folder;
    struct command command;

    if (!CHECK(folder_new(&folder)))
        return;
    command = validate(&folder, "--nodes 2 --params 1000000 --time 5s", "");
    command_free(&command);
    leave_out(&folder, "set params ");
    command = validate_again(&folder, "");
    CHECK_EQUAL(status_exit_code(STATUS_USAGE), command.code);
    CHECK_CONTAINS("say --params N", command.err);
    command_free(&command);
    folder_remove(&folder);
}

/* Nor does it tell steps; here they are half as long as usual. */
static void the_star_has_the_steps_that_it_had(void)
{
    struct folder folder;
    struct command command;

    if (!CHECK(folder_new(&folder)))
        return;
    command =
        validate(&folder, "--nodes 2 --params 1M --time 20s --speeds 2,2", "");
    command_free(&command);
    leave_out(&folder, "set step-time ");
    command = validate_again(&folder, "");
    CHECK_CONTAINS("steps of 49.9", command.out);
    command_free(&command);
    folder_remove(&folder);
}

/* A hub waits for one only, unless it says --nodes: the third comes late. */
static void the_first_round_waits_for_as_many_as_it_did(void)
{
    static const char late[] = "at 10s start n3\n";
    struct folder folder;
    struct command command;
    double all, one;
    char run[300];

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "late"), late, strlen(late)));
    (void)snprintf(run, sizeof run,
                   "--nodes 3 --params 1M --policy mean --time 20s --scenario "
                   "%s",
                   folder_file(&folder, "late"));
    command = validate(&folder, run, "--json");
    all = number(command.out, "simulated", "rounds");
    CHECK_NEAR(number(command.out, "real", "rounds"), all, 2);
    command_free(&command);
    leave_out(&folder, "set nodes ");
    command = validate_again(&folder, "--json");
    one = number(command.out, "simulated", "rounds");
    CHECK(all > 0);
    CHECK(one > 1.5 * all);
    command_free(&command);
    folder_remove(&folder);
}

void add_sim_program_validate_tests(CU_pSuite suite)
{
    TEST(a_simulated_run_is_simulated_again_as_it_was);
    TEST(both_are_shown_side_by_side);
    TEST(the_simulation_is_recorded_if_that_is_wanted);
    TEST(what_does_not_fit_is_warned_of);
    TEST(what_is_no_recording_is_refused);
    TEST(the_size_of_the_model_is_not_made_up);
    TEST(the_first_round_waits_for_as_many_as_it_did);
    TEST(the_star_has_the_steps_that_it_had);
}
