#include "sim/study/script.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

static struct script *parse(const char *text)
{
    struct script *script = NULL;
    struct why why = {""};

    CHECK_OK(script_parse(text, strlen(text), &script, &why));
    CHECK_TEXT("", why.text);
    return script;
}

static void check_refused(const char *text, const char *words)
{
    struct script *script = NULL;
    struct why why = {""};

    CHECK_STATUS(STATUS_MALFORMED,
                 script_parse(text, strlen(text), &script, &why));
    CHECK_CONTAINS(words, why.text);
    CHECK(script == NULL);
}

static void a_line_names_time_verb_and_processes(void)
{
    struct script *script = parse("# of people\n"
                                  "at 2.5s crash hub\n"
                                  "\n"
                                  "  at 300ms cut n1 n16 # half of it\n"
                                  "at 3 start hub\n");

    CHECK_EQUAL(4, script->count);
    CHECK_EQUAL(2500 * MILLISECOND, script->list[0].at);
    CHECK_EQUAL(SCRIPT_CRASH, script->list[0].verb);
    CHECK_EQUAL(WORLD_HUB, script->list[0].process);
    CHECK_EQUAL(SCRIPT_CUT, script->list[2].verb);
    CHECK_EQUAL(15, script->list[2].process);
    CHECK_EQUAL(300 * MILLISECOND, script->list[2].at);
    CHECK_EQUAL(3 * SECOND, script->list[3].at);
    CHECK_EQUAL(16, script_nodes(script));
    script_destroy(&script);
}

static void a_process_whose_first_act_is_no_start_runs_before(void)
{
    struct script *script = parse("at 7s start hub\n"
                                  "at 5s crash hub\n"
                                  "at 4s start n2\n"
                                  "at 9s start n2\n"
                                  "at 6s lose n2\n");

    CHECK(script_first_start(script, WORLD_HUB) == NEVER);
    CHECK(script_first_start(script, 0) == NEVER);
    CHECK_EQUAL(4 * SECOND, script_first_start(script, 1));
    script_destroy(&script);
}

static void what_makes_no_sense_is_refused_by_its_line(void)
{
    check_refused("at 5s crash hub\nat soon crash n1\n", "line 2: 'soon'");
    check_refused("at 5s explode n1\n", "start, crash, lose");
    check_refused("at 5s crash n0\n", "'n0' is no process");
    check_refused("at 5s crash odd\n", "'odd' is no process");
    check_refused("at 5s crash n99999\n", "is no process");
    check_refused("at 5s cut hub\n", "the hub has no link of its own to cut");
    check_refused("at 5s crash\n", "a time, a verb and a process");
    check_refused("set k 4\n", "line 1: 'set'");
    check_refused("at 5s crash n1", "line 1");
}

static void what_is_printed_reads_as_the_same(void)
{
    const char *lines[] = {"at 0s start hub", "at 0.25s unplug n3",
                           "at 12.345678s thaw n10"};

    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct script *script = script_new();
        char line[64], bytes[64];
        struct why why = {""};
        struct text text;

        (void)snprintf(line, sizeof line, "%s", lines[i]);
        text_init(&text, bytes, sizeof bytes);
        if (CHECK_OK(script_read_line(script, line, &why)))
            script_event_print(&script->list[0], &text);
        CHECK_TEXT(lines[i], bytes);
        script_destroy(&script);
    }
}

void add_sim_study_script_tests(CU_pSuite suite)
{
    TEST(a_line_names_time_verb_and_processes);
    TEST(a_process_whose_first_act_is_no_start_runs_before);
    TEST(what_makes_no_sense_is_refused_by_its_line);
    TEST(what_is_printed_reads_as_the_same);
}
