/* Runs the suites of tests/suites.def with CUnit.
 *
 *     run-tests [--list] [PART-OF-A-SUITE'S-NAME ...]
 *
 * Without parts it runs all. A test that hangs is named and ends the run. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "train/matrix.h"

#define SECONDS_PER_TEST 120u
#define SECONDS_PER_SLOW_TEST 300u

struct suite {
    const char *name;
    void (*add_tests)(CU_pSuite suite);
};

static const struct suite suites[] = {
#define SUITE(name, file) {file, add_##name##_tests},
#include "tests/suites.def"
#undef SUITE
};

#define SUITES (sizeof suites / sizeof *suites)

static const char *volatile running = "(none)"; /* for the signal handler */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(3);
}

static void end_hanging_test(int signal_number)
{
    (void)signal_number;
    say("\nThis test hangs: ");
    say(running);
    say("\n");
    _exit(2);
}

static void start_limit(void)
{
    running = CU_get_current_test()->pName;
    (void)alarm(runs_slowly() ? SECONDS_PER_SLOW_TEST : SECONDS_PER_TEST);
}

static void stop_limit(void)
{
    (void)alarm(0);
}

static bool is_chosen(const struct suite *suite, char **parts)
{
    if (!*parts)
        return true;
    for (; *parts; parts++)
        if (strstr(suite->name, *parts))
            return true;
    return false;
}

static void add_suite(const struct suite *suite)
{
    CU_pSuite added = CU_add_suite_with_setup_and_teardown(
        suite->name, NULL, NULL, start_limit, stop_limit);

    if (!added) {
        (void)fprintf(stderr, "%s: %s\n", suite->name, CU_get_error_msg());
        exit(1);
    }
    suite->add_tests(added);
}

static int list_suites(void)
{
    for (size_t i = 0; i < SUITES; i++)
        (void)puts(suites[i].name);
    return 0;
}

static int run_suites(void)
{
    unsigned failures;

    if (CU_get_registry()->uiNumberOfSuites == 0) {
        say("No suite has such a name; --list names them all.\n");
        return 1;
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    failures = CU_basic_run_tests() == CUE_SUCCESS
                   ? CU_get_number_of_failure_records()
                   : 1;
    CU_cleanup_registry();
    return failures > 0;
}

int main(int count, char **arguments)
{
    matrix_use_processor(arguments);
    if (count > 1 && strcmp(arguments[1], "--list") == 0)
        return list_suites();
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)signal(SIGALRM, end_hanging_test);
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    for (size_t i = 0; i < SUITES; i++)
        if (is_chosen(&suites[i], arguments + 1))
            add_suite(&suites[i]);
    return run_suites();
}
