/* Scenes as users describe them, played in a second or less. */
#include "sim/study/scenario.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

enum { WORDS = 24, LINE = 256 };

/* Options from a command line without quotes. */
static struct options read_options(const char *line)
{
    char copy[LINE], *words[WORDS] = {"run"}, *rest = copy;
    struct options options;
    struct why why = {""};
    int count = 1;

    (void)snprintf(copy, sizeof copy, "%s", line);
    while (count < WORDS && (words[count] = strsep(&rest, " ")) != NULL)
        count += *words[count] != '\0';
    options_defaults(&options);
    CHECK_OK(
        options_parse_arguments(&options, PROGRAM_SIM, count, words, &why));
    return options;
}

static struct outcome run(const char *line, uint64_t seed)
{
    struct options options = read_options(line);
    struct outcome outcome = {0};
    struct scenario *scenario = NULL;
    struct why why = {""};

    if (!CHECK_OK(scenario_open(&options, &scenario, &why))) {
        CHECK_TEXT("", why.text);
        return outcome;
    }
    scenario_run(scenario, seed, NULL, &outcome);
    CHECK_TEXT("", outcome.trouble);
    scenario_close(&scenario);
    return outcome;
}

static enum status refusal(const char *line, struct why *why)
{
    struct options options = read_options(line);
    struct scenario *scenario = NULL;
    enum status status = scenario_open(&options, &scenario, why);

    scenario_close(&scenario);
    return status;
}

#define STAR "--nodes 4 --params 1M --step-time 50ms --every 10 --delay 5 "

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    return a->time == b->time && a->loss == b->loss && a->steps == b->steps &&
           a->iterations == b->iterations && a->up == b->up &&
           a->down == b->down && a->rounds == b->rounds;
}

static void a_seed_has_one_outcome(void)
{
    struct outcome one = run(STAR "--goal 0.1", 7);
    struct outcome same = run(STAR "--goal 0.1", 7);
    struct outcome other = run(STAR "--goal 0.1", 8);

    CHECK(is_same(&one, &same));
    CHECK(!is_same(&one, &other));
}

static void a_goal_ends_the_run(void)
{
    struct outcome outcome = run(STAR "--goal 0.1 --evaluate 200ms", 1);

    CHECK(outcome.done && outcome.reached);
    CHECK(outcome.loss <= 0.11);
    CHECK(outcome.time > 1 && outcome.time < 100);
    CHECK(outcome.rounds > 3);
}

static void a_goal_that_is_too_far_is_not_reached(void)
{
    struct outcome outcome = run(STAR "--goal 1e-9 --time 20s", 1);

    CHECK(outcome.done && !outcome.reached);
    CHECK_NEAR(20, outcome.time, 1);
}

/* Ten iterations of 50 ms each between two offers. */
static void rounds_take_k_iterations(void)
{
    struct outcome outcome = run(STAR "--policy mean --time 60s", 1);

    CHECK_NEAR(0.5, outcome.round_time, 0.01);
    CHECK_NEAR(20, outcome.rate, 0.2);
    CHECK_NEAR(0, outcome.idle, 1e-9);
}

static void a_slow_node_sets_the_pace_of_a_sync_star(void)
{
    struct outcome outcome =
        run(STAR "--policy mean --speeds 1,1,1,0.5 --time 60s", 1);

    CHECK_NEAR(1.0, outcome.round_time, 0.05);
    CHECK_NEAR((20 * 3 + 10) / 4.0, outcome.rate, 0.4);
}

/* 4 nodes upload 4 MB each through 8 MB/s, and are sent it, while they wait. */
static void a_narrow_port_takes_its_time(void)
{
    struct outcome outcome =
        run("--nodes 4 --params 1M --step-time 10ms --every 1 --delay 0 "
            "--policy mean --codec-up raw --codec-down raw --port 8MB/s "
            "--chunk 64KiB --time 100s",
            1);

    CHECK_NEAR(2.0, outcome.round_time, 0.15);
    CHECK(outcome.idle > 0.95);
}

static const char *write_file(const char *name, const char *text)
{
    static char path[200];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s.%d", build_folder(), name,
                   (int)getpid());
    file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file)
        (void)fclose(file);
    return path;
}

static void a_scenario_happens(void)
{
    const char *path =
        write_file("crash.scenario", "at 5s crash n2\nat 30s start n2\n");
    char line[LINE];
    struct outcome outcome;

    (void)snprintf(line, sizeof line,
                   STAR "--policy mean --time 60s --scenario %s", path);
    outcome = run(line, 1);
    CHECK(outcome.done);
    CHECK(outcome.iterations < 0.95 * 20 * 60);
    (void)unlink(path);
}

