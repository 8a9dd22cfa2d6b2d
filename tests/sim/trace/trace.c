#include "sim/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/sim/trace/trace_text.h"

static const char sample[] = "starswitch-trace 1\n"
                             "span 60s\n"
                             "0s * up 100Mbit\n"
                             "0s * down 1Gbit\n"
                             "0s * delay 3ms\n"
                             "0s * loss 0.001\n"
                             "0s hub down 1GB\n"
                             "10s n3 up 0\n"
                             "12.5s n3 up 5MB\n"
                             "0s n3 jitter 20us\n"
                             "0s n3 step 200ms\n"
                             "0.120031877s n3 join\n"
                             "3.2s n3 offer exchange=1 iteration=20\n"
                             "3.2s n3 upload exchange=1 chunks=8 bytes=8388608"
                             " until=3.4s\n"
                             "4s n3 iteration done=25\n"
                             "5s n3 wait until=5.25s\n"
                             "60s n3 leave\n"
                             "end\n";

static struct trace *read_sample(void)
{
    struct why why = {""};
    struct trace *trace = parse_exactly(sample, strlen(sample), &why);

    CHECK_TEXT("", why.text);
    return trace;
}

static void a_trace_is_written_as_it_was_read(void)
{
    struct trace *trace = read_sample();
    char *text;

    if (!CHECK(trace != NULL))
        return;
    text = text_of_trace(trace);
    CHECK_TEXT(sample, text);
    free(text);
    trace_destroy(&trace);
    CHECK(!trace);
    trace_destroy(&trace);
}

static void it_says_what_holds_at_any_time(void)
{
    struct trace *trace = read_sample();
    struct trace_track *n3;

    if (!CHECK(trace != NULL))
        return;
    n3 = trace_find(trace, "n3");
    CHECK(n3 && trace_find(trace, "n4") == NULL);
    CHECK(trace_find(trace, "hub") == &trace->hub);
    CHECK_EQUAL(12500000, trace_at(trace, n3, QUANTITY_UP, 9 * SECOND));
    CHECK_EQUAL(0, trace_at(trace, n3, QUANTITY_UP, 10 * SECOND));
    CHECK_EQUAL(5000000, trace_at(trace, n3, QUANTITY_UP, 59 * SECOND));
    CHECK_EQUAL(12500000, trace_at(trace, n3, QUANTITY_UP, 60 * SECOND));
    CHECK_EQUAL(12500000, trace_at(trace, NULL, QUANTITY_UP, 10 * SECOND));
    CHECK_EQUAL(SERIES_UNSET, trace_at(trace, NULL, QUANTITY_STEP, 0));
    CHECK_EQUAL(1000000000, trace_at(trace, &trace->hub, QUANTITY_DOWN, 0));
    CHECK_EQUAL(SERIES_UNSET, trace_at(trace, &trace->hub, QUANTITY_UP, 0));
    CHECK_EQUAL(10 * SECOND, trace_next_change(trace, n3, QUANTITY_UP, 0));
    CHECK_EQUAL(70 * SECOND,
                trace_next_change(trace, n3, QUANTITY_UP, 60 * SECOND));
    CHECK_EQUAL(NEVER, trace_next_change(trace, NULL, QUANTITY_UP, 0));
    trace_destroy(&trace);
}

static void events_have_their_numbers(void)
{
    struct trace *trace = read_sample();
    const struct traced *upload;

    if (!trace || !CHECK_EQUAL(6, trace->event_count))
        return;
    upload = &trace->events[2];
    CHECK_EQUAL(TRACED_UPLOAD, upload->kind);
    CHECK_EQUAL(3200 * MILLISECOND, upload->time);
    CHECK_EQUAL(3400 * MILLISECOND, upload->until);
    CHECK_EQUAL(1, upload->numbers[0]);
    CHECK_EQUAL(8, upload->numbers[1]);
    CHECK_EQUAL(8388608, upload->numbers[2]);
    CHECK_TEXT("n3", upload->track->name);
    trace_destroy(&trace);
}

