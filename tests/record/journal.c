#include "record/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/record/journaled_star.h"
#include "tests/store/folder.h"

/* A journal of two nodes that have exchanged, as bytes. */
struct sample {
    struct folder folder;
    struct hub_config config;
    char *bytes;
    size_t size;
};

static bool sample_new(struct sample *sample)
{
    if (!CHECK(folder_new(&sample->folder)))
        return false;
    sample->config =
        journaled_star_star(folder_file(&sample->folder, "j"), 2, 2 * SECOND);
    sample->bytes =
        file_content(folder_file(&sample->folder, "j"), &sample->size);
    return CHECK(sample->bytes != NULL) && CHECK(sample->size > 10000);
}

static void sample_free(struct sample *sample)
{
    free(sample->bytes);
    folder_remove(&sample->folder);
}

/* How a replay of these bytes ends. */
static enum status try(const struct sample *sample, const char *bytes,
                       size_t size, struct replay *replay, struct why *why)
{
    const char *path = folder_file(&sample->folder, "damaged");

    CHECK(file_fill(path, bytes, size));
    memset(replay, 0, sizeof *replay);
    return journaled_star_replay(path, &sample->config, replay, why);
}

static size_t stride(const struct sample *sample)
{
    return sample->size / (runs_slowly() ? 40 : 400) | 1;
}

static void the_sample_is_sound(void)
{
    struct sample sample;
    struct replay replay;
    struct why why = {""};

    if (sample_new(&sample)) {
        CHECK_OK(try(&sample, sample.bytes, sample.size, &replay, &why));
        CHECK_TEXT("", why.text);
        CHECK(replay.steps > 50);
    }
    sample_free(&sample);
}

static void no_byte_of_it_can_be_another(void)
{
    struct sample sample;
    unsigned tried = 0, found = 0;

    if (sample_new(&sample))
        for (size_t i = 0; i < sample.size; i += stride(&sample)) {
            struct replay replay;
            struct why why = {""};
            char byte = sample.bytes[i];

            sample.bytes[i] = (char)(byte ^ (1 << i % 8));
            found += try(&sample, sample.bytes, sample.size, &replay, &why) ==
                         STATUS_MALFORMED &&
                     (i < sizeof JOURNAL_FORMAT ||
                      strstr(why.text, "is damaged at byte "));
            sample.bytes[i] = byte;
            tried++;
        }
    CHECK(tried > 30);
    CHECK_EQUAL(tried, found);
    sample_free(&sample);
}

static void cut_off_anywhere_it_is_refused_after_the_steps_before(void)
{
    struct sample sample;
    unsigned tried = 0, found = 0;
    uint64_t most = 0;

    if (sample_new(&sample))
        for (size_t i = 0; i < sample.size; i += stride(&sample)) {
            struct replay replay;
            struct why why = {""};

            found += try(&sample, sample.bytes, i, &replay, &why) ==
                     STATUS_MALFORMED;
            CHECK(replay.steps >= most);
            most = replay.steps;
            tried++;
        }
    CHECK(most > 50);
    CHECK_EQUAL(tried, found);
    sample_free(&sample);
}

static void a_hub_that_was_killed_leaves_its_steps(void)
{
    const size_t end = 3 * 8 + 1; /* the last frame */
    struct sample sample;
    struct replay replay;
    struct why why = {""};

    if (sample_new(&sample)) {
        CHECK_STATUS(STATUS_MALFORMED, try(&sample, sample.bytes,
                                           sample.size - end, &replay, &why));
        CHECK_CONTAINS("the end is missing: the hub was killed", why.text);
        CHECK(replay.steps > 50);
    }
    sample_free(&sample);
}

static void what_stands_behind_the_end_is_refused(void)
{
    struct sample sample;
    struct replay replay;
    struct why why = {""};

    if (sample_new(&sample))
        CHECK_STATUS(STATUS_MALFORMED, try(&sample, sample.bytes,
                                           sample.size + 1, &replay, &why));
    CHECK_CONTAINS("something is behind the end", why.text);
    sample_free(&sample);
}

static void steps_that_have_changed_places_are_refused(void)
{
    struct sample sample;
    struct replay replay;
    struct why why = {""};
    uint64_t body, payload, at = sizeof JOURNAL_FORMAT;

    if (sample_new(&sample)) {
        memcpy(&body, sample.bytes + at, sizeof body); /* of the head */
        at += 3 * sizeof body + body;
        memcpy(&body, sample.bytes + at, sizeof body); /* of the first step */
        memcpy(&payload, sample.bytes + at + sizeof body, sizeof payload);
        body += 3 * sizeof body + payload;
        memmove(sample.bytes + at, sample.bytes + at + body,
                sample.size - at - body);
        CHECK_STATUS(STATUS_MALFORMED, try(&sample, sample.bytes,
                                           sample.size - body, &replay, &why));
        CHECK_CONTAINS("after step 0: the checksum is wrong", why.text);
    }
    sample_free(&sample);
}

