#include "seam/machine.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

static void double_it(struct job *job)
{
    job->out[0] = blob_new(job->pool, job->in[0].blob->size);
    job->number[0] = 2 * job->in[0].weight;
}

static const struct work doubling = {"double", double_it, NULL};

static void a_job_runs_and_releases_what_it_holds(void)
{
    struct pool *pool = pool_new();
    struct job *job = job_new(&doubling, pool, 2);

    CHECK_EQUAL(2, job->inputs);
    CHECK_STATUS(STATUS_OK, job->status);
    CHECK(job->in[1].blob == NULL && job->out[2] == NULL);
    job->in[0].blob = blob_new(pool, 100);
    job->in[0].weight = 4;
    job_run(job);
    CHECK_NEAR(8, job->number[0], 0);
    CHECK_EQUAL(100, job->out[0]->size);
    job_destroy(&job);
    CHECK(job == NULL);
    job_destroy(&job);
    pool_destroy(&pool);
}

/* A kind of work with values of its own, that leave its inputs unaligned. */
struct addition {
    struct job job;
    uint32_t numbers[3];
    uint32_t sum;
    char note[3];
};

static void add_numbers(struct job *job)
{
    struct addition *addition = (struct addition *)job;

    for (unsigned i = 0; i < 3; i++)
        addition->sum += addition->numbers[i];
}

static void tell_sum(void *machine, struct job *job)
{
    *(uint32_t *)machine = ((struct addition *)job)->sum;
}

static void a_job_has_values_of_its_own(void)
{
    static const struct work adding = {"add", add_numbers, tell_sum};
    struct pool *pool = pool_new();
    struct addition *made = job_make(&adding, sizeof *made, pool, 2);
    struct job *job = &made->job;
    uint32_t told = 0;

    CHECK_EQUAL(0, (uintptr_t)job->in % _Alignof(struct input));
    CHECK((unsigned char *)job->in >= (unsigned char *)made + sizeof *made);
    CHECK_EQUAL(0, made->sum);
    CHECK(!job->in[0].blob && !job->in[1].blob);
    job->in[1].blob = blob_new(pool, 8);
    for (uint32_t i = 0; i < 3; i++)
        made->numbers[i] = 10 + i;
    job_run(job);
    job->work->done(&told, job);
    CHECK_EQUAL(33, told);
    job_destroy(&job);
    pool_destroy(&pool);
}

static void effects_come_in_order(void)
{
    struct msg ping = {.kind = MSG_PING, .ping = {.sent = 7}};
    struct pool *pool = pool_new();
    struct effects effects = {0};

    effects_drop(&effects, 9);
    effects_send(&effects, 3, &ping, NULL);
    effects_job(&effects, job_new(&doubling, pool, 1));
    effects_note(&effects, NOTE_JOINED, "n1", "node %d", 1);
    CHECK_EQUAL(4, effects.count);
    CHECK_EQUAL(EFFECT_DROP, effects.list[0].kind);
    CHECK_EQUAL(9, effects.list[0].peer);
    CHECK_EQUAL(EFFECT_SEND, effects.list[1].kind);
    CHECK_EQUAL(7, effects.list[1].msg.ping.sent);
    CHECK_EQUAL(EFFECT_JOB, effects.list[2].kind);
    CHECK_EQUAL(EFFECT_NOTE, effects.list[3].kind);
    CHECK_TEXT("n1", effects.list[3].note.subject);
    CHECK_TEXT("node 1", effects.list[3].note.text);
    effects_free(&effects);
    pool_destroy(&pool);
}

static void effects_hold_a_reference_until_they_are_cleared(void)
{
    struct msg chunk = {.kind = MSG_CHUNK};
    struct pool *pool = pool_new();
    struct blob *payload = blob_new(pool, 10);
    struct effects effects = {0};

    effects_send(&effects, 1, &chunk, payload);
    effects_send(&effects, 2, &chunk, payload);
    CHECK_EQUAL(3, atomic_load(&payload->references));
    effects_clear(&effects);
    CHECK_EQUAL(0, effects.count);
    CHECK_EQUAL(1, atomic_load(&payload->references));
    blob_unref(&payload);
    effects_free(&effects);
    effects_free(&effects);
    pool_destroy(&pool);
}

static void a_job_that_was_taken_is_not_destroyed(void)
{
    struct pool *pool = pool_new();
    struct effects effects = {0};
    struct job *job;

    effects_job(&effects, job_new(&doubling, pool, 0));
    job = effects.list[0].job;
    effects.list[0].job = NULL;
    effects_clear(&effects);
    CHECK_TEXT("double", job->work->name);
    job_destroy(&job);
    effects_free(&effects);
    pool_destroy(&pool);
}

static void the_list_grows_and_keeps_what_it_has(void)
{
    struct effects effects = {0};

    for (peer_id peer = 0; peer < 1000; peer++)
        effects_drop(&effects, peer);
    for (peer_id peer = 0; peer < 1000; peer++)
        if (!CHECK_EQUAL(peer, effects.list[peer].peer))
            break;
    effects_free(&effects);
}

/* What is passed may lie in the list that grows. */
static void an_effect_may_be_made_from_another(void)
{
    struct msg ping = {.kind = MSG_PING, .ping = {.sent = 7}};
    struct effects effects = {0};

    effects_send(&effects, 1, &ping, NULL);
    for (int i = 0; i < 100; i++) {
        effects_send(&effects, 2, &effects.list[0].msg, NULL);
        CHECK_EQUAL(7, effects.list[effects.count - 1].msg.ping.sent);
    }
    effects_free(&effects);
}

static void notes_are_cut_to_fit(void)
{
    struct effects effects = {0};
    char text[1000];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    effects_note(&effects, NOTE_LEFT, text, "%s", text);
    effects_note(&effects, NOTE_LEFT, NULL, "nobody");
    CHECK_EQUAL(SUBJECT_BYTES - 1, strlen(effects.list[0].note.subject));
    CHECK_EQUAL(NOTE_BYTES - 1, strlen(effects.list[0].note.text));
    CHECK_TEXT("", effects.list[1].note.subject);
    effects_free(&effects);
}

static void every_note_has_a_name_and_a_level(void)
{
    for (enum note_kind note = 0; note < NOTE_KINDS; note++) {
        CHECK(strlen(note_name(note)) > 0);
        CHECK(note_level(note) <= LEVEL_ERROR);
    }
    CHECK_TEXT("node_lost", note_name(NOTE_LOST));
    CHECK_EQUAL(LEVEL_WARNING, note_level(NOTE_LOST));
}

void add_seam_machine_tests(CU_pSuite suite)
{
    TEST(a_job_runs_and_releases_what_it_holds);
    TEST(a_job_has_values_of_its_own);
    TEST(effects_come_in_order);
    TEST(effects_hold_a_reference_until_they_are_cleared);
    TEST(a_job_that_was_taken_is_not_destroyed);
    TEST(the_list_grows_and_keeps_what_it_has);
    TEST(an_effect_may_be_made_from_another);
    TEST(notes_are_cut_to_fit);
    TEST(every_note_has_a_name_and_a_level);
}
