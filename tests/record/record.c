#include "record/record.h"

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
    struct step step = {.event = {.now = now, .kind = EVENT_JOIN, .peer = 3}};

    effects_note(&step.effects, NOTE_WAITING, "", "for \033 nodes");
    return step;
}

static unsigned complaints;

static void complain(void *of, const char *sentence)
{
    complaints++;
    (void)snprintf(of, sizeof(struct why), "%s", sentence);
}

static const struct spool_complaint nobody = {NULL, NULL};

static struct spool_complaint whom(struct why *why)
{
    return (struct spool_complaint){complain, why};
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
    if (CHECK_OK(record_open(folder_file(&folder, "r"), "hub", nobody, &record,
                             NULL))) {
        record_step(record, &step.event, &step.effects);
        record_close(&record);
        CHECK(!record);
        text = file_content(folder_file(&folder, "r"), &size);
    }
    if (CHECK(text))
        CHECK_TEXT("starswitch-record 1 hub\n"
                   "0.120031877 join 3 control\n"
                   "  note waiting \"\" \"for \\u001b nodes\"\n",
                   text);
    free(text);
    effects_free(&step.effects);
    folder_remove(&folder);
}

static void whoever_is_killed_has_recorded_all_its_steps(void)
{
    struct step step = step_new(1);
    struct record *record = NULL;
    struct folder folder;
    char *text = NULL;
    size_t size;

    if (!CHECK(folder_new(&folder)))
        return;
    if (CHECK_OK(record_open(folder_file(&folder, "r"), "hub", nobody, &record,
                             NULL))) {
        record_step(record, &step.event, &step.effects);
        step.event.now = 2;
        record_step(record, &step.event, &step.effects);
        text = file_content(folder_file(&folder, "r"), &size);
        record_close(&record);
    }
    if (CHECK(text))
        CHECK_CONTAINS("0.000000002 join 3 control\n  note waiting", text);
    free(text);
    effects_free(&step.effects);
    folder_remove(&folder);
}

/* ---- settings ---- */

static void choose(struct options *options, const char *name, const char *text)
{
    CHECK_OK(
        options_set(options, PROGRAM_HUB, name, text, OPTION_ARGUMENT, NULL));
}

/* The recording of a hub with some settings of all kinds, to be freed. */
static char *settings_of_a_hub(size_t *size)
{
    struct record *record = NULL;
    struct options options;
    struct folder folder;
    char *text = NULL;

    options_defaults(&options);
    choose(&options, "policy", "easgd");
    choose(&options, "elastic", "0.25");
    choose(&options, "nodes", "6");
    choose(&options, "evaluate", "250ms");
    choose(&options, "data", "/my data/mnist");
    choose(&options, "goal", "87%");
    choose(&options, "dylu", "yes");
    choose(&options, "listen", "10.0.0.1:77");
    choose(&options, "record", "run.rec");
    choose(&options, "report", "run.html");
    if (!CHECK(folder_new(&folder)))
        return NULL;
    if (CHECK_OK(record_open(folder_file(&folder, "r"), "hub", nobody, &record,
                             NULL))) {
        record_set(record, &options, PROGRAM_HUB);
        record_close(&record);
        text = file_content(folder_file(&folder, "r"), size);
    }
    folder_remove(&folder);
    return text;
}

static void what_was_chosen_of_the_run_is_in_the_recording(void)
{
    size_t size;
    char *text = settings_of_a_hub(&size);

    CHECK_TEXT("starswitch-record 1 hub\n"
               "set listen 10.0.0.1:77\n"
               "set policy easgd\n"
               "set dylu yes\n"
               "set nodes 6\n"
               "set elastic 0.25\n"
               "set goal 87%\n"
               "set data /my data/mnist\n"
               "set evaluate 250ms\n",
               text);
    free(text);
}

