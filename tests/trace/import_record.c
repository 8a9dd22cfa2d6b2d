#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/record.h"
#include "tests/check.h"
#include "tests/sim/lab.h"
#include "tests/store/folder.h"
#include "tests/trace/paper.h"

static const char sample[] =
    "starswitch-record 1 hub\n"
    "set nodes 1\n"
    "set data /my data\n"
    "100.5 wake\n"
    "101 join 4 control\n"
    "101 message 4 hello protocol_min=1 run=0 name=\"my \\u001b PC\" [24]\n"
    "  note node_joined \"my PC\" \"at iteration 0\"\n"
    "  send 4 welcome protocol=1 session=7 lineage=0\n"
    "101.1 join 5 bulk\n"
    "101.1 message 5 attach session=7\n"
    "101.2 message 4 ping sent=1000000000 round_trip=0 iteration=10 rate=0 "
    "waited=0\n"
    "101.5 message 4 offer exchange=1 iteration=20 lineage=1\n"
    "  send 4 grant exchange=1 credit=8\n"
    "101.6 message 5 chunk exchange=1 chunk=0 codec=0 checksum=9 [1000]\n"
    "  job check #1 1,0,9\n"
    "101.7 message 5 chunk exchange=1 chunk=1 codec=0 checksum=9 [1000 ff]\n"
    "101.8 message 5 chunk exchange=1 chunk=2 codec=0 checksum=9 [500]\n"
    "101.9 done merge #2 OK 0,0,0\n"
    "  send 5 result exchange=1 chunk=0 version=1 checksum=3 [1000 aa]\n"
    "  send 5 result exchange=1 chunk=1 version=1 checksum=3 [1000 aa]\n"
    "102 message 4 credit exchange=1 more=1000\n"
    "102.1 message 4 credit exchange=1 more=1000\n"
    "102.2 message 4 ping sent=2000000000 round_trip=600000 iteration=14 "
    "rate=5.0000000000000003 waited=200000000\n"
    "103 message 9 offer exchange=1 iteration=20 lineage=1\n"
    "104 leave 5\n"
    "104 leave 4\n";

static void a_recording_says_who_did_what_and_when(void)
{
    char *text = imported("record", sample, NULL);

    CHECK_TEXT("starswitch-trace 1\n"
               "span 3.500000001s\n"
               "1.1s my__u001b_PC up 7500B\n"
               "1.4s my__u001b_PC down 10kB\n"
               "1.7s my__u001b_PC delay 300us\n"
               "0.7s my__u001b_PC step 200ms\n"
               "0.5s my__u001b_PC join\n"
               "0.7s my__u001b_PC iteration done=10\n"
               "1s my__u001b_PC offer exchange=1 iteration=20\n"
               "1.1s my__u001b_PC upload exchange=1 chunks=3 bytes=2500 "
               "until=1.3s\n"
               "1.4s my__u001b_PC download exchange=1 chunks=2 bytes=2000 "
               "until=1.6s\n"
               "1.5s my__u001b_PC wait until=1.7s\n"
               "1.6s my__u001b_PC result exchange=1 version=1\n"
               "1.7s my__u001b_PC iteration done=14\n"
               "3.5s my__u001b_PC leave\n"
               "end\n", text);
    free(text);
}

static const struct {
    const char *text, *says;
} refused[] = {
    {"", "line 0: the recording ends before a node has joined"},
    {"starswitch-record 1 hub\n1 wake\n", "line 2: the recording ends before"},
    {"starswitch-record 2 hub\n", "line 1 is not 'starswitch-record 1 hub'"},
    {"starswitch-record 1 hub\nx wake\n", "line 2: 'x' is no time"},
    {"starswitch-record 1 hub\n5 wake\n4 wake\n", "line 3: the time goes back"},
    {"starswitch-record 1 hub\n5 wake\nset every 5\n",
     "line 3: 'set' is no time"},
    {"starswitch-record 1 hub\n5 dance\n", "line 2: 'dance' is no event"},
    {"starswitch-record 1 hub\n5 message\n", "line 2: a message without its"},
    {"starswitch-record 1 hub\n5 leave x\n", "line 2: nobody leaves"},
    {"starswitch-record 1 hub\n5 message 4 hello run=1\n",
     "line 2: the message has no name"},
    {"starswitch-record 1 hub\n5 message 4 hello name=\"x\n",
     "line 2: the message has no name"},
    {"starswitch-record 1 hub\n5 message 4 hello name=\"x\"\n"
     "  send 4 welcome run=5\n", "line 3: the message has no session"},
    {"starswitch-record 1 hub\n5 wa", "line 2 is cut off"},
};

