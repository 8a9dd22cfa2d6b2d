/* What the library records of somebody's training loop, with a hub that is
 * fake. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/fake_hub.h"
#include "tests/store/folder.h"

static char told[512];

static void take_note(void *context, enum star_level level, const char *event,
                      const char *sentence)
{
    (void)context;
    if (level == STAR_ERROR)
        (void)snprintf(told, sizeof told, "%s: %s", event, sentence);
}

static enum star_status attach(const char *hub, const char *record,
                               struct star_link **link, char error[256])
{
    static float values[FAKE_HUB_ELEMENTS];
    const struct star_tensor tensor =
        STAR_TENSOR("w", 1, values, NULL, FAKE_HUB_ELEMENTS);
    const struct star_options options = {.size = sizeof options,
                                         .hub = hub,
                                         .name = "my \"PC\"",
                                         .log = take_note,
                                         .record = record};

    told[0] = '\0';
    return star_attach(&options, &tensor, 1, link, error, 256);
}

/* Trains until a few results have been applied, and leaves. */
static void train(struct star_link **link)
{
    const nanos until = net_now() + FAKE_PATIENCE;
    struct star_state state = {.size = sizeof state, .applied = 0};

    while (state.applied < 3 && net_now() < until) {
        fake_rest();
        CHECK_EQUAL(STAR_GO, star_step(*link, NULL));
        star_look(*link, &state);
    }
    CHECK(state.applied >= 3);
    star_detach(link);
}

static void a_recording_has_what_the_trainer_and_the_hub_say(void)
{
    static const char *const has[] = {
        "starswitch-record 1 node name=\"my \\\"PC\\\"\"\n",
        " message 1 local_offer exchange=0 ",
        "  send 2 hello ",
        " message 2 welcome ",
        " message 1 local_offer exchange=1 iteration=",
        "  send 2 offer exchange=1 iteration=",
        "  send 3 chunk exchange=1 ",
        " message 3 result exchange=1 ",
        "  send 1 local_result exchange=1 ",
        " message 1 applied exchange=1 iteration=",
        " message 1 local_ping "};
    struct fake_hub *hub = fake_hub_new();
    struct star_link *link = NULL;
    struct folder folder;
    char error[256] = "", *text = NULL;
    size_t size;

    fake_hub_start(hub);
    if (CHECK(folder_new(&folder)) &&
        CHECK_EQUAL(STAR_OK, attach(hub->address, folder_file(&folder, "r"),
                                    &link, error))) {
        train(&link);
        text = file_content(folder_file(&folder, "r"), &size);
    }
    CHECK_TEXT("", error);
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        CHECK_CONTAINS(has[i], text ? text : "");
    free(text);
    folder_remove(&folder);
    fake_hub_destroy(&hub);
}

static void a_file_that_cannot_be_made_is_refused_with_a_sentence(void)
{
    struct star_link *link = NULL;
    char error[256] = "";

    CHECK_EQUAL(STAR_NO_FILE, attach("127.0.0.1", "/nowhere/r", &link, error));
    CHECK_CONTAINS("cannot record to /nowhere/r", error);
    CHECK(!link);
}

static void a_full_disk_is_told_and_training_goes_on(void)
{
    struct fake_hub *hub = fake_hub_new();
    struct star_link *link = NULL;
    char error[256] = "";

    fake_hub_start(hub);
    if (CHECK_EQUAL(STAR_OK, attach(hub->address, "/dev/full", &link, error)))
        train(&link);
    CHECK_CONTAINS("record_failed: cannot record to /dev/full", told);
    fake_hub_destroy(&hub);
}

void add_node_library_record_tests(CU_pSuite suite)
{
    TEST(a_recording_has_what_the_trainer_and_the_hub_say);
    TEST(a_file_that_cannot_be_made_is_refused_with_a_sentence);
    TEST(a_full_disk_is_told_and_training_goes_on);
}