/* Lines as a person writes them: in any order, with comments. */
static void lines_may_stand_in_any_order(void)
{
    static const char text[] = "starswitch-trace 1\r\n"
                               "# a comment\n"
                               "\n"
                               "  span\t1min  # a minute\n"
                               "2s b offer exchange=2 iteration=9\n"
                               "1s a up 1MB # half\n"
                               "0s a down 1MB\n"
                               "1s b offer exchange=1 iteration=5\n"
                               "end\n"
                               "# more\n";
    struct trace *trace = parse_exactly(text, strlen(text), NULL);
    char *written;

    if (!CHECK(trace != NULL))
        return;
    written = text_of_trace(trace);
    CHECK_TEXT("starswitch-trace 1\nspan 60s\n1s a up 1MB\n0s a down 1MB\n"
               "1s b offer exchange=1 iteration=5\n"
               "2s b offer exchange=2 iteration=9\nend\n",
               written);
    free(written);
    trace_destroy(&trace);
}

static void what_is_written_reads_as_the_same_trace(void)
{
    unsigned rounds = runs_slowly() ? 50 : 500;

    for (unsigned seed = 0; seed < rounds; seed++) {
        struct prng prng;
        struct trace *trace;
        struct why why = {""};

        prng_seed(&prng, seed);
        trace = random_trace(&prng);
        if (!CHECK(is_sound(trace, &why)))
            (void)printf("seed %u\n", seed);
        trace_destroy(&trace);
    }
}

static void two_traces_differ_if_anything_does(void)
{
    struct trace *trace = read_sample();

    for (const char *at = strchr(sample, '\n') + 1; *at; at++) {
        char *copy = strdup(sample);
        struct trace *other;

        if (*at < '1' || *at > '8') {
            free(copy);
            continue;
        }
        copy[at - sample]++;
        other = parse_exactly(copy, strlen(copy), NULL);
        CHECK(!other || !trace_equal(trace, other));
        trace_destroy(&other);
        free(copy);
    }
    trace_destroy(&trace);
}

/* A text that is refused, and what the sentence about it must have. */
#define HEAD "starswitch-trace 1\nspan 9s\n"
static const struct {
    const char *text, *says;
} refused[] = {
    {"", "line 1: the file is empty"},
    {"starswitch-trace 2\nspan 9s\nend\n", "line 1 is not"},
    {"PING hub\n", "starswitch-sim import"},
    {HEAD, "line 2 is the last and not 'end'"},
    {HEAD "end", "line 3 is cut off"},
    {"starswitch-trace 1\nend\n", "line 2: a trace first says how long"},
    {"starswitch-trace 1\nspan 0s\nend\n", "line 2: the span is nothing"},
    {"starswitch-trace 1\nspan\nend\n", "line 2: span has no value"},
    {HEAD "span 9s\nend\n", "line 3: a second span"},
    {HEAD "end\nend\n", "line 4 comes after 'end'"},
    {HEAD "end 5\n", "line 3: '5' is too much"},
    {HEAD "7\nend\n", "line 3: the time '7': expected a time with its unit"},
    {HEAD "0s\nend\n", "line 3: names no node"},
    {HEAD "0s n1\nend\n", "line 3: says nothing of n1"},
    {HEAD "0s n1 speed 5MB\nend\n", "line 3: 'speed' is neither"},
    {HEAD "0s n1 up\nend\n", "line 3: up has no value"},
    {HEAD "0s n1 up 5MB 6MB\nend\n", "line 3: '6MB' is too much"},
    {HEAD "0s n1 up 5ms\nend\n", "line 3: up '5ms': expected a rate"},
    {HEAD "0s n1 loss 2\nend\n", "line 3: loss '2': is too large"},
    {HEAD "9s n1 up 5MB\nend\n", "line 3: the value comes after"},
    {HEAD "1s n1 up 5MB\n1s n1 up 6MB\nend\n", "line 4: up of n1 has a value"},
    {HEAD "0s n1 step 999ns\nend\n", "line 3: step of n1 is less than 1us"},
    {HEAD "0s * step 0s\nend\n", "line 3: step of * is less than 1us"},
    {HEAD "10s n1 join\nend\n", "line 3: it happens after"},
    {HEAD "1s * join\nend\n", "line 3: join happens at a node"},
    {HEAD "1s n1 offer\nend\n", "line 3: offer needs exchange=N"},
    {HEAD "1s n1 offer exchange=1 2\nend\n", "iteration=N"},
    {HEAD "1s n1 offer exchange=-1 iteration=2\nend\n", "exchange=N"},
    {HEAD "1s n1 wait\nend\n", "line 3: wait lasts"},
    {HEAD "1s n1 wait until=0.5s\nend\n", "line 3: it ends before it begins"},
    {HEAD "1s n1 wait until=9.5s\nend\n", "line 3: it happens after"},
    {HEAD "1s \x01 up 5MB\nend\n", "line 3: the name '?'"},
};

