/* The judge of the chaos must be able to say no: each test changes one thing
 * in the logs of a run that was well. */
#include "tests/chaos/judge.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/store/folder.h"

/* A hub that is killed once, and one node; two chunks an exchange. */
static const char chaos[] = "1.0 start hub 1 10\n"
                            "1.1 start n1 1 11\n"
                            "1.5 memory 9000000\n"
                            "3.0 begin hub-kill hub 1\n"
                            "3.0 gone hub 1 137\n"
                            "4.0 start hub 2 12\n"
                            "4.0 end hub-kill hub 1\n"
                            "5.0 begin stop n1 1\n"
                            "7.0 end stop n1 1\n"
                            "8.0 quiet\n"
                            "9.0 close\n"
                            "9.3 gone n1 1 0\n"
                            "9.4 gone hub 2 0\n";

static const char node[] =
    "starswitch-record 1 node name=\"n1\"\n"
    "1.2 join 2 control\n"
    "  send 2 hello incarnation=77 name=\"n1\" [86]\n"
    "1.3 message 2 welcome run=5 epoch=1 session=8 version=0 fragments=1\n"
    "1.4 message 1 local_ping iteration=1\n"
    "1.5 done delta #1 OK 1,0,0\n"
    "  send 2 offer exchange=1 fragment=0\n"
    "1.6 message 3 result exchange=1 chunk=0 verdict=0 version=1\n"
    "1.7 message 2 verdict exchange=1 first=1 chunks=1 verdict=0\n"
    "2.9 message 1 local_ping iteration=40\n"
    "2.9 message 2 pong version=2\n"
    "2.9 done delta #1 OK 1,0,0\n"
    "  send 2 offer exchange=2 fragment=0\n"
    "2.9 wake\n"
    "  note centre_kept \"n1\" \"version 2\"\n"
    "4.2 message 2 welcome run=5 epoch=2 session=9 version=2 fragments=1\n"
    "4.8 message 1 local_ping iteration=80\n"
    "7.2 message 1 local_ping iteration=81\n"
    "8.1 done delta #1 OK 1,0,0\n"
    "  send 2 offer exchange=3 fragment=0\n"
    "8.2 message 3 result exchange=3 chunk=0 verdict=0 version=3\n"
    "8.2 message 3 result exchange=3 chunk=1 verdict=0 version=3\n"
    "9.1 message 1 local_ping iteration=300\n";

static const char hub_before[] =
    "starswitch-record 1 hub\n"
    "1.2 message 3 hello incarnation=77 name=\"n1\" [86]\n"
    "  send 3 welcome run=5 epoch=1 session=8 version=0 fragments=1\n"
    "1.3 message 4 attach session=8\n"
    "1.5 done merge #7 OK 0,0,0\n"
    "  send 4 result exchange=1 chunk=0 verdict=0 version=1\n"
    "  send 3 verdict exchange=1 first=1 chunks=1 verdict=0\n"
    "2.0 done save #9 OK 0,0,0\n"
    "  note centre_saved \"\" \"centre, version 2\"\n"
    "2.95 mess";

static const char hub_after[] =
    "starswitch-record 1 hub\n"
    "4.1 message 3 hello incarnation=77 name=\"n1\" [86]\n"
    "  send 3 welcome run=5 epoch=2 session=9 version=2 fragments=1\n"
    "4.2 message 4 attach session=9\n"
    "8.1 done merge #7 OK 0,0,0\n"
    "  send 4 result exchange=3 chunk=0 verdict=0 version=3\n"
    "  send 4 result exchange=3 chunk=1 verdict=0 version=3\n";

/* Who keeps version 4 is stopped while the hub's second life begins, and is
 * there when the third one does. */
static const struct change {
    const char *from, *to;
} stopped[] = {
    {"3.0 begin hub-kill", "2.95 begin stop n1 1\n3.0 begin hub-kill"},
    {"5.0 begin stop n1 1\n7.0 end stop n1 1\n", "4.5 end stop n1 1\n"},
    {"9.3 gone n1 1 0\n9.4 gone hub 2 0\n",
     "8.5 begin hub-kill hub 2\n8.5 gone hub 2 137\n8.6 start hub 3 13\n"
     "8.6 end hub-kill hub 2\n9.3 gone n1 1 0\n9.4 gone hub 3 0\n"},
    {"9.1 message 1 local_ping iteration=300\n",
     "8.7 message 2 welcome run=5 epoch=3 session=10 version=3 fragments=1\n"
     "9.1 message 1 local_ping iteration=300\n"},
    {"7.2 message 1 local_ping iteration=81\n",
     "6.1 message 1 local_ping iteration=81\n"
     "7.7 message 1 local_ping iteration=82\n"},
    {"\"version 2\"", "\"version 4\""},
    {NULL, NULL}};

