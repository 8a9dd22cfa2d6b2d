#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "tests/check.h"
#include "tests/sim/lab.h"
#include "tests/sim/trace/trace_text.h"
#include "tests/store/folder.h"

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
    "101.5 message 4 offer exchange=1 iteration=20 score=2.3025850929940457 "
    "norm=1e+300 lineage=1\n"
    "  send 4 grant exchange=1 credit=8\n"
    "101.6 message 5 chunk exchange=1 chunk=0 codec=0 checksum=9 [1000]\n"
    "  job check #1 1,0,9\n"
    "101.7 message 5 chunk exchange=1 chunk=1 codec=0 checksum=9 [1000 ff]\n"
    "101.8 message 5 chunk exchange=1 chunk=2 codec=0 checksum=9 [500]\n"
    "101.9 done merge #2 OK 0,0,0\n"
    "  note centre_scored \"\" \"scoring failed: out of luck\"\n"
    "  note centre_scored \"\" \"version 1: loss 3.40282347e-05, "
    "test accuracy 9 %\"\n"
    "  send 5 result exchange=1 chunk=0 version=1 checksum=3 [1000 aa]\n"
    "  send 5 result exchange=1 chunk=1 version=1 checksum=3 [1000 aa]\n"
    "  send 5 result exchange=1 chunk=2 version=1 checksum=3\n" /* known */
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
               "1.4s hub score 0.000034028\n"
               "1.1s my__u001b_PC up 7500B\n"
               "1.4s my__u001b_PC down 10kB\n"
               "1.7s my__u001b_PC delay 300us\n"
               "0.7s my__u001b_PC step 200ms\n"
               "1s my__u001b_PC score 2.302585093\n"
               "0.5s my__u001b_PC join\n"
               "0.7s my__u001b_PC iteration done=10\n"
               "1s my__u001b_PC offer exchange=1 iteration=20\n"
               "1.1s my__u001b_PC upload exchange=1 chunks=3 bytes=2500 "
               "until=1.3s\n"
               "1.4s my__u001b_PC download exchange=1 chunks=3 bytes=2000 "
               "until=1.6s\n"
               "1.5s my__u001b_PC wait until=1.7s\n"
               "1.6s my__u001b_PC result exchange=1 version=1\n"
               "1.7s my__u001b_PC iteration done=14\n"
               "3.5s my__u001b_PC leave\n"
               "end\n",
               text);
    free(text);
}

static const char node_sample[] =
    "starswitch-record 1 node name=\"n 1\"\n"
    "100 message 1 local_offer exchange=0 iteration=0 samples=0 score=1e+300 "
    "last=0 [652]\n"
    "  job seal #1 0,0,0\n"
    "100.5 message 1 local_ping iteration=10 loss=1.5 waited=0 blocked=0\n"
    "100.6 join 2 control\n"
    "  send 2 hello protocol_min=1 name=\"n 1\" [24]\n"
    "100.7 message 2 welcome protocol=1 session=7 lineage=0\n"
    "100.8 message 1 local_offer exchange=1 iteration=16 score=0.5 last=0 "
    "[65]\n"
    "  send 2 offer exchange=1 iteration=16 score=0.5\n"
    "100.9 message 2 grant exchange=1 credit=652\n"
    "  send 3 chunk exchange=1 chunk=0 codec=0 [400 aa]\n"
    "  send 3 chunk exchange=1 chunk=1 codec=0 [252 aa]\n"
    "101 message 1 local_ping iteration=20 loss=1.5 waited=0 blocked=1\n"
    "101.1 message 3 result exchange=1 chunk=0 version=4 [400]\n"
    "101.2 message 3 result exchange=1 chunk=1 version=4 [100]\n"
    "101.2 message 3 result exchange=1 chunk=2 version=4\n" /* it knows it */
    "101.3 done decode #4 OK 0,0,1\n"
    "  send 1 local_result exchange=1 chunk=0 parts=2 anchor=1 [400]\n"
    "  send 1 local_result exchange=1 chunk=0 parts=2 anchor=0 [400]\n"
    "  send 1 local_result exchange=1 chunk=1 parts=2 anchor=0 [252]\n"
    "101.4 message 1 local_ping iteration=20 loss=1.5 waited=400000000 "
    "blocked=0\n"
    "101.4 message 1 applied exchange=1 iteration=20 skipped=0\n"
    "101.5 wake\n"
    "  send 2 ping sent=1 round_trip=600000 iteration=20 rate=5 waited=4\n"
    "101.8 message 1 local_ping iteration=30 loss=1.5 waited=500000000 "
    "blocked=0\n"
    "102 leave 2\n"
    "102 leave 3\n"
    "102.3 message 1 local_ping iteration=31 loss=1.5 waited=500000000 "
    "blocked=0\n";

