#include "seam/history.h"

#include <string.h>

#include "tests/check.h"

static void nothing(struct job *job)
{
    (void)job;
}

static const struct work merging = {"merge", nothing, NULL};

/* A step of which each thing can be changed alone. */
struct step {
    const char *machine;
    struct event event;
    struct msg heard;
    struct effects effects;
    struct job *job;
};

static void step_open(struct step *step)
{
    struct msg pong = {.kind = MSG_PONG, .pong = {.sent = 4, .version = 1}};

    *step = (struct step){.machine = "hub"};
    step->heard = (struct msg){.kind = MSG_BYE,
                               .bye = {.farewell = 1, .text = "so it is"}};
    step->event = (struct event){
        .now = SECOND, .kind = EVENT_MESSAGE, .peer = 3, .msg = &step->heard};
    step->job = job_new(&merging, NULL, 0);
    effects_send(&step->effects, 2, &pong, NULL);
    effects_note(&step->effects, NOTE_ROUND, "n1", "version 1");
    effects_job(&step->effects, step->job);
}

static uint64_t step_close(struct step *step)
{
    struct history history;

    history_init(&history);
    history_add(&history, step->machine, &step->event, &step->effects);
    effects_free(&step->effects);
    return history_hash(&history);
}

static void change_nothing(struct step *step)
{
    (void)step;
}

static void change_machine(struct step *step)
{
    step->machine = "n1";
}

static void change_time(struct step *step)
{
    step->event.now++;
}

static void change_peer(struct step *step)
{
    step->event.peer++;
}

static void change_number(struct step *step)
{
    step->heard.bye.farewell++;
}

static void change_text(struct step *step)
{
    step->heard.bye.text[0] = 'S';
}

static void change_answer(struct step *step)
{
    step->effects.list[0].msg.pong.version++;
}

static void change_note(struct step *step)
{
    step->effects.list[1].note.text[0] = 'V';
}

static void change_subject(struct step *step)
{
    step->effects.list[1].note.subject[0] = '\0';
}

static void change_job(struct step *step)
{
    step->job->id++;
}

static void change_tag(struct step *step)
{
    step->job->tag[2]++;
}

static void change_status(struct step *step)
{
    step->job->status = STATUS_NO_MEMORY;
}

static void change_order(struct step *step)
{
    struct effect first = step->effects.list[0];

    step->effects.list[0] = step->effects.list[1];
    step->effects.list[1] = first;
}

static void change_count(struct step *step)
{
    effects_drop(&step->effects, 5);
}

static void whatever_a_transcript_shows_changes_the_history(void)
{
    typedef void change(struct step * step);
    static change *const changes[] = {
        change_nothing, change_machine, change_time,   change_peer,
        change_number,  change_text,    change_answer, change_note,
        change_subject, change_job,     change_tag,    change_status,
        change_order,   change_count};
    enum { CHANGES = sizeof changes / sizeof *changes };
    uint64_t hashes[CHANGES];

    for (unsigned i = 0; i < CHANGES; i++) {
        struct step step, again;

        step_open(&step);
        step_open(&again);
        changes[i](&step);
        changes[i](&again);
        hashes[i] = step_close(&step);
        CHECK_EQUAL(hashes[i], step_close(&again));
        for (unsigned j = 0; j < i; j++)
            CHECK(hashes[i] != hashes[j]);
    }
}

static void a_payload_is_its_size_and_its_checksum(void)
{
    struct pool *pool = pool_new();
    uint64_t hashes[4];

    for (unsigned i = 0; i < 4; i++) {
        struct blob *payload = blob_new(pool, i == 1 ? 4 : 8);
        struct step step;

        memset(payload->bytes, 7, payload->size);
        if (i == 3)
            blob_seal(payload);
        step_open(&step);
        step.event.payload = i ? payload : NULL;
        hashes[i] = step_close(&step);
        for (unsigned j = 0; j < i; j++)
            CHECK(hashes[i] != hashes[j]);
        blob_unref(&payload);
    }
    pool_destroy(&pool);
}

static void each_step_counts_and_their_order_does(void)
{
    static const nanos times[][2] = {{1, 2}, {2, 1}, {1, 1}};
    struct effects none = {0};
    uint64_t hashes[3];

    for (unsigned i = 0; i < 3; i++) {
        struct history history;

        history_init(&history);
        for (unsigned j = 0; j < 2; j++) {
            struct event event = {.now = times[i][j], .kind = EVENT_WAKE};
            uint64_t before = history_hash(&history);

            history_add(&history, "hub", &event, &none);
            CHECK(history_hash(&history) != before);
        }
        hashes[i] = history_hash(&history);
        for (unsigned j = 0; j < i; j++)
            CHECK(hashes[i] != hashes[j]);
    }
}

/* What stands behind the end of a text, or between fields, is nothing. */
static void what_no_transcript_shows_does_not_count(void)
{
    struct step one, other;

    step_open(&one);
    step_open(&other);
    memset(&one.heard, 0, sizeof one.heard);
    memset(&other.heard, 0xff, sizeof other.heard);
    one.heard.kind = other.heard.kind = MSG_BYE;
    one.heard.bye.farewell = other.heard.bye.farewell = 2;
    memcpy(one.heard.bye.text, "bye", 4);
    memcpy(other.heard.bye.text, "bye", 4);
    one.job->tag[3] = 1;
    CHECK_EQUAL(step_close(&one), step_close(&other));
}

void add_seam_history_tests(CU_pSuite suite)
{
    TEST(whatever_a_transcript_shows_changes_the_history);
    TEST(a_payload_is_its_size_and_its_checksum);
    TEST(each_step_counts_and_their_order_does);
    TEST(what_no_transcript_shows_does_not_count);
}