static const char hub_last[] =
    "starswitch-record 1 hub\n"
    "8.65 message 3 hello incarnation=77 name=\"n1\" [86]\n"
    "  send 3 welcome run=5 epoch=3 session=10 version=3 fragments=1\n"
    "8.7 message 4 attach session=10\n";

/* `text` with `from` in it, if it is there, changed to `to`; the caller's. */
static char *with(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *changed = NULL;
    size_t size;
    FILE *file = open_memstream(&changed, &size);

    if (!file)
        abort();
    if (at)
        (void)fprintf(file, "%.*s%s%s", (int)(at - text), text, to,
                      at + strlen(from));
    else
        (void)fputs(text, file);
    (void)fclose(file);
    return changed;
}

/* Writes a log with all changes, of which the last one is nothing. */
static void write_log(const struct folder *folder, const char *name,
                      const char *text, const struct change *changes)
{
    char *changed = with(text, "", "");

    for (; changes->from; changes++) {
        char *before = changed;

        changed = with(before, changes->from, changes->to);
        free(before);
    }
    CHECK(file_fill(folder_file(folder, name), changed, strlen(changed)));
    free(changed);
}

/* What the judge says of the run with the changes. */
static char *judged_with(const struct change *changes, bool recovery, int *code)
{
    struct judge_limits limits;
    struct folder folder;
    char *said = NULL;
    size_t size;
    FILE *out;

    *code = -1;
    if (!CHECK(folder_new(&folder)))
        return NULL;
    write_log(&folder, "chaos", chaos, changes);
    write_log(&folder, "n1.1.record", node, changes);
    write_log(&folder, "hub.1.record", hub_before, changes);
    write_log(&folder, "hub.2.record", hub_after, changes);
    write_log(&folder, "hub.3.record", hub_last, changes);
    judge_limits_init(&limits);
    limits.recovery = recovery;
    limits.serve = 200 * MILLISECOND;
    out = open_memstream(&said, &size);
    if (CHECK(out)) {
        *code = judge_folder(folder.path, &limits, out);
        (void)fclose(out);
    }
    folder_remove(&folder);
    return said;
}

/* What it says of the run in which `from` stands where `to` was. */
static char *judged(const char *from, const char *to, bool recovery, int *code)
{
    const struct change changes[] = {{from, to}, {NULL, NULL}};

    return judged_with(changes, recovery, code);
}

/* With `from` in place of `to` there is one violation more, and it says so. */
static void refused(const char *from, const char *to, const char *said)
{
    int code;
    char *text = judged(from, to, true, &code);

    CHECK_EQUAL(1, code);
    if (CHECK(text))
        CHECK_CONTAINS(said, text);
    free(text);
}

static void a_run_that_is_well_is_counted(void)
{
    int code;
    char *text = judged(NULL, NULL, true, &code);

    CHECK_EQUAL(0, code);
    if (CHECK(text)) {
        CHECK_CONTAINS("faults: stop 1 hub-kill 1\n", text);
        CHECK_CONTAINS("exchanges 3 of 2 chunks\n", text);
        CHECK_CONTAINS("merged 4; answered by WELCOME 2; open at the end of a "
                       "life 0; hub and node agree on 4\n",
                       text);
        CHECK_CONTAINS("9.0 MB at most", text);
        CHECK_CONTAINS("violations: 0\n", text);
    }
    free(text);
}

static void a_chunk_without_a_verdict_is_lost(void)
{
    refused("  send 2 offer exchange=3 fragment=0\n",
            "  send 2 offer exchange=3 fragment=0\n"
            "  send 2 offer exchange=4 fragment=0\n",
            "N1: exchange 4 chunk 1 of life 1 has no verdict");
}

static void a_second_verdict_is_one_too_many(void)
{
    refused("2.9 message 2 pong version=2\n",
            "2.9 message 2 verdict exchange=1 first=0 chunks=2 verdict=8\n",
            "N1: chunk 0 has a second verdict");
}

static void a_verdict_needs_an_offer(void)
{
    refused("exchange=3 chunk=1", "exchange=5 chunk=1",
            "N1: a verdict for what was never offered");
}

static void what_a_node_was_told_the_hub_must_have_said(void)
{
    refused("  send 4 result exchange=3 chunk=1 verdict=0 version=3\n", "",
            "N1: exchange 3 chunk 1 of life 1 was told merged, and the hub "
            "has not said so");
}

static void a_hub_that_merges_twice_is_caught(void)
{
    refused("4.2 message 4 attach session=9\n",
            "4.2 message 4 attach session=9\n"
            "  send 4 result exchange=1 chunk=0 verdict=0 version=3\n",
            "N2: the chunk was in version 1");
}

