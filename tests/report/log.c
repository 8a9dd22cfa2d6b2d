#include "report/log.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/report/sample.h"

#define WALL SAMPLE_WALL

/* What was written, one line behind the other. */
static char said[8192];
static unsigned lines;

static void hear(void *of, const char *line)
{
    size_t length = strlen(said);

    CHECK(of == &lines);
    (void)snprintf(said + length, sizeof said - length, "%s", line);
    lines++;
}

static struct logger start(enum level least, bool json)
{
    const struct log_config config = {least, json, hear, &lines};
    struct logger logger;

    said[0] = '\0';
    lines = 0;
    log_init(&logger, &config);
    return logger;
}

static struct note note_of(enum note_kind kind, const char *subject,
                           const char *text)
{
    struct note note = {.kind = kind};

    (void)snprintf(note.subject, sizeof note.subject, "%s", subject);
    (void)snprintf(note.text, sizeof note.text, "%s", text);
    return note;
}

static void a_note_is_a_line(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note joined = note_of(NOTE_JOINED, "n1", "at iteration 0");
    struct note failed = note_of(NOTE_SAVE_FAILED, "", "disk full");

    log_note(&logger, WALL, &joined);
    log_note(&logger, WALL + 61 * SECOND, &failed);
    CHECK_TEXT("2026-11-21T13:00:00Z INFO node_joined n1: at iteration 0\n"
               "2026-11-21T13:01:01Z ERROR save_failed: disk full\n",
               said);
}

static void json_notes_escape_what_nodes_say(void)
{
    struct logger logger = start(LEVEL_INFO, true);
    struct note note = note_of(NOTE_REFUSED, "a\"b\n", "\033[2J");

    log_note(&logger, WALL, &note);
    CHECK_TEXT("{\"time\":\"2026-11-21T13:00:00Z\",\"level\":\"warning\","
               "\"event\":\"node_refused\",\"subject\":\"a\\\"b\\n\","
               "\"text\":\"\\u001b[2J\"}\n",
               said);
}

static void hostile_notes_stay_on_their_line(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note note = note_of(NOTE_REFUSED, HOSTILE_NAME, "a\nb\033[2J\x9b");

    log_note(&logger, WALL, &note);
    CHECK_TEXT("2026-11-21T13:00:00Z WARNING node_refused "
               "?[2J\"</td><b>'\\????: a?b?[2J?\n",
               said);
}

static void details_are_hidden_unless_asked_for(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note note = note_of(NOTE_ROUND, "", "version 1");

    log_note(&logger, WALL, &note);
    CHECK_EQUAL(0, lines);
    logger = start(LEVEL_DEBUG, false);
    log_note(&logger, WALL, &note);
    CHECK_EQUAL(1, lines);
}

static void what_comes_too_often_is_counted(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note note = note_of(NOTE_REFUSED, "x", "no");

    for (int i = 0; i < 142; i++)
        log_note(&logger, WALL + i * MILLISECOND, &note);
    CHECK_EQUAL(LOG_MOST, lines);
    log_tick(&logger, WALL + LOG_INTERVAL - 1);
    CHECK_EQUAL(LOG_MOST, lines);
    log_tick(&logger, WALL + LOG_INTERVAL);
    CHECK_EQUAL(LOG_MOST + 1, lines);
    CHECK_CONTAINS("\n... and 112 more node_refused in the last 10 s\n", said);
    log_note(&logger, WALL + LOG_INTERVAL, &note);
    CHECK_EQUAL(LOG_MOST + 2, lines);
}

static void the_count_comes_before_the_next_note(void)
{
    struct logger logger = start(LEVEL_INFO, true);
    struct note note = note_of(NOTE_REFUSED, "x", "no");

    for (int i = 0; i < LOG_MOST + 1; i++)
        log_note(&logger, WALL, &note);
    log_note(&logger, WALL + LOG_INTERVAL, &note);
    CHECK_EQUAL(LOG_MOST + 2, lines);
    CHECK_CONTAINS("{\"time\":\"2026-11-21T13:00:00Z\",\"level\":\"warning\","
                   "\"event\":\"withheld\",\"subject\":\"node_refused\","
                   "\"count\":1}\n",
                   said);
}

