#include "seam/transcript.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"

static void nothing(struct job *job)
{
    (void)job;
}

static const struct work merging = {"merge", nothing, NULL};

/* Static, as one test looks at one line. */
static const char *line_of(const struct event *event)
{
    static char line[TRANSCRIPT_BYTES];
    size_t length = transcript_event(event, line, sizeof line);

    CHECK_EQUAL(strlen(line), length);
    return line;
}

static const char *effect_line_of(const struct effect *effect)
{
    static char line[TRANSCRIPT_BYTES];
    size_t length = transcript_effect(effect, line, sizeof line);

    CHECK_EQUAL(strlen(line), length);
    return line;
}

static void connections_are_told_by_peer_and_channel(void)
{
    struct event event = {.now = SECOND / 4,
                          .kind = EVENT_JOIN,
                          .peer = 3,
                          .channel = CHANNEL_BULK};

    CHECK_TEXT("0.25 join 3 bulk", line_of(&event));
    event.kind = EVENT_LEAVE;
    CHECK_TEXT("0.25 leave 3", line_of(&event));
}

static void time_is_exact(void)
{
    static const struct {
        nanos now;
        const char *line;
    } rows[] = {
        {0, "0 wake"},
        {1, "0.000000001 wake"},
        {90 * SECOND, "90 wake"},
        {SECOND + 50 * MILLISECOND, "1.05 wake"},
        {NEVER, "9223372036.854775807 wake"},
        {-SECOND / 2, "-0.5 wake"},
        {INT64_MIN, "-9223372036.854775808 wake"},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event event = {.now = rows[i].now, .kind = EVENT_WAKE};

        CHECK_TEXT(rows[i].line, line_of(&event));
    }
}

static void a_payload_is_its_size_and_its_checksum_once_sealed(void)
{
    struct msg msg = {.kind = MSG_CHUNK,
                      .chunk = {.exchange = 1, .chunk = 2, .checksum = 4}};
    struct pool *pool = pool_new();
    struct blob *payload = blob_new(pool, 4);
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = 8, .msg = &msg, .payload = payload};
    char expected[200];

    memset(payload->bytes, 7, 4);
    CHECK_TEXT("0 message 8 chunk exchange=1 chunk=2 codec=0 checksum=4 [4]",
               line_of(&event));
    blob_seal(payload);
    (void)snprintf(expected, sizeof expected,
                   "0 message 8 chunk exchange=1 chunk=2 codec=0 checksum=4 "
                   "[4 %016" PRIx64 "]",
                   payload->checksum);
    CHECK_TEXT(expected, line_of(&event));
    blob_unref(&payload);
    pool_destroy(&pool);
}

static void jobs_are_their_work_number_status_and_tags(void)
{
    struct job *job = job_new(&merging, NULL, 0);
    struct event event = {.kind = EVENT_DONE, .job = job};
    struct effect effect = {.kind = EFFECT_JOB, .job = job};

    job->id = 12;
    job->tag[0] = 1;
    job->tag[2] = UINT64_MAX;
    CHECK_TEXT("  job merge #12 1,0,18446744073709551615",
               effect_line_of(&effect));
    job->status = STATUS_NO_MEMORY;
    CHECK_TEXT("0 done merge #12 NO_MEMORY 1,0,18446744073709551615",
               line_of(&event));
    job_destroy(&job);
}

static void effects_are_indented(void)
{
    struct msg pong = {.kind = MSG_PONG, .pong = {.sent = 4, .version = 1}};
    struct effects effects = {0};

    effects_send(&effects, 2, &pong, NULL);
    effects_drop(&effects, 5);
    effects_note(&effects, NOTE_ROUND, "n\n1", "version %d", 1);
    CHECK_TEXT("  send 2 pong sent=4 version=1 samples=0",
               effect_line_of(&effects.list[0]));
    CHECK_TEXT("  drop 5", effect_line_of(&effects.list[1]));
    CHECK_TEXT("  note round_done \"n\\n1\" \"version 1\"",
               effect_line_of(&effects.list[2]));
    effects_free(&effects);
}

static void the_longest_line_has_room(void)
{
    struct effect effect = {.kind = EFFECT_NOTE};
    struct msg msg;

    memset(effect.note.subject, 1, SUBJECT_BYTES - 1);
    memset(effect.note.text, 1, NOTE_BYTES - 1);
    CHECK(strlen(effect_line_of(&effect)) < TRANSCRIPT_BYTES - 1);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++) {
        const struct msg_info *info = msg_info(kind);
        struct event event = {
            .now = INT64_MIN, .kind = EVENT_MESSAGE, .peer = UINT64_MAX};

        memset(&msg, 0xff, sizeof msg);
        msg.kind = kind;
        for (unsigned i = 0; i < info->field_count; i++)
            if (info->fields[i].type == FIELD_TEXT)
                ((char *)&msg)[info->fields[i].offset + MSG_TEXT_BYTES - 1] = 0;
        event.msg = &msg;
        CHECK(strlen(line_of(&event)) < TRANSCRIPT_BYTES - 100);
    }
}

static void a_line_is_cut_to_fit(void)
{
    struct event event = {.now = 5 * SECOND, .kind = EVENT_WAKE};
    char line[4] = "!!!";

    CHECK_EQUAL(2, transcript_event(&event, line, 3));
    CHECK_TEXT("5 ", line);
}

void add_seam_transcript_tests(CU_pSuite suite)
{
    TEST(connections_are_told_by_peer_and_channel);
    TEST(time_is_exact);
    TEST(a_payload_is_its_size_and_its_checksum_once_sealed);
    TEST(jobs_are_their_work_number_status_and_tags);
    TEST(effects_are_indented);
    TEST(the_longest_line_has_room);
    TEST(a_line_is_cut_to_fit);
}
