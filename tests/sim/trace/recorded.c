/* What is taken of recordings in which nodes are unlucky, or lie. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

static void a_node_that_claims_steps_without_time_has_none(void)
{
    static const char text[] =
        "starswitch-record 1 hub\n"
        "1 message 4 hello name=\"n1\"\n"
        "  send 4 welcome session=7\n"
        "2 message 4 ping sent=1 round_trip=0 iteration=1 rate=2e9 waited=0\n"
        "3 message 4 ping sent=2 round_trip=0 iteration=2 rate=1e6 waited=0\n";
    char *trace = imported("record", text, NULL);

    CHECK_CONTAINS("\n1s n1 step 1us\n", trace);
    CHECK(!strstr(trace, "step 0s"));
    free(trace);
}

/* The hub hears of the new connection before the old one is known to be gone.
 */
static void a_node_that_comes_back_by_another_connection_is_here(void)
{
    static const char text[] = "starswitch-record 1 hub\n"
                               "1 message 101 hello name=\"n1\"\n"
                               "  send 101 welcome session=7\n"
                               "2 message 105 hello name=\"n1\"\n"
                               "  send 105 welcome session=8\n"
                               "2.1 leave 101\n"
                               "2.2 message 106 attach session=8\n"
                               "3 message 106 chunk exchange=1 [1000]\n"
                               "4 leave 105\n";
    char *trace = imported("record", text, NULL);

    CHECK_TEXT("starswitch-trace 1\n"
               "span 3.000000001s\n"
               "0s n1 join\n"
               "1s n1 join\n"
               "2s n1 upload exchange=1 chunks=1 bytes=1000 until=2s\n"
               "3s n1 leave\n"
               "end\n",
               trace);
    free(trace);
}

void add_sim_trace_recorded_tests(CU_pSuite suite)
{
    TEST(a_node_that_claims_steps_without_time_has_none);
    TEST(a_node_that_comes_back_by_another_connection_is_here);
}