static void one_kind_does_not_silence_another(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note refused = note_of(NOTE_REFUSED, "x", "no");
    struct note joined = note_of(NOTE_JOINED, "y", "hello");

    for (int i = 0; i < 2 * LOG_MOST; i++)
        log_note(&logger, WALL, &refused);
    log_note(&logger, WALL, &joined);
    CHECK_CONTAINS("node_joined y: hello", said);
}

static void a_clock_set_back_withholds_nothing_for_long(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note note = note_of(NOTE_REFUSED, "x", "no");

    for (int i = 0; i < LOG_MOST + 1; i++)
        log_note(&logger, WALL, &note);
    log_note(&logger, WALL - 3600 * SECOND, &note);
    CHECK_EQUAL(LOG_MOST + 2, lines);
}

/* A thousand in a minute, while another one comes and goes at its leisure. */
static void who_comes_again_and_again_fills_no_log(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note churns[] = {note_of(NOTE_JOINED, "churn", "hello"),
                            note_of(NOTE_LOST, "churn", "gone")};
    struct note other = note_of(NOTE_JOINED, "other", "hello");

    for (int i = 0; i < 2; i++)
        (void)snprintf(churns[i].address, ADDRESS_BYTES, "10.0.0.7");
    (void)snprintf(other.address, ADDRESS_BYTES, "10.0.0.8");
    for (int i = 0; i < 1000; i++)
        log_note(&logger, WALL + (nanos)i * 59 * MILLISECOND, &churns[i % 2]);
    CHECK_EQUAL(LOG_OF_ADDRESS, lines);
    log_note(&logger, WALL + 59 * SECOND, &other);
    CHECK_CONTAINS("node_joined other: hello", said);
    log_tick(&logger, WALL + LOG_ADDRESS_INTERVAL);
    CHECK_EQUAL(LOG_OF_ADDRESS + 2, lines);
    CHECK_CONTAINS("... and 940 more of nodes at 10.0.0.7 that come and go in "
                   "the last 60 s\n",
                   said);
    log_note(&logger, WALL + LOG_ADDRESS_INTERVAL, &churns[0]);
    CHECK_EQUAL(LOG_OF_ADDRESS + 3, lines);
}

/* Beyond the addresses that are counted each has the kinds' limit. */
static void a_crowd_of_addresses_is_held_to_the_kinds_limit(void)
{
    struct logger logger = start(LEVEL_INFO, true);
    struct note note = note_of(NOTE_JOINED, "x", "hello");

    for (int i = 0; i < 2 * LOG_ADDRESSES; i++) {
        (void)snprintf(note.address, ADDRESS_BYTES, "10.0.1.%d", i);
        log_note(&logger, WALL, &note);
    }
    CHECK_EQUAL(LOG_MOST, lines);
    log_tick(&logger, NEVER);
    CHECK_EQUAL(LOG_MOST + 1, lines);
    CHECK_CONTAINS("\"subject\":\"node_joined\",\"count\":98}", said);
}

static void at_the_end_everything_is_said(void)
{
    struct logger logger = start(LEVEL_INFO, false);
    struct note note = note_of(NOTE_REFUSED, "x", "no");

    for (int i = 0; i < LOG_MOST + 2; i++)
        log_note(&logger, WALL, &note);
    log_tick(&logger, NEVER);
    CHECK_CONTAINS("... and 2 more node_refused", said);
}

void add_report_log_tests(CU_pSuite suite)
{
    TEST(a_note_is_a_line);
    TEST(json_notes_escape_what_nodes_say);
    TEST(hostile_notes_stay_on_their_line);
    TEST(details_are_hidden_unless_asked_for);
    TEST(what_comes_too_often_is_counted);
    TEST(the_count_comes_before_the_next_note);
    TEST(one_kind_does_not_silence_another);
    TEST(a_clock_set_back_withholds_nothing_for_long);
    TEST(who_comes_again_and_again_fills_no_log);
    TEST(a_crowd_of_addresses_is_held_to_the_kinds_limit);
    TEST(at_the_end_everything_is_said);
}