static void a_version_that_goes_back_is_caught(void)
{
    refused("8.1 done delta", "8.1 message 2 pong version=1\n8.1 done delta",
            "N3: (epoch 2, version 1) after (2, 2)");
}

static void an_epoch_that_goes_back_is_caught(void)
{
    refused("run=5 epoch=2", "run=5 epoch=0",
            "N3: (epoch 0, version 2) after (1, 2)");
}

static void a_centre_older_than_the_saved_one_is_caught(void)
{
    refused("session=9 version=2", "session=9 version=1",
            "N4: it goes on from version 1, and saved was 2");
}

static void a_centre_older_than_a_kept_one_is_caught(void)
{
    refused("\"version 2\"", "\"version 4\"",
            "N4: it goes on from version 2, and n1 kept 4");
}

/* What its second life went on without it has offered again since. */
static void what_a_hub_has_gone_on_without_is_no_newer_centre(void)
{
    int code;
    char *text = judged_with(stopped, true, &code);

    CHECK_EQUAL(0, code);
    if (CHECK(text))
        CHECK_CONTAINS("violations: 0\n", text);
    free(text);
}

/* Unless it has merged nothing: then it could still take it. */
static void until_something_is_merged_it_is(void)
{
    enum { CHANGES = sizeof stopped / sizeof *stopped };
    struct change changes[CHANGES + 1];
    int code;
    char *text;

    memcpy(changes, stopped, sizeof stopped);
    changes[CHANGES - 1] = (struct change){
        "  send 4 result exchange=3 chunk=0 verdict=0 version=3\n"
        "  send 4 result exchange=3 chunk=1 verdict=0 version=3\n",
        ""};
    changes[CHANGES] = (struct change){NULL, NULL};
    text = judged_with(changes, true, &code);
    if (CHECK(text))
        CHECK_CONTAINS("N4: it goes on from version 3, and n1 kept 4", text);
    free(text);
}

static void without_recovery_what_nodes_keep_does_not_count(void)
{
    int code;
    char *text = judged("\"version 2\"", "\"version 4\"", false, &code);

    CHECK_EQUAL(0, code);
    free(text);
}

static void a_hub_that_grows_is_caught(void)
{
    refused("memory 9000000", "memory 900000000", "N5: the hub holds 900.0 MB");
}

static void a_node_that_does_not_come_back_is_caught(void)
{
    refused("8.0 quiet", "8.15 quiet", "N6: n1 has no exchange merged in time");
}

static void a_run_that_was_broken_off_is_no_success(void)
{
    refused("8.0 quiet\n", "", "the run was broken off");
}

static void a_stalled_node_is_caught(void)
{
    refused("4.8 message 1 local_ping iteration=80\n", "",
            "N8: no iteration for 2.300 s");
}

static void a_node_that_stalls_until_its_end_is_caught(void)
{
    refused("9.3 gone n1 1 0", "19.3 gone n1 1 0",
            "N8: no iteration for 10.200 s");
}

static void who_ends_of_itself_is_named(void)
{
    refused("9.3 gone n1 1 0", "8.9 gone n1 1 139",
            "life 1 of n1 ended with 139");
}

static void a_hub_that_serves_late_is_caught(void)
{
    refused("4.1 message 3 hello", "4.5 message 3 hello",
            "it served only 0.500 s after its start");
}

void add_chaos_judge_tests(CU_pSuite suite)
{
    TEST(a_run_that_is_well_is_counted);
    TEST(a_chunk_without_a_verdict_is_lost);
    TEST(a_second_verdict_is_one_too_many);
    TEST(a_verdict_needs_an_offer);
    TEST(what_a_node_was_told_the_hub_must_have_said);
    TEST(a_hub_that_merges_twice_is_caught);
    TEST(a_version_that_goes_back_is_caught);
    TEST(an_epoch_that_goes_back_is_caught);
    TEST(a_centre_older_than_the_saved_one_is_caught);
    TEST(a_centre_older_than_a_kept_one_is_caught);
    TEST(what_a_hub_has_gone_on_without_is_no_newer_centre);
    TEST(until_something_is_merged_it_is);
    TEST(without_recovery_what_nodes_keep_does_not_count);
    TEST(a_hub_that_grows_is_caught);
    TEST(a_node_that_does_not_come_back_is_caught);
    TEST(a_run_that_was_broken_off_is_no_success);
    TEST(a_stalled_node_is_caught);
    TEST(a_node_that_stalls_until_its_end_is_caught);
    TEST(who_ends_of_itself_is_named);
    TEST(a_hub_that_serves_late_is_caught);
}
