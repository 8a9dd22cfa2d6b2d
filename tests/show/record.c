#include "show/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/store/folder.h"

/* A step: somebody joins, and a note is made of it. */
struct step {
    struct event event;
    struct effects effects;
};

static struct step step_new(nanos now)
{
    struct step step = {
        .event = {.now = now, .kind = EVENT_JOIN, .peer = 3}};

    effects_note(&step.effects, NOTE_WAITING, "", "for \033 nodes");
    return step;
}

static unsigned complaints;

static void complain(void *of, const char *sentence)
{
    complaints++;
    (void)snprintf(of, sizeof(struct why), "%s", sentence);
}

static void a_recording_is_a_transcript_with_a_title(void)
{
    struct step step = step_new(120031877);
    struct record *record = NULL;
    struct folder folder;
    char *text = NULL;
    size_t size;

    if (!CHECK(folder_new(&folder)))
        return;
    if (CHECK_OK(record_open(folder_file(&folder, "r"), "hub", NULL, NULL,
                             &record, NULL))) {
        record_step(record, &step.event, &step.effects);
        record_close(&record);
        CHECK(!record);
        text = file_content(folder_file(&folder, "r"), &size);
    }
    if (CHECK(text))
        CHECK_TEXT("starswitch-record 1 hub\n"
                   "0.120031877 join 3 control\n"
                   "  note waiting \"\" \"for \\u001b nodes\"\n", text);
    free(text);
    effects_free(&step.effects);
    folder_remove(&folder);
}

static void a_full_disk_is_told_once_and_ends_the_recording(void)
{
    struct step step = step_new(0);
    struct record *record = NULL;
    struct why why = {""};

    complaints = 0;
    if (CHECK_OK(record_open("/dev/full", "hub", complain, &why, &record,
                             NULL))) {
        for (int i = 0; i < 20000; i++)
            record_step(record, &step.event, &step.effects);
        record_close(&record);
    }
    CHECK_EQUAL(1, complaints);
    CHECK_CONTAINS("/dev/full: No space left on device", why.text);
    effects_free(&step.effects);
}

static void what_does_not_fit_at_the_end_is_told_too(void)
{
    struct record *record = NULL;
    struct why why = {""};

    complaints = 0;
    if (CHECK_OK(record_open("/dev/full", "hub", complain, &why, &record,
                             NULL)))
        record_close(&record);
    CHECK_EQUAL(1, complaints);
    record_close(&record);
}

static void a_file_that_cannot_be_made_is_named(void)
{
    struct record *record = NULL;
    struct why why;

    CHECK_STATUS(STATUS_IO, record_open("/nowhere/r", "hub", NULL, NULL,
                                        &record, &why));
    CHECK_CONTAINS("/nowhere/r: No such file", why.text);
    CHECK(!record);
}

static void without_a_recording_nothing_is_written(void)
{
    struct step step = step_new(0);

    record_step(NULL, &step.event, &step.effects);
    effects_free(&step.effects);
}

void add_show_record_tests(CU_pSuite suite)
{
    TEST(a_recording_is_a_transcript_with_a_title);
    TEST(a_full_disk_is_told_once_and_ends_the_recording);
    TEST(what_does_not_fit_at_the_end_is_told_too);
    TEST(a_file_that_cannot_be_made_is_named);
    TEST(without_a_recording_nothing_is_written);
}