static void what_is_no_journal_is_said_to_be_none(void)
{
    struct journal_reader *reader = NULL;
    struct folder folder;
    struct why why = {""};

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(
        file_fill(folder_file(&folder, "r"), "starswitch-record 1 hub\n", 24));
    CHECK_STATUS(STATUS_MALFORMED,
                 journal_read(folder_file(&folder, "r"), &reader, &why));
    CHECK_CONTAINS("this is no journal", why.text);
    CHECK_STATUS(STATUS_IO, journal_read("/nowhere/j", &reader, &why));
    CHECK_CONTAINS("/nowhere/j: No such file", why.text);
    CHECK(!reader);
    folder_remove(&folder);
}

/* How much it holds bounds what is read, and a pipe does not say. */
static void a_journal_is_a_plain_file(void)
{
    struct journal_reader *reader = NULL;
    struct why why = {""};
    const uint64_t frame[] = {(UINT64_C(1) << 63) + 8, 0, 0};
    char path[32];
    int ends[2];

    if (!CHECK_EQUAL(0, pipe(ends)))
        return;
    CHECK(write(ends[1], JOURNAL_FORMAT "\n", sizeof JOURNAL_FORMAT) > 0);
    CHECK(write(ends[1], frame, sizeof frame) > 0);
    (void)close(ends[1]);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK_STATUS(STATUS_IO, journal_read(path, &reader, &why));
    CHECK_CONTAINS("no plain file", why.text);
    CHECK(!reader);
    (void)close(ends[0]);
}

/* What a hub goes on from is of a model's size: it is not kept in memory. */
static void the_head_is_written_when_the_journal_is_opened(void)
{
    const struct hub_config config = {.policy = preset_find("mean")->policy};
    const struct journal_of of = {"", &config, NULL};
    const struct spool_complaint nobody = {NULL, NULL};
    struct journal *journal = NULL;
    struct folder folder;
    struct stat found = {0};

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(
        journal_open(folder_file(&folder, "j"), &of, nobody, &journal, NULL));
    CHECK_EQUAL(0, stat(folder_file(&folder, "j"), &found));
    CHECK(found.st_size > (off_t)sizeof JOURNAL_FORMAT);
    journal_close(&journal);
    folder_remove(&folder);
}

static void complain(void *of, const char *sentence)
{
    (void)snprintf(of, sizeof(struct why), "%s", sentence);
}

static void a_full_disk_ends_the_journal_and_is_told(void)
{
    const struct hub_config config = {.policy = preset_find("mean")->policy};
    const struct journal_of of = {"", &config, NULL};
    const struct event event = {.kind = EVENT_WAKE};
    const struct effects effects = {NULL, 0, 0};
    struct journal *journal = NULL;
    struct why why = {""};

    if (CHECK_OK(journal_open("/dev/full", &of,
                              (struct spool_complaint){complain, &why},
                              &journal, NULL)))
        for (int i = 0; i < 10000; i++)
            journal_step(journal, &event, &effects);
    journal_close(&journal);
    CHECK_CONTAINS("/dev/full: No space left on device", why.text);
}

/* It holds the secret of the hub's sessions. */
static void nobody_else_may_read_it(void)
{
    struct folder folder;
    struct stat found;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK(file_fill(folder_file(&folder, "j"), "old", 3));
    CHECK_EQUAL(0, chmod(folder_file(&folder, "j"), 0644));
    (void)journaled_star_star(folder_file(&folder, "j"), 1, SECOND);
    CHECK_EQUAL(0, stat(folder_file(&folder, "j"), &found));
    CHECK_EQUAL(0600, found.st_mode & 0777);
    folder_remove(&folder);
}

void add_record_journal_tests(CU_pSuite suite)
{
    TEST(the_sample_is_sound);
    TEST(no_byte_of_it_can_be_another);
    TEST(cut_off_anywhere_it_is_refused_after_the_steps_before);
    TEST(a_hub_that_was_killed_leaves_its_steps);
    TEST(what_stands_behind_the_end_is_refused);
    TEST(steps_that_have_changed_places_are_refused);
    TEST(what_is_no_journal_is_said_to_be_none);
    TEST(a_journal_is_a_plain_file);
    TEST(the_head_is_written_when_the_journal_is_opened);
    TEST(a_full_disk_ends_the_journal_and_is_told);
    TEST(nobody_else_may_read_it);
}