static void a_simulation_takes_its_settings_from_a_recording(void)
{
    struct options options;
    struct why why = {""};
    size_t size;
    char *text = settings_of_a_hub(&size);

    options_defaults(&options);
    CHECK_OK(options_set(&options, PROGRAM_SIM, "elastic", "0.5",
                         OPTION_ARGUMENT, &why));
    if (text)
        CHECK_OK(record_settings(text, size, &options, &why));
    CHECK_TEXT("", why.text);
    CHECK_TEXT("easgd", options.policy);
    CHECK(options.elastic == 0.5); /* the command line wins */
    CHECK_EQUAL(6, options.star_nodes);
    CHECK_EQUAL(1, options.nodes); /* is the hub's */
    CHECK_EQUAL(250 * MILLISECOND, options.evaluate_centre);
    CHECK_EQUAL(2 * SECOND, options.evaluate);
    CHECK_TEXT("/my data/mnist", options.data);
    CHECK(options.goal.value == 0.87);
    CHECK(options.dylu);
    CHECK_TEXT("", options.record);
    free(text);
}

static void settings_that_make_no_sense_are_refused_by_their_line(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "line 1 is not 'starswitch-record 1 ...'"},
        {"starswitch-record 1 hub", "line 1 is not"},
        {"starswitch-trace 1\nset every 5\n", "line 1 is not"},
        {"starswitch-record 1 hub\nset every 5\nset delay\n",
         "line 3: a setting without its value"},
        {"starswitch-record 1 hub\nset every banana\n",
         "line 2: every = banana: expected a whole number"},
        {"starswitch-record 1 hub\nset every 5", "line 2: the line is cut"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct options options;
        struct why why = {""};

        options_defaults(&options);
        CHECK_STATUS(
            STATUS_MALFORMED,
            record_settings(bad[i].text, strlen(bad[i].text), &options, &why));
        CHECK_CONTAINS(bad[i].says, why.text);
        CHECK_EQUAL(VALUE_AUTO, options.every);
    }
}

static void what_another_version_has_set_and_steps_are_passed_over(void)
{
    static const char text[] = "starswitch-record 1 hub\n"
                               "set tomorrow 5\n"
                               "set record evil\n"
                               "set every 5\n"
                               "0 wake\n"
                               "set every 6\n";
    struct options options;
    struct why why = {""};

    options_defaults(&options);
    CHECK_OK(record_settings(text, sizeof text - 1, &options, &why));
    CHECK_EQUAL(5, options.every);
    CHECK_TEXT("", options.record);
}

static void a_full_disk_is_told_once_and_ends_the_recording(void)
{
    struct step step = step_new(0);
    struct record *record = NULL;
    struct why why = {""};

    complaints = 0;
    if (CHECK_OK(record_open("/dev/full", "hub", whom(&why), &record, NULL))) {
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
    if (CHECK_OK(record_open("/dev/full", "hub", whom(&why), &record, NULL)))
        record_close(&record);
    CHECK_EQUAL(1, complaints);
    record_close(&record);
}

static void a_file_that_cannot_be_made_is_named(void)
{
    struct record *record = NULL;
    struct why why;

    CHECK_STATUS(STATUS_IO,
                 record_open("/nowhere/r", "hub", nobody, &record, &why));
    CHECK_CONTAINS("/nowhere/r: No such file", why.text);
    CHECK(!record);
}

static void without_a_recording_nothing_is_written(void)
{
    struct step step = step_new(0);

    record_step(NULL, &step.event, &step.effects);
    effects_free(&step.effects);
}

void add_record_record_tests(CU_pSuite suite)
{
    TEST(a_recording_is_a_transcript_with_a_title);
    TEST(whoever_is_killed_has_recorded_all_its_steps);
    TEST(what_was_chosen_of_the_run_is_in_the_recording);
    TEST(a_simulation_takes_its_settings_from_a_recording);
    TEST(settings_that_make_no_sense_are_refused_by_their_line);
    TEST(what_another_version_has_set_and_steps_are_passed_over);
    TEST(a_full_disk_is_told_once_and_ends_the_recording);
    TEST(what_does_not_fit_at_the_end_is_told_too);
    TEST(a_file_that_cannot_be_made_is_named);
    TEST(without_a_recording_nothing_is_written);
}