static void a_nodes_recording_has_the_times_of_its_trainer(void)
{
    char *text = imported("record", node_sample, NULL);

    CHECK_TEXT("starswitch-trace 1\n"
               "span 2.300000001s\n"
               "1.1s n_1 down 1kB\n"
               "1.5s n_1 delay 300us\n"
               "0.5s n_1 step 50ms\n"
               "1.4s n_1 step 30ms\n"
               "1.8s n_1 step 500ms\n"
               "0.8s n_1 score 0.5\n"
               "0.5s n_1 iteration done=10\n"
               "0.7s n_1 join\n"
               "0.8s n_1 offer exchange=1 iteration=16\n"
               "0.9s n_1 upload exchange=1 chunks=2 bytes=652 until=0.9s\n"
               "1s n_1 iteration done=20\n"
               "1s n_1 wait until=1.4s\n"
               "1.1s n_1 download exchange=1 chunks=3 bytes=500 until=1.2s\n"
               "1.3s n_1 result exchange=1 version=4\n"
               "1.8s n_1 iteration done=30\n"
               "2s n_1 leave\n"
               "2.3s n_1 iteration done=31\n"
               "end\n",
               text);
    free(text);
}

static const struct {
    const char *text, *says;
} refused[] = {
    {"", "line 0: the recording ends before anything has"},
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
     "  send 4 welcome run=5\n",
     "line 3: the message has no session"},
    {"starswitch-record 1 hub\n5 wa", "line 2 is cut off"},
    {"starswitch-record 1 node\n", "line 1 is not 'starswitch-record 1 hub'"},
    {"starswitch-record 1 node name=n1\n", "line 1: the message has no name"},
    {"starswitch-record 1 node name=\"n1\"\n5 message 1 local_ping waited=1\n",
     "line 2: the message has no iteration, blocked or waited"},
    {"starswitch-record 1 node name=\"n1\"\n5 message 1 local_offer a=1\n",
     "line 2: the message has no exchange or iteration"},
};

static void a_damaged_recording_is_refused_by_its_line(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = imported("record", refused[i].text, NULL);

        CHECK_CONTAINS(refused[i].says, text);
        free(text);
    }
    check_damage(importer_find("record"), sample, 3000);
    check_damage(importer_find("record"), node_sample, 3000);
}

/* ---- recordings as they are now, on a virtual star ---- */

/* Of the hub, and of the first node. */
struct records {
    struct record *hub, *node;
};

static void record_both(struct lab *lab, const struct world_step *step)
{
    const struct records *records = lab->own;

    if (step->process == WORLD_HUB)
        record_step(records->hub, step->event, step->effects);
    else if (step->process == 0 && !step->trainer)
        record_step(records->node, step->event, step->effects);
}

static void evaluate(void *context, const float *theta, size_t elements,
                     double *loss, double *accuracy)
{
    (void)context;
    (void)theta;
    (void)elements;
    *loss = 3.000001;
    *accuracy = -1;
}

/* Two nodes; 100,000 parameters in chunks of 64 KiB over links of 1 MB/s. */
static struct lab *star_new(struct records *records)
{
    struct lab *lab = lab_new(100000);

    lab->config.hub.every = 5;
    lab->config.hub.miss = MISS_WAIT;
    lab->config.hub.nodes = 2;
    lab->config.hub.chunk_elements = 1 << 14;
    lab->config.hub.window = 8 << 16;
    lab->config.link =
        (struct world_link){5 * MILLISECOND, 0, 1000000, 1000000, 0};
    lab->config.hooks.evaluate = evaluate;
    lab->after_step = record_both;
    lab->own = records;
    return lab;
}

/* Records 30 s of it to the files "hub" and "node". */
static bool record_a_star(struct folder *folder)
{
    static const struct drift drift = {0.25f};
    const struct spool_complaint nobody = {NULL, NULL};
    const struct model model = {
        .gradient = trainer_drift, .context = &drift, .rate = 1};
    struct records records = {NULL, NULL};
    struct lab *lab;
    bool made = CHECK_OK(record_open(folder_file(folder, "hub"), "hub", nobody,
                                     &records.hub, NULL)) &&
                CHECK_OK(record_open_node(folder_file(folder, "node"), "n1",
                                          nobody, &records.node, NULL));

    if (made) {
        lab = star_new(&records);
        lab_open(lab, 1);
        (void)lab_add(lab, "n1", &model);
        (void)lab_add(lab, "n2", &model);
        CHECK(lab_run(lab, 30 * SECOND));
        lab_destroy(&lab);
    }
    record_close(&records.hub);
    record_close(&records.node);
    return made;
}