static void what_a_node_did_before_a_crash_counts(void)
{
    const char *path = write_file("crash.scenario", "at 25s crash n2\n");
    char line[LINE];
    double whole, crashed;

    whole = run(STAR "--policy mean --time 30s", 1).iterations;
    (void)snprintf(line, sizeof line,
                   STAR "--policy mean --time 30s --scenario %s", path);
    crashed = run(line, 1).iterations;
    CHECK(crashed < whole);
    CHECK(crashed > 0.9 * whole);
    (void)unlink(path);
}

static void a_trace_is_followed(void)
{
    const char *path =
        write_file("steps.trace", "starswitch-trace 1\nspan 60s\n"
                                  "0s * step 50ms\n30s * step 100ms\nend\n");
    char line[LINE];
    struct outcome outcome;

    (void)snprintf(line, sizeof line,
                   "--nodes 2 --params 1M --every 10 --delay 5 "
                   "--policy mean --time 60s --trace %s",
                   path);
    outcome = run(line, 1);
    CHECK_NEAR(15, outcome.rate, 0.3);
    (void)unlink(path);
}

/* Of this tree's licence, with ln 256 = 5.5 at first. */
static void nodes_may_really_train_a_transformer(void)
{
    static const char line[] =
        "--nodes 2 --compute real --model gpt:L1-D16-H2-T20,batch=2,lr=0.01 "
        "--data LICENSE --iterations 60 --step-time 50ms";
    struct outcome one = run(line, 2), same = run(line, 2);

    CHECK(one.loss < 4.5);
    CHECK(one.accuracy > 0.1);
    CHECK(is_same(&one, &same));
}

static void what_cannot_be_simulated_is_said(void)
{
    struct why why = {""};

    CHECK_STATUS(STATUS_CONFIG, refusal("--goal 80%", &why));
    CHECK_CONTAINS("surrogate", why.text);
    CHECK_STATUS(STATUS_USAGE, refusal("--step-time 0s", &why));
    CHECK_CONTAINS("--step-time: must be at least 1us", why.text);
    CHECK_STATUS(STATUS_USAGE, refusal("--speeds 1,fast", &why));
    CHECK_CONTAINS("--speeds 1,fast", why.text);
    CHECK_STATUS(STATUS_IO, refusal("--trace /does/not/exist", &why));
    CHECK_CONTAINS("/does/not/exist", why.text);
    CHECK_STATUS(STATUS_USAGE, refusal("--policy none", &why));
    CHECK_STATUS(STATUS_USAGE, refusal("--compute real", &why));
    CHECK_CONTAINS("--model", why.text);
}

static void a_scenario_for_more_nodes_says_how_many(void)
{
    const char *path = write_file("many.scenario", "at 5s crash n9\n");
    struct why why = {""};
    char line[LINE];

    (void)snprintf(line, sizeof line, "--scenario %s", path);
    CHECK_STATUS(STATUS_CONFIG, refusal(line, &why));
    CHECK_CONTAINS("--nodes 9", why.text);
    (void)unlink(path);
}

/* Else it would be simulated as if nothing had been said of n5. */
static void what_is_said_of_nodes_that_are_not_there_is_refused(void)
{
    const char *path =
        write_file("many.trace", "starswitch-trace 1\nspan 60s\n"
                                 "0s n1 delay 3ms\n0s pc5 delay 3ms\nend\n");
    struct why why = {""};
    char line[LINE];

    (void)snprintf(line, sizeof line, "--nodes 2 --trace %s", path);
    CHECK_STATUS(STATUS_CONFIG, refusal(line, &why));
    CHECK_CONTAINS(" names pc5, and the star has n1 to n2", why.text);
    (void)unlink(path);
    path = write_file("many.trace", "starswitch-trace 1\nspan 60s\n"
                                    "0s n1 delay 3ms\n0s n5 delay 3ms\nend\n");
    CHECK_OK(refusal(line, &why)); /* its first two */
    CHECK_STATUS(STATUS_CONFIG, refusal("--nodes 2 --speeds 1,1,0.5", &why));
    CHECK_CONTAINS("--nodes 3", why.text);
    (void)unlink(path);
}

void add_sim_study_scenario_tests(CU_pSuite suite)
{
    TEST(a_seed_has_one_outcome);
    TEST(a_goal_ends_the_run);
    TEST(a_goal_that_is_too_far_is_not_reached);
    TEST(rounds_take_k_iterations);
    TEST(a_slow_node_sets_the_pace_of_a_sync_star);
    TEST(a_narrow_port_takes_its_time);
    TEST(a_scenario_happens);
    TEST(what_a_node_did_before_a_crash_counts);
    TEST(a_trace_is_followed);
    TEST(nodes_may_really_train_a_transformer);
    TEST(what_cannot_be_simulated_is_said);
    TEST(a_scenario_for_more_nodes_says_how_many);
    TEST(what_is_said_of_nodes_that_are_not_there_is_refused);
}
