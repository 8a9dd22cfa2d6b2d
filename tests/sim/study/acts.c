#include "sim/study/acts.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

static struct acts *parse(const char *text)
{
    struct acts *acts = NULL;
    struct why why = {""};

    CHECK_OK(acts_parse(text, strlen(text), &acts, &why));
    CHECK_TEXT("", why.text);
    return acts;
}

static void check_refused(const char *text, const char *words)
{
    struct acts *acts = NULL;
    struct why why = {""};

    CHECK_STATUS(STATUS_MALFORMED, acts_parse(text, strlen(text), &acts, &why));
    CHECK_CONTAINS(words, why.text);
    CHECK(acts == NULL);
}

static void a_line_names_time_verb_and_processes(void)
{
    struct acts *acts = parse("# of people\n"
                              "at 2.5s crash hub\n"
                              "\n"
                              "  at 300ms cut n1 n16 # half of it\n"
                              "at 3 start hub\n");

    CHECK_EQUAL(4, acts->count);
    CHECK_EQUAL(2500 * MILLISECOND, acts->list[0].at);
    CHECK_EQUAL(DEED_CRASH, acts->list[0].deed);
    CHECK_EQUAL(WORLD_HUB, acts->list[0].process);
    CHECK_EQUAL(DEED_CUT, acts->list[2].deed);
    CHECK_EQUAL(15, acts->list[2].process);
    CHECK_EQUAL(300 * MILLISECOND, acts->list[2].at);
    CHECK_EQUAL(3 * SECOND, acts->list[3].at);
    CHECK_EQUAL(16, acts_nodes(acts));
    acts_destroy(&acts);
}

static void a_process_whose_first_act_is_no_start_runs_before(void)
{
    struct acts *acts = parse("at 7s start hub\n"
                              "at 5s crash hub\n"
                              "at 4s start n2\n"
                              "at 9s start n2\n"
                              "at 6s lose n2\n");

    CHECK(acts_first_start(acts, WORLD_HUB) == NEVER);
    CHECK(acts_first_start(acts, 0) == NEVER);
    CHECK_EQUAL(4 * SECOND, acts_first_start(acts, 1));
    acts_destroy(&acts);
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
        struct acts *acts = acts_new();
        char line[64], bytes[64];
        struct why why = {""};
        struct text text;

        (void)snprintf(line, sizeof line, "%s", lines[i]);
        text_init(&text, bytes, sizeof bytes);
        if (CHECK_OK(acts_read_line(acts, line, &why)))
            act_print(&acts->list[0], &text);
        CHECK_TEXT(lines[i], bytes);
        acts_destroy(&acts);
    }
}

void add_sim_study_acts_tests(CU_pSuite suite)
{
    TEST(a_line_names_time_verb_and_processes);
    TEST(a_process_whose_first_act_is_no_start_runs_before);
    TEST(what_makes_no_sense_is_refused_by_its_line);
    TEST(what_is_printed_reads_as_the_same);
}