static struct trace *recording_of(struct folder *folder, const char *file)
{
    const struct import_options options = {.node = TRACE_ALL};
    struct why why = {""};
    struct trace *trace = NULL;
    size_t size;
    char *text = file_content(folder_file(folder, file), &size);

    if (CHECK(text != NULL))
        trace =
            import_exactly(importer_find("record"), text, size, &options, &why);
    CHECK_TEXT("", why.text);
    if (trace)
        CHECK(is_sound(trace, &why));
    free(text);
    return trace;
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
    struct trace *trace;
    struct folder folder;

    if (!CHECK(folder_new(&folder)))
        return;
    trace = record_a_star(&folder) ? recording_of(&folder, "hub") : NULL;
    if (trace) {
        const struct trace_track *n1 = trace_find(trace, "n1");

        check_node(trace, "n1");
        check_node(trace, "n2");
        CHECK_EQUAL(2, count_events(trace, TRACED_JOIN));
        CHECK(count_events(trace, TRACED_OFFER) > 20);
        CHECK(count_events(trace, TRACED_RESULT) > 20);
        CHECK(count_events(trace, TRACED_WAIT) > 20);
        CHECK(n1->series[QUANTITY_SCORE].count > 0);
        CHECK_EQUAL(3000001000,
                    trace_at(trace, &trace->hub, QUANTITY_SCORE, 20 * SECOND));
    }
    trace_destroy(&trace);
    folder_remove(&folder);
}

/* The event of this kind and exchange at n1; numbers 0: there is none. */
static struct traced event_of(const struct trace *trace, enum traced_kind kind,
                              uint64_t exchange)
{
    for (size_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].kind == kind &&
            trace->events[i].numbers[0] == exchange &&
            strcmp(trace->events[i].track->name, "n1") == 0)
            return trace->events[i];
    return (struct traced){.time = 0};
}

/* The hub sees an offer once it is encoded and has travelled. */
static void check_offers(const struct trace *node, const struct trace *hub)
{
    const nanos later = event_of(hub, TRACED_OFFER, 2).time -
                        event_of(node, TRACED_OFFER, 2).time;

    for (uint64_t i = 2; i < 10; i++) {
        const struct traced offered = event_of(node, TRACED_OFFER, i);
        const struct traced seen = event_of(hub, TRACED_OFFER, i);

        CHECK_EQUAL(5 * i, offered.numbers[1]);
        CHECK_EQUAL(5 * i, seen.numbers[1]);
        CHECK_NEAR((double)later, (double)(seen.time - offered.time), 3e5);
        CHECK_EQUAL(i, event_of(node, TRACED_RESULT, i).numbers[0]);
        CHECK_NEAR((double)event_of(hub, TRACED_RESULT, i).time,
                   (double)event_of(node, TRACED_RESULT, i).time, 2e7);
    }
}

static void what_a_node_records_is_what_its_hub_saw(void)
{
    struct trace *node = NULL, *hub = NULL;
    struct folder folder;

    if (!CHECK(folder_new(&folder)))
        return;
    if (record_a_star(&folder)) {
        node = recording_of(&folder, "node");
        hub = recording_of(&folder, "hub");
    }
    if (node && hub) {
        const struct trace_track *n1 = trace_find(node, "n1");
        const nanos now = 20 * SECOND;

        CHECK_EQUAL(1, node->node_count);
        CHECK_NEAR(1e8, (double)trace_at(node, n1, QUANTITY_STEP, now), 1);
        CHECK_NEAR(5e6, (double)trace_at(node, n1, QUANTITY_DELAY, now), 3e5);
        CHECK_NEAR(1e6, (double)trace_at(node, n1, QUANTITY_DOWN, now), 2e4);
        CHECK(count_events(node, TRACED_WAIT) > 20);
        CHECK_EQUAL(trace_at(hub, trace_find(hub, "n1"), QUANTITY_SCORE, now),
                    trace_at(node, n1, QUANTITY_SCORE, now));
        check_offers(node, hub);
    }
    trace_destroy(&node);
    trace_destroy(&hub);
    folder_remove(&folder);
}

void add_sim_trace_import_record_tests(CU_pSuite suite)
{
    TEST(a_recording_says_who_did_what_and_when);
    TEST(a_nodes_recording_has_the_times_of_its_trainer);
    TEST(a_damaged_recording_is_refused_by_its_line);
    TEST(what_a_hub_records_gives_the_star_back);
    TEST(what_a_node_records_is_what_its_hub_saw);
}