static void a_damaged_recording_is_refused_by_its_line(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = imported("record", refused[i].text, NULL);

        CHECK_CONTAINS(refused[i].says, text);
        free(text);
    }
    check_damage(importer_find("record"), sample, 3000);
}

/* ---- the recording of a hub as it is now, on a virtual star ---- */

static void record_hub(struct lab *lab, const struct world_step *step)
{
    if (step->process == WORLD_HUB)
        record_step(lab->own, step->event, step->effects);
}

/* Two nodes; 100,000 parameters in chunks of 64 KiB over links of 1 MB/s. */
static char *record_a_star(struct folder *folder)
{
    static const struct drift drift = {0.25f};
    const struct model model = {.gradient = trainer_drift, .context = &drift,
                                .rate = 1};
    const struct spool_complaint nobody = {NULL, NULL};
    struct record *record = NULL;
    struct lab *lab;
    size_t size;

    if (!CHECK_OK(record_open(folder_file(folder, "r"), "hub", nobody,
                              &record, NULL)))
        return NULL;
    lab = lab_new(100000);
    lab->config.hub.every = 5;
    lab->config.hub.miss = MISS_WAIT;
    lab->config.hub.nodes = 2;
    lab->config.hub.chunk_elements = 1 << 14;
    lab->config.hub.window = 8 << 16;
    lab->config.link =
        (struct world_link){5 * MILLISECOND, 0, 1000000, 1000000, 0};
    lab->after_step = record_hub;
    lab->own = record;
    lab_open(lab, 1);
    (void)lab_add(lab, "n1", &model);
    (void)lab_add(lab, "n2", &model);
    CHECK(lab_run(lab, 30 * SECOND));
    lab_destroy(&lab);
    record_close(&record);
    return file_content(folder_file(folder, "r"), &size);
}

static unsigned count_events(const struct trace *trace, enum traced_kind kind)
{
    unsigned count = 0;

    for (size_t i = 0; i < trace->event_count; i++)
        count += trace->events[i].kind == kind;
    return count;
}

static void check_node(const struct trace *trace, const char *name)
{
    const struct trace_track *track = trace_find(trace, name);
    const nanos now = 20 * SECOND;

    if (!CHECK(track != NULL))
        return;
    CHECK_NEAR(1e6, (double)trace_at(trace, track, QUANTITY_UP, now), 2e4);
    CHECK_NEAR(1e6, (double)trace_at(trace, track, QUANTITY_DOWN, now), 1e5);
    CHECK_NEAR(5e6, (double)trace_at(trace, track, QUANTITY_DELAY, now), 3e5);
    CHECK_NEAR(1e8, (double)trace_at(trace, track, QUANTITY_STEP, now), 1e6);
}

static void what_a_hub_records_gives_the_star_back(void)
{
    const struct import_options options = {.node = TRACE_ALL};
    struct why why = {""};
    struct trace *trace;
    struct folder folder;
    char *text;

    if (!CHECK(folder_new(&folder)))
        return;
    text = record_a_star(&folder);
    trace = text ? import_exactly(importer_find("record"), text, strlen(text),
                                  &options, &why) : NULL;
    CHECK_TEXT("", why.text);
    if (trace) {
        check_node(trace, "n1");
        check_node(trace, "n2");
        CHECK_EQUAL(2, count_events(trace, TRACED_JOIN));
        CHECK(count_events(trace, TRACED_OFFER) > 20);
        CHECK(count_events(trace, TRACED_RESULT) > 20);
        CHECK(count_events(trace, TRACED_WAIT) > 20);
        CHECK(is_sound(trace, &why));
    }
    trace_destroy(&trace);
    free(text);
    folder_remove(&folder);
}

void add_trace_import_record_tests(CU_pSuite suite)
{
    TEST(a_recording_says_who_did_what_and_when);
    TEST(a_damaged_recording_is_refused_by_its_line);
    TEST(what_a_hub_records_gives_the_star_back);
}