static void a_text_that_is_no_trace_is_refused_by_its_line(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct why why = {""};
        struct trace *trace =
            parse_exactly(refused[i].text, strlen(refused[i].text), &why);

        if (!CHECK(!trace) || !CHECK_CONTAINS(refused[i].says, why.text))
            (void)printf("%s\n", refused[i].text);
        trace_destroy(&trace);
    }
}

static void a_zero_byte_and_endless_lines_are_refused(void)
{
    static const char zero[] = HEAD "0s n1 up 5MB\0\nend\n";
    struct why why = {""};
    char *line = malloc(100000);

    CHECK(!parse_exactly(zero, sizeof zero - 1, &why));
    CHECK_CONTAINS("line 3 has a zero byte", why.text);
    memset(line, 'a', 100000);
    CHECK(!parse_exactly(line, 100000, &why));
    CHECK_CONTAINS("line 1 is longer", why.text);
    free(line);
}

static void every_beginning_of_a_trace_is_refused(void)
{
    for (size_t i = 0; i < strlen(sample); i++) {
        struct why why = {""};
        struct trace *trace = parse_exactly(sample, i, &why);

        CHECK(!trace);
        CHECK_CONTAINS("line ", why.text);
        trace_destroy(&trace);
    }
}

static void garbled_traces_are_refused_or_read(void)
{
    check_damage(NULL, sample, 4000);
}

static void a_trace_has_a_bounded_number_of_nodes(void)
{
    struct trace *trace = trace_new();
    struct trace_track *track = NULL;
    struct why why = {""};

    for (int i = TRACE_MAX_NODES; i > 0; i--) {
        char name[TRACE_NAME_BYTES];

        (void)snprintf(name, sizeof name, "n%d", i);
        if (!CHECK_OK(trace_track(trace, name, &track, NULL)))
            break;
    }
    CHECK_STATUS(STATUS_CONFIG, trace_track(trace, "x", &track, &why));
    CHECK_CONTAINS("at most 16384 nodes", why.text);
    CHECK(trace_find(trace, "n1") && trace_find(trace, "n16384"));
    trace_destroy(&trace);
}

static void a_sink_that_is_full_ends_the_writing(void)
{
    struct trace *trace = read_sample();

    for (size_t most = 1; most < strlen(sample); most++) {
        struct text_buffer buffer = {.most = most};
        const struct trace_sink sink = text_buffer_sink(&buffer);

        CHECK(!trace_write(trace, &sink));
        text_buffer_free(&buffer);
    }
    trace_destroy(&trace);
}

void add_sim_trace_trace_tests(CU_pSuite suite)
{
    TEST(a_trace_is_written_as_it_was_read);
    TEST(it_says_what_holds_at_any_time);
    TEST(events_have_their_numbers);
    TEST(lines_may_stand_in_any_order);
    TEST(what_is_written_reads_as_the_same_trace);
    TEST(two_traces_differ_if_anything_does);
    TEST(a_text_that_is_no_trace_is_refused_by_its_line);
    TEST(a_zero_byte_and_endless_lines_are_refused);
    TEST(every_beginning_of_a_trace_is_refused);
    TEST(garbled_traces_are_refused_or_read);
    TEST(a_trace_has_a_bounded_number_of_nodes);
    TEST(a_sink_that_is_full_ends_the_writing);
}
